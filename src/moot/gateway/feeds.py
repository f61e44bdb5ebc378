"""Feeds: the newest events of every followed session, encoded once and shared by all of its followers."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Coroutine
from contextlib import aclosing
from typing import Any, Protocol

from moot.core.codec import Event, frame
from moot.core.errors import LogError, MootError, NotFound
from moot.core.session.team import LANGUAGES, Language
from moot.gateway.projection import Projection
from moot.gateway.uvicorn_port import text_message
from moot.runtime.ports import Log

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]

SPARE_EVENTS = 256  # by how much the window may grow too long before it is cut, so that not every event cuts it
WOKEN_AT_ONCE = 32  # followers of a session, before the loop sends what they write
PACKED = 2 * len(LANGUAGES)  # cached messages of a feed: for each language, with and without batches


class Frame:
    """An event with its encoded frame, which is rendered once per language and only on demand."""

    __slots__ = ("_payloads", "end_byte", "event")

    def __init__(self, event: Event, end_byte: int) -> None:
        self.event = event
        self.end_byte = end_byte  # total size of the events of the feed, up to and including this one
        self._payloads: dict[Language, bytes] = {}

    def payload(self, language: Language) -> bytes:
        payload = self._payloads.get(language)
        if payload is None:
            payload = self._payloads[language] = frame(self.event, language)
        return payload


def as_frames(events: list[Event], start_byte: int = 0) -> list[Frame]:
    """Wrap events as frames; `start_byte` is the total size of the events before them."""
    frames, end_byte = [], start_byte
    for event in events:
        end_byte += len(event.data)
        frames.append(Frame(event, end_byte))
    return frames


def pack(frames: list[Frame], language: Language, *, is_batch: bool) -> bytes:
    """Encode frames for the wire: one message each or, if `is_batch`, one message with an array of them."""
    payloads = [item.payload(language) for item in frames]
    if is_batch and len(payloads) > 1:
        return text_message(b"[%b]" % b",".join(payloads))
    return b"".join([text_message(payload) for payload in payloads])


class Follower(Protocol):
    def wake(self) -> None:
        """Called when the feed has new events, or has ended."""

    def show(self, text: str) -> None:
        """Pass on a frame that is not part of the log."""


class Feed:
    """The newest frames of one session, up to seq `head`. A client that is behind this window reads from the log."""

    def __init__(self, session_id: str, head: int, window_events: int, now: Callable[[], str]) -> None:
        self.session_id = session_id
        self.head = head
        self.projection = Projection(self, now)
        self.ended: MootError | None = None  # why nothing more will come
        self.followers: dict[Follower, None] = {}  # in the order in which they joined, and are woken
        self._window_events = window_events
        self._frames: list[Frame] = []
        self._bytes = self._start_byte = 0  # size of all events up to the window's end, and before its start
        self._packed: dict[tuple[int, int, Language, bool], bytes] = {}

    def add(self, events: list[Event]) -> None:
        """Append new events and wake the followers."""
        self._frames += as_frames(events, self._bytes)
        self._bytes = self._frames[-1].end_byte
        if len(self._frames) > self._window_events + SPARE_EVENTS:
            self._start_byte = self._frames[-self._window_events - 1].end_byte
            del self._frames[: -self._window_events]
        self.head = events[-1].seq
        self.wake()

    def wake(self) -> None:
        """Wake the followers, in the order in which they joined.

        The event loop sends what they write when it has called everything that is due, so that many followers would
        all wait for the last of them: they are woken some at a time.
        """
        self._wake(deque(self.followers))

    def _wake(self, waiting: deque[Follower]) -> None:
        for _ in range(min(len(waiting), WOKEN_AT_ONCE)):
            waiting.popleft().wake()
        if waiting:
            asyncio.get_running_loop().call_soon(self._wake, waiting)

    def after(self, cursor: int, limit: int) -> list[Frame] | None:
        """Return up to `limit` frames after seq `cursor`; None if the first of them has left the window."""
        start = len(self._frames) - self.head + cursor
        return self._frames[start : start + limit] if start >= 0 else None

    def bytes_after(self, cursor: int) -> int:
        """Return the size of the events after seq `cursor`, without those that have left the window."""
        start = len(self._frames) - self.head + cursor
        return self._bytes - (self._frames[start - 1].end_byte if start > 0 else self._start_byte)

    def pack(self, frames: list[Frame], language: Language, *, is_batch: bool) -> bytes:
        """Encode frames, or reuse an encoding: clients that keep up are at the same seq and need the same bytes."""
        key = frames[0].event.seq, frames[-1].event.seq, language, is_batch
        packed = self._packed.get(key)
        if packed is None:
            if len(self._packed) >= PACKED:
                self._packed.clear()
            packed = self._packed[key] = pack(frames, language, is_batch=is_batch)
        return packed


class Feeds:
    """The feeds by session. A feed starts with its first follower and ends with its last."""

    def __init__(self, log: Log, spawn: Spawn, window_events: int, now: Callable[[], str]) -> None:
        self._log = log
        self._now = now
        self._spawn = spawn
        self._window_events = window_events
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}

    async def join(self, session_id: str, follower: Follower) -> Feed:
        """Add a follower to a session and return its feed. Raises NotFound."""
        if session_id not in self._feeds:
            head = await self._log.head(session_id)
            if session_id not in self._feeds:  # no other follower created it during the await
                feed = Feed(session_id, head.seq, self._window_events, self._now)
                self._feeds[session_id] = feed, self._spawn(self._run(feed))
        feed, _ = self._feeds[session_id]
        feed.followers[follower] = None
        return feed

    def leave(self, feed: Feed, follower: Follower) -> None:
        feed.followers.pop(follower, None)
        known = self._feeds.get(feed.session_id)
        if not feed.followers and known and known[0] is feed:
            del self._feeds[feed.session_id]
            known[1].cancel()

    def followers(self, session_id: str) -> Collection[Follower]:
        known = self._feeds.get(session_id)
        return known[0].followers if known else ()

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
            if known and known[0] is feed:  # else a newer feed has taken its place
                del self._feeds[feed.session_id]
            feed.ended = ended
            feed.wake()
