"""The queue of what one client is sent: answers and replays in the order of the requests, then live events by cursor.

The append path never waits for a socket. New events are written at once to a client that keeps up; for every other
client its writer task pulls the events after its cursors. Streaming frames have the lowest priority and are the first
to be dropped when the client is slow.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from moot.core.codec import Event
from moot.core.errors import Corrupt, LogError, MootError
from moot.core.session.team import Language
from moot.gateway.feeds import Feed, Frame, as_frames
from moot.gateway.projection import Shown
from moot.gateway.uvicorn_port import text_message
from moot.runtime.ports import Log

PAGE_FRAMES = 512  # sent of one session before the others have their turn
FIRST_PAGE_FRAMES = 32
PAGE_BYTES = 256 * 1024  # roughly the most that is read from the log, or written to the socket, at a time
PIECE_FRAMES, PIECE_BYTES = 64, 64 * 1024  # the most in one write; a batch message for clients that take batches
STREAMING_FRAMES = 256
REPLIES = 100  # answers and replays that may wait; above that no more requests of the client are read

TryWrite = Callable[[bytes], bool]  # False: the buffer of the socket is full
Deliver = Callable[[bytes], Awaitable[None]]  # waits for room in the buffer


class Cursor:
    """The position of a client in a session: the seq of the last event it was sent."""

    __slots__ = ("feed", "is_live", "is_over", "language", "page_frames", "seq", "shown", "wants_views")

    def __init__(self, feed: Feed, after: int, language: Language, *, wants_views: bool = False) -> None:
        self.feed = feed
        self.seq = after
        self.language = language
        self.is_live = False  # the replay is over
        self.is_over = False
        self.page_frames = FIRST_PAGE_FRAMES  # to read from the log next, estimated from the size of earlier ones
        self.wants_views = wants_views
        self.shown: Shown | None = None  # the view that the client has

    @property
    def lacks_view(self) -> bool:
        """Whether the client has every event but not yet the view after the last one."""
        if not self.wants_views or self.seq != self.feed.head:
            return False
        return self.shown is None or self.shown.seq != self.seq

    @property
    def is_behind(self) -> bool:
        return self.seq < self.feed.head or self.lacks_view


class Outbox:
    """What waits to be sent to one client. Any task may add to it; only `run` and `wake` write.

    `ended` is called when a session that the client follows was removed or cannot be read.
    """

    def __init__(
        self,
        log: Log,
        try_write: TryWrite,
        deliver: Deliver,
        *,
        takes_batches: bool,
        ended: Callable[[Cursor, MootError], None],
    ) -> None:
        self.cursors: dict[str, Cursor] = {}
        self.sent = 0  # frames
        self._log = log
        self._try_write = try_write
        self._deliver = deliver
        self._takes_batches = takes_batches
        self._ended = ended
        self._replies: deque[str | Cursor] = deque()  # frames, and cursors whose history is to be replayed
        self._streaming: deque[str] = deque(maxlen=STREAMING_FRAMES)
        self._work = asyncio.Event()
        self._room = asyncio.Event()
        self._is_idle = False  # `run` waits for work

    def wake(self) -> None:
        """Send what is new: right here if the socket can take it, else through `run`."""
        if not (self._is_idle and self._push()):
            self._work.set()

    def _push(self) -> bool:
        """Write new events without waiting. Return whether nothing is left to send."""
        if self._replies or self._streaming:
            return False
        pushed_bytes = 0
        for cursor in self.cursors.values():
            feed = cursor.feed
            if not (cursor.is_behind or feed.ended):
                continue
            frames = None if feed.ended else feed.after(cursor.seq, PAGE_FRAMES)
            if frames is None:
                return False
            for piece, last in self._pack(frames, cursor):
                if pushed_bytes > PAGE_BYTES or not self._try_write(piece):
                    return False
                self._advance(cursor, last)
                pushed_bytes += len(piece)
            if cursor.lacks_view and not self._push_view(cursor):
                return False
        return not self._is_behind

    def _push_view(self, cursor: Cursor) -> bool:
        projection = cursor.feed.projection
        if not projection.catch_up():
            return False
        message, shown = projection.describe(cursor.shown, cursor.language)
        if not self._try_write(message):
            return False
        cursor.shown = shown
        self.sent += 1
        return True

    @property
    def _is_behind(self) -> bool:
        return any(cursor.is_behind for cursor in self.cursors.values())

    def _pack(self, frames: list[Frame], cursor: Cursor) -> Iterator[tuple[bytes, int]]:
        """Yield encoded pieces, each with its last seq. A piece is only large if a single frame is."""
        start, count = 0, len(frames)
        while start < count:
            end = min(start + PIECE_FRAMES, count)
            while end - start > 1 and frames[end - 1].end_byte - frames[start].end_byte > PIECE_BYTES:
                end = (start + end) // 2
            piece = cursor.feed.pack(frames[start:end], cursor.language, is_batch=self._takes_batches)
            yield piece, frames[end - 1].event.seq
            start = end

    def _advance(self, cursor: Cursor, seq: int) -> None:
        self.sent += seq - cursor.seq
        cursor.seq = seq

    def answer(self, text: str) -> None:
        """Enqueue a frame that answers the client."""
        self._replies.append(text)
        self.wake()

    def follow(self, cursor: Cursor, *first_frames: str) -> None:
        """Send `first_frames`, replay the events after the cursor, then go on live. Later answers wait until then."""
        self.cursors[cursor.feed.session_id] = cursor
        self._replies += (*first_frames, cursor)
        self.wake()

    def show(self, text: str) -> None:
        """Enqueue a streaming frame; the oldest is dropped when there are too many."""
        self._streaming.append(text)
        self.wake()

    @property
    def owes_replies(self) -> bool:
        """Whether the client has not yet been sent everything that was enqueued for it."""
        return bool(self._replies)

    @property
    def lag_events(self) -> int:
        """How many events the client is behind. A replay does not count as lag."""
        return max((cursor.feed.head - cursor.seq for cursor in self.cursors.values() if cursor.is_live), default=0)

    @property
    def lag_bytes(self) -> int:
        replies = sum(len(reply) for reply in self._replies if isinstance(reply, str))
        return replies + sum(cursor.feed.bytes_after(cursor.seq) for cursor in self.cursors.values() if cursor.is_live)

    async def has_room(self) -> None:
        """Wait until fewer than REPLIES answers wait, so that a client that does not read cannot fill the memory."""
        while len(self._replies) >= REPLIES:
            self._room.clear()
            await self._room.wait()

    async def run(self) -> None:
        """Send whatever is waiting, for ever."""
        while True:
            self._work.clear()
            while self._replies:
                await self._send_reply(self._replies.popleft())
            self._room.set()
            for cursor in tuple(self.cursors.values()):
                await self._send_page(cursor)
            if self._is_behind:
                await asyncio.sleep(0)  # lets the transport flush, and pause writing if its buffer is full
                continue
            while self._streaming and not self._work.is_set():
                await self._send_text(self._streaming.popleft())
            self._is_idle = True
            await self._work.wait()
            self._is_idle = False

    async def _send_reply(self, reply: str | Cursor) -> None:
        if isinstance(reply, str):
            await self._send_text(reply)
            return
        end = reply.feed.head
        while reply.seq < end and not reply.is_over:
            await self._send_page(reply)
            await asyncio.sleep(0)
        reply.is_live = True

    async def _send_text(self, text: str) -> None:
        await self._deliver(text_message(text.encode()))
        self.sent += 1

    async def _send_page(self, cursor: Cursor) -> None:
        feed = cursor.feed
        if feed.ended:
            self._end(cursor, feed.ended)
            return
        try:
            if cursor.seq != feed.head:
                await self._send_frames(cursor)
            if cursor.lacks_view:
                await self._send_view(cursor)
        except LogError as error:  # removed or damaged
            self._end(cursor, error)

    async def _send_view(self, cursor: Cursor) -> None:
        await cursor.feed.projection.load(self._log)
        if cursor.lacks_view:  # no new event came during the load
            message, shown = cursor.feed.projection.describe(cursor.shown, cursor.language)
            await self._deliver(message)
            cursor.shown = shown
            self.sent += 1

    async def _send_frames(self, cursor: Cursor) -> None:
        frames = cursor.feed.after(cursor.seq, PAGE_FRAMES)
        if frames is None:
            frames = as_frames(await self._read(cursor))
        sent_bytes = 0
        for piece, last in self._pack(frames, cursor):
            await self._deliver(piece)
            self._advance(cursor, last)
            sent_bytes += len(piece)
            if sent_bytes > PAGE_BYTES:
                return

    async def _read(self, cursor: Cursor) -> list[Event]:
        """Read events from the log, stopping before a damaged one. Raises Corrupt if the first one is damaged."""
        session_id, limit = cursor.feed.session_id, cursor.page_frames
        try:
            events = await self._log.read(session_id, cursor.seq, limit)
        except Corrupt as error:
            good_events = error.seq - 1 - cursor.seq
            if good_events <= 0:
                raise
            events = await self._log.read(session_id, cursor.seq, good_events)
        size = sum([len(event.data) for event in events])
        cursor.page_frames = max(1, min(PAGE_FRAMES, 2 * limit, len(events) * PAGE_BYTES // (size + 1)))
        return events

    def _end(self, cursor: Cursor, error: MootError) -> None:
        cursor.is_over = True
        if self.cursors.get(cursor.feed.session_id) is cursor:
            del self.cursors[cursor.feed.session_id]
            self._ended(cursor, error)
