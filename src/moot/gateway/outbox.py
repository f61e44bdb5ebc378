"""What one client is sent: answers and replays in the order they were asked for, then live events by cursor.

The append path never waits for a socket. A client that keeps up is given new events at once; for every other one the
writer pulls what comes after its cursors. Streaming frames come last and are dropped first when the client is slow.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from moot.core.codec import Event
from moot.core.errors import Corrupt, LogError, MootError
from moot.core.team import Language
from moot.gateway.feeds import Feed, Frame, as_frames
from moot.gateway.socket_protocol import text_message
from moot.runtime.ports import Log

PAGE_FRAMES = 512  # of one session, between two looks at the others
FIRST_PAGE_FRAMES = 32
PAGE_BYTES = 256 * 1024  # about as much is read from the log, and given to a socket that takes nothing
PIECE_FRAMES, PIECE_BYTES = 64, 64 * 1024  # written at once; for clients that take batches, in one message
PASSING_FRAMES = 256
ASKED = 100  # answers and replays that may wait; then no more questions are read

TryWrite = Callable[[bytes], bool]  # False: the socket takes nothing now
Deliver = Callable[[bytes], Awaitable[None]]  # waits until it does


class Cursor:
    """How far a client has been sent a session."""

    __slots__ = ("feed", "is_live", "is_over", "language", "page_frames", "seq")

    def __init__(self, feed: Feed, after: int, language: Language) -> None:
        self.feed = feed
        self.seq = after
        self.language = language
        self.is_live = False  # the replay is over
        self.is_over = False
        self.page_frames = FIRST_PAGE_FRAMES  # to read from the log, going by the size of those before


class Outbox:
    """Filled by anybody, emptied by the one writer, `run`."""

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
        self._asked: deque[str | Cursor] = deque()
        self._passing: deque[str] = deque(maxlen=PASSING_FRAMES)
        self._work = asyncio.Event()
        self._room = asyncio.Event()
        self._is_resting = False  # the writer has nothing to do

    def wake(self) -> None:
        """There is something new: without a turn of the event loop, if the client can take it at once."""
        if not (self._is_resting and self._push()):
            self._work.set()

    def _push(self) -> bool:
        """Whether all that is new could be written."""
        if self._asked or self._passing:
            return False
        pushed_bytes = 0
        for cursor in self.cursors.values():
            feed = cursor.feed
            if cursor.seq == feed.head and not feed.ended:
                continue
            frames = None if feed.ended else feed.after(cursor.seq, PAGE_FRAMES)
            if frames is None:
                return False
            for piece, last in self._pack(frames, cursor):
                if pushed_bytes > PAGE_BYTES or not self._try_write(piece):
                    return False
                self._advance(cursor, last)
                pushed_bytes += len(piece)
        return not self._is_behind

    @property
    def _is_behind(self) -> bool:
        return any(cursor.seq < cursor.feed.head for cursor in self.cursors.values())

    def _pack(self, frames: list[Frame], cursor: Cursor) -> Iterator[tuple[bytes, int]]:
        """Pieces for the wire, none of them large unless a frame is, each with the last seq in it."""
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
        self._asked.append(text)
        self.wake()

    def follow(self, cursor: Cursor, *said: str) -> None:
        """Say this, replay what the client misses, then go on live; later answers wait until the replay is over."""
        self.cursors[cursor.feed.session_id] = cursor
        self._asked += (*said, cursor)
        self.wake()

    def show(self, text: str) -> None:
        self._passing.append(text)
        self.wake()

    @property
    def lag_events(self) -> int:
        """How far the client is behind what happens now; a long history to replay is no lag."""
        return max((cursor.feed.head - cursor.seq for cursor in self.cursors.values() if cursor.is_live), default=0)

    @property
    def lag_bytes(self) -> int:
        said = sum(len(asked) for asked in self._asked if isinstance(asked, str))
        return said + sum(each.feed.bytes_after(each.seq) for each in self.cursors.values() if each.is_live)

    async def has_room(self) -> None:
        """Return when the client has taken most answers: who does not read is not listened to."""
        while len(self._asked) >= ASKED:
            self._room.clear()
            await self._room.wait()

    async def run(self) -> None:
        """Send whatever there is, for ever."""
        while True:
            self._work.clear()
            while self._asked:
                await self._send_asked(self._asked.popleft())
            self._room.set()
            for cursor in tuple(self.cursors.values()):
                await self._send_page(cursor)
            if self._is_behind:
                await asyncio.sleep(0)  # the socket notices only then that it is full
                continue
            while self._passing and not self._work.is_set():
                await self._say(self._passing.popleft())
            self._is_resting = True
            await self._work.wait()
            self._is_resting = False

    async def _send_asked(self, asked: str | Cursor) -> None:
        if isinstance(asked, str):
            await self._say(asked)
            return
        end = asked.feed.head
        while asked.seq < end and not asked.is_over:
            await self._send_page(asked)
            await asyncio.sleep(0)
        asked.is_live = True

    async def _say(self, text: str) -> None:
        await self._deliver(text_message(text.encode()))
        self.sent += 1

    async def _send_page(self, cursor: Cursor) -> None:
        feed = cursor.feed
        if feed.ended:
            self._end(cursor, feed.ended)
            return
        if cursor.seq == feed.head:
            return
        frames = feed.after(cursor.seq, PAGE_FRAMES)
        if frames is None:
            try:
                frames = as_frames(await self._read(cursor))
            except LogError as error:  # removed or damaged
                self._end(cursor, error)
                return
        sent_bytes = 0
        for piece, last in self._pack(frames, cursor):
            await self._deliver(piece)
            self._advance(cursor, last)
            sent_bytes += len(piece)
            if sent_bytes > PAGE_BYTES:
                return

    async def _read(self, cursor: Cursor) -> list[Event]:
        """From the log; as much as there is before a damaged place."""
        session_id, limit = cursor.feed.session_id, cursor.page_frames
        try:
            events = await self._log.read(session_id, cursor.seq, limit)
        except Corrupt as error:
            good = error.seq - 1 - cursor.seq
            if good <= 0:
                raise
            events = await self._log.read(session_id, cursor.seq, good)
        size = sum([len(event.data) for event in events])
        cursor.page_frames = max(1, min(PAGE_FRAMES, 2 * limit, len(events) * PAGE_BYTES // (size + 1)))
        return events

    def _end(self, cursor: Cursor, why: MootError) -> None:
        cursor.is_over = True
        if self.cursors.get(cursor.feed.session_id) is cursor:
            del self.cursors[cursor.feed.session_id]
            self._ended(cursor, why)
