"""Followed sessions: the newest events of each, encoded once, shared by everyone who follows it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Protocol

from moot.core.codec import Event, frame
from moot.core.errors import LogError, MootError, NotFound
from moot.core.team import Language
from moot.gateway.socket_protocol import text_message
from moot.runtime.ports import Log

Spawn = Callable[["asyncio._CoroutineLike[None]"], "asyncio.Task[None]"]

SPARE_EVENTS = 256  # the window is cut when it is so much too long, not at every event
PACKED = 4  # languages, with and without batches


class Frame:
    """An event as it is sent, rendered once for each language that somebody reads."""

    __slots__ = ("_en", "_zh", "end_byte", "event")

    def __init__(self, event: Event, end_byte: int) -> None:
        self.event = event
        self.end_byte = end_byte  # how much was said up to here, with this
        self._en: bytes | None = None
        self._zh: bytes | None = None

    def payload(self, language: Language) -> bytes:
        if language == "zh":
            if self._zh is None:
                self._zh = frame(self.event, "zh")
            return self._zh
        if self._en is None:
            self._en = frame(self.event, "en")
        return self._en


def as_frames(events: list[Event], start_byte: int = 0) -> list[Frame]:
    frames, end_byte = [], start_byte
    for event in events:
        end_byte += len(event.data)
        frames.append(Frame(event, end_byte))
    return frames


def pack(frames: list[Frame], language: Language, *, is_batch: bool) -> bytes:
    """What goes over the wire for these frames: a message for each, or one message with an array of them."""
    payloads = [each.payload(language) for each in frames]
    if is_batch and len(payloads) > 1:
        return text_message(b"[%b]" % b",".join(payloads))
    return b"".join([text_message(payload) for payload in payloads])


class Follower(Protocol):
    def wake(self) -> None: ...

    def show(self, text: str) -> None: ...


class Feed:
    """One session's newest frames. `head` is the last seq; whoever is further behind than the window reads the log."""

    def __init__(self, session_id: str, head: int, window_events: int) -> None:
        self.session_id = session_id
        self.head = head
        self.ended: MootError | None = None  # why nothing more will come
        self.followers: set[Follower] = set()
        self._window_events = window_events
        self._frames: list[Frame] = []
        self._bytes = self._start_byte = 0  # said up to the end and the start of the window
        self._packed: dict[tuple[int, int, Language, bool], bytes] = {}

    def add(self, events: list[Event]) -> None:
        self._frames += as_frames(events, self._bytes)
        self._bytes = self._frames[-1].end_byte
        if len(self._frames) > self._window_events + SPARE_EVENTS:
            self._start_byte = self._frames[-self._window_events - 1].end_byte
            del self._frames[: -self._window_events]
        self.head = events[-1].seq
        self.wake()

    def wake(self) -> None:
        for follower in self.followers:
            follower.wake()

    def after(self, cursor: int, limit: int) -> list[Frame] | None:
        """What follows `cursor`; None when that has left the window."""
        start = len(self._frames) - self.head + cursor
        return self._frames[start : start + limit] if start >= 0 else None

    def bytes_after(self, cursor: int) -> int:
        """How much a client at `cursor` has not been sent; what has left the window is not counted."""
        start = len(self._frames) - self.head + cursor
        return self._bytes - (self._frames[start - 1].end_byte if start > 0 else self._start_byte)

    def pack(self, frames: list[Frame], language: Language, *, is_batch: bool) -> bytes:
        """Clients that keep up are at the same place, so what one of them is sent is kept for the others."""
        key = frames[0].event.seq, frames[-1].event.seq, language, is_batch
        packed = self._packed.get(key)
        if packed is None:
            if len(self._packed) >= PACKED:
                self._packed.clear()
            packed = self._packed[key] = pack(frames, language, is_batch=is_batch)
        return packed


class Feeds:
    """A feed for each session that somebody follows, for as long as somebody does."""

    def __init__(self, log: Log, spawn: Spawn, window_events: int) -> None:
        self._log = log
        self._spawn = spawn
        self._window_events = window_events
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}

    async def join(self, session_id: str, follower: Follower) -> Feed:
        """Raises NotFound."""
        if session_id not in self._feeds:
            head = await self._log.head(session_id)
            if session_id not in self._feeds:  # nobody else was faster
                feed = Feed(session_id, head.seq, self._window_events)
                self._feeds[session_id] = feed, self._spawn(self._run(feed))
        feed, _ = self._feeds[session_id]
        feed.followers.add(follower)
        return feed

    def leave(self, feed: Feed, follower: Follower) -> None:
        feed.followers.discard(follower)
        known = self._feeds.get(feed.session_id)
        if not feed.followers and known and known[0] is feed:
            del self._feeds[feed.session_id]
            known[1].cancel()

    def followers(self, session_id: str) -> set[Follower]:
        known = self._feeds.get(session_id)
        return known[0].followers if known else set()

    def close(self) -> None:
        for _, task in self._feeds.values():
            task.cancel()

    async def _run(self, feed: Feed) -> None:
        ended: MootError = NotFound(f"no session {feed.session_id} any more")
        try:
            async with aclosing(self._log.follow(feed.session_id, feed.head)) as batches:
                async for events in batches:
                    feed.add(events)
        except LogError as error:  # damaged or closed
            ended = error
        finally:
            known = self._feeds.get(feed.session_id)
            if known and known[0] is feed:  # else somebody else has come meanwhile and follows anew
                del self._feeds[feed.session_id]
            feed.ended = ended
            feed.wake()
