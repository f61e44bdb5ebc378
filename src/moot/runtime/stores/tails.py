"""Delivers new events to those who follow a session."""

import asyncio
from collections.abc import Sequence

from moot.core.codec import Event

_BUFFER_EVENTS = 1_000  # per follower; a slower one reads from the file again


class Tail:
    """One follower's buffer of new events. `head_seq` is the seq of the last event of the log."""

    def __init__(self, head_seq: int) -> None:
        self.head_seq = head_seq
        self.is_ended = False
        self._buffer: list[Event] = []
        self._wake = asyncio.Event()

    def push(self, events: Sequence[Event]) -> None:
        has_gap = self._buffer and self._buffer[-1].seq + 1 != events[0].seq  # another process appended between
        if has_gap or len(self._buffer) + len(events) > _BUFFER_EVENTS:
            self._buffer.clear()
        self._buffer.extend(events)
        self.head_seq = max(self.head_seq, events[-1].seq)
        self._wake.set()

    def advance(self, seq: int) -> None:
        """Somebody else appended: the log goes up to `seq` now."""
        if seq > self.head_seq:
            self.head_seq = seq
            self._wake.set()

    def take(self, after: int) -> list[Event]:
        """Empty the buffer and return its events after `after`; none if some before them must be read from the file."""
        events, self._buffer = self._buffer, []
        if not events or events[0].seq > after + 1:
            return []
        return events[after + 1 - events[0].seq :]

    def end(self) -> None:
        self.is_ended = True
        self._wake.set()

    async def wait(self) -> None:
        self._wake.clear()
        await self._wake.wait()


class Tails:
    """The tails of all followers, by session."""

    def __init__(self) -> None:
        self._tails: dict[str, list[Tail]] = {}

    def add(self, session_id: str, head_seq: int) -> Tail:
        tail = Tail(head_seq)
        self._tails.setdefault(session_id, []).append(tail)
        return tail

    def remove(self, session_id: str, tail: Tail) -> None:
        tails = self._tails.get(session_id, [])
        if tail in tails:
            tails.remove(tail)
        if not tails:
            self._tails.pop(session_id, None)

    def push(self, session_id: str, events: Sequence[Event]) -> None:
        for tail in self._tails.get(session_id, ()):
            tail.push(events)

    def advance(self, session_id: str, seq: int) -> None:
        for tail in self._tails.get(session_id, ()):
            tail.advance(seq)

    def list_followed(self) -> list[str]:
        return list(self._tails)

    def end(self, session_id: str) -> None:
        for tail in self._tails.pop(session_id, ()):
            tail.end()

    def end_all(self) -> None:
        for session_id in list(self._tails):
            self.end(session_id)
