"""The programs of members that stay between their turns: at most so many, and not longer than they are in use.

A program that is not in use for `idle_s` is ended; its conversation is resumed by its id when the member has another
turn. If there are more than `max_processes`, those that were used longest ago end first. A running turn is never held
back for want of room.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from msgspec import Struct

from moot.agents.live.link import Link
from moot.runtime.ports import Clock, Handle

logger = logging.getLogger(__name__)

IDLE_S = 300.0
MAX_PROCESSES = 8


class Place(Struct, frozen=True, kw_only=True):
    """Whose conversation it is: that of a member of a session, in one tree (in a plan: for one task)."""

    session_id: str
    member: str
    tree: str = ""
    folder: str = ""


class Lease:
    """A program that is in use, or waits for its member's next turn."""

    def __init__(
        self, place: Place, link: Link, stack: AsyncExitStack, *, remembers: bool, variant: object = None
    ) -> None:
        self.place = place
        self.variant = variant
        self.link = link
        self.remembers = remembers  # the agent knows what was said before in this conversation
        self.left = asyncio.Event()  # the turn that used it is over, and the program is kept or has ended
        self.was_kept = False  # it has waited for this turn
        self._stack = stack
        self.timer: Handle | None = None

    async def end(self) -> None:
        try:
            await self.link.close()
        finally:
            await self._stack.aclose()


Open = Callable[[AsyncExitStack], Awaitable[tuple[Link, bool]]]


class LinkPool:
    """Holds the programs of one app. Closing it ends all of them."""

    def __init__(self, clock: Clock, *, idle_s: float = IDLE_S, max_processes: int = MAX_PROCESSES) -> None:
        self._clock = clock
        self._idle_s = idle_s
        self._max_processes = max_processes
        self._idle: dict[Place, Lease] = {}  # the one that was used longest ago first
        self._busy: set[Lease] = set()
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in list(self._idle):
            self._end_soon(self._take_idle(place))
        if self._ending:
            await asyncio.wait(self._ending)

    @property
    def count(self) -> int:
        """Return the number of running programs."""
        return len(self._idle) + len(self._busy)

    async def take(self, place: Place, open_link: Open, variant: object = None) -> Lease:
        """Return the program that waits at a place, or a new one. Raises AgentError.

        A program that was started in another variant is ended before the new one starts. Two programs never have
        the same conversation at once: this waits until the one before has ended.
        """
        while busy := [lease for lease in self._busy if lease.place == place]:
            await busy[0].left.wait()
        waiting = self._take_idle(place) if place in self._idle else None
        if waiting is not None and waiting.link.is_alive and waiting.variant == variant:
            waiting.left.clear()
            self._busy.add(waiting)
            return waiting
        if waiting is not None:
            await _end(waiting)
        while self._idle and self.count >= self._max_processes:
            self._end_soon(self._take_idle(next(iter(self._idle))))
        async with AsyncExitStack() as stack:
            link, remembers = await open_link(stack)
            lease = Lease(place, link, stack.pop_all(), remembers=remembers, variant=variant)
        self._busy.add(lease)
        return lease

    async def give_back(self, lease: Lease) -> None:
        """Keep a program for the next turn, unless it has ended or another one is kept for the same place."""
        if lease.place in self._idle or not lease.link.is_alive or self._idle_s <= 0 or self._max_processes <= 0:
            await self.end(lease)
            return
        self._leave(lease)
        lease.was_kept = True
        self._idle[lease.place] = lease
        lease.timer = self._clock.call_later(self._idle_s, lambda: self._expire(lease))
        while self.count > self._max_processes and len(self._idle) > 1:
            self._end_soon(self._take_idle(next(iter(self._idle))))

    async def end(self, lease: Lease) -> None:
        """End a program. What it was told is resumed by its id."""
        try:
            await _end(lease)
        finally:
            self._leave(lease)

    def _leave(self, lease: Lease) -> None:
        self._busy.discard(lease)
        lease.left.set()

    def end_session(self, session_id: str) -> None:
        """End the programs that wait for turns of a session that is over."""
        for place in [place for place in self._idle if place.session_id == session_id]:
            self._end_soon(self._take_idle(place))

    def _take_idle(self, place: Place) -> Lease:
        lease = self._idle.pop(place)
        if lease.timer:
            lease.timer.cancel()
            lease.timer = None
        return lease

    def _expire(self, lease: Lease) -> None:
        if self._idle.get(lease.place) is lease:
            self._end_soon(self._take_idle(lease.place))

    def _end_soon(self, lease: Lease) -> None:
        task = asyncio.ensure_future(_end(lease))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _end(lease: Lease) -> None:
    try:
        await lease.end()
    except Exception:  # leaving the stack has killed the program anyway
        logger.warning("the program of %s did not end properly", lease.place.member, exc_info=True)
