"""Who follows which session, and what they have not taken yet."""

import asyncio
from collections.abc import Sequence

from moot.core.codec import Event

_FRESH_EVENTS = 1_000  # one follower's; a slower one reads from the file again


class Tail:
    """One follower's window on the end of a log. `head_seq` is what it may hope for; `fresh` what needs no reading."""

    def __init__(self, head_seq: int) -> None:
        self.head_seq = head_seq
        self.is_ended = False
        self._fresh: list[Event] = []
        self._wake = asyncio.Event()

    def push(self, events: Sequence[Event]) -> None:
        if len(self._fresh) + len(events) > _FRESH_EVENTS:
            self._fresh.clear()
        self._fresh.extend(events)
        self.head_seq = events[-1].seq
        self._wake.set()

    def take(self, after: int) -> list[Event]:
        """The fresh events behind `after`, without a hole; none when they have to be read."""
        fresh, self._fresh = self._fresh, []
        if not fresh or fresh[0].seq > after + 1:
            return []
        return fresh[after + 1 - fresh[0].seq :]

    def end(self) -> None:
        self.is_ended = True
        self._wake.set()

    async def wait(self) -> None:
        self._wake.clear()
        await self._wake.wait()


class Tails:
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

    def end(self, session_id: str) -> None:
        for tail in self._tails.pop(session_id, ()):
            tail.end()

    def end_all(self) -> None:
        for session_id in list(self._tails):
            self.end(session_id)
