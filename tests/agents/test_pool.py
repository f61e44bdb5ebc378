"""Programs that stay between turns: kept while they are in use, ended when idle, when too many, and with the app."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from moot.agents.live.link import Hooks, Known, Link
from moot.agents.live.pool import LinkPool, Place
from moot.core.session.attachments import HandedFile
from moot.runtime.ports import Result
from moot.testing import VirtualClock
from tests.runtime.apps import run


class FakeLink(Link):
    """A conversation without a program."""

    def __init__(self, name: str, ended: list[str]) -> None:
        self.name = name
        self.ended = ended
        self.is_dead = False
        self.folder = Path()

    async def open(self, known: Known | None) -> bool:
        return False

    async def prompt(self, text: str, hooks: Hooks, files: Sequence[HandedFile] = ()) -> Result:
        return Result(text=text)

    async def interrupt(self) -> None:
        """Nothing runs."""

    @property
    def is_alive(self) -> bool:
        return not self.is_dead

    async def close(self) -> None:
        self.ended.append(self.name)


class Site:
    def __init__(self, **bounds: Any) -> None:
        self.clock = VirtualClock()
        self.pool = LinkPool(self.clock, **bounds)
        self.ended: list[str] = []
        self.opened: list[str] = []

    async def use(self, member: str, session: str = "s1") -> Any:
        """Have a member play a turn."""
        lease = await self.take(member, session)
        await self.pool.give_back(lease)
        return lease

    async def take(self, member: str, session: str = "s1") -> Any:
        async def open_link(_: AsyncExitStack) -> tuple[Link, bool]:
            self.opened.append(member)
            return FakeLink(member, self.ended), False

        return await self.pool.take(Place(session_id=session, member=member), open_link)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@run
async def test_a_member_s_program_waits_for_its_next_turn() -> None:
    """Two turns of a member, one program; another session has another."""
    site = Site()
    async with site.pool:
        first, second, other = await site.use("bob"), await site.use("bob"), await site.use("bob", "s2")
        assert first is second
        assert other is not first
        assert site.opened == ["bob", "bob"]
    assert sorted(site.ended) == ["bob", "bob"]


@run
async def test_an_idle_program_is_ended() -> None:
    """After `idle_s` without a turn, counted from the end of the last one."""
    site = Site(idle_s=300.0)
    async with site.pool:
        await site.use("bob")
        await site.clock.advance(299)
        await site.use("bob")
        await site.clock.advance(299)
        assert site.ended == []
        await site.clock.advance(1)
        await settled()
        assert site.ended == ["bob"]
        assert site.pool.count == 0


@run
async def test_the_one_that_was_used_longest_ago_ends_first() -> None:
    """At most `max_processes` are kept; a running turn is not held back."""
    site = Site(max_processes=2)
    async with site.pool:
        await site.use("ann")
        await site.use("bob")
        await site.use("ann")
        await site.use("cat")
        await settled()
        assert site.ended == ["bob"]
        busy = [await site.take(name) for name in ("dan", "eve", "fay")]
        await settled()
        assert site.pool.count == 3
        for lease in busy:
            await site.pool.give_back(lease)
        await settled()
        assert site.pool.count == 2


@run
async def test_a_program_that_died_is_replaced() -> None:
    """It is noticed before the next turn."""
    site = Site()
    async with site.pool:
        lease = await site.use("bob")
        lease.link.is_dead = True
        assert await site.use("bob") is not lease
        assert site.opened == ["bob", "bob"]


@run
async def test_the_end_of_a_session_ends_its_programs() -> None:
    """Those of others stay."""
    site = Site()
    async with site.pool:
        await site.use("bob", "s1")
        await site.use("cat", "s2")
        site.pool.end_session("s1")
        await settled()
        assert site.ended == ["bob"]


@pytest.mark.parametrize("bounds", [{"idle_s": 0}, {"max_processes": 0}])
@run
async def test_nothing_is_kept_where_nothing_may_stay(bounds: dict[str, Any]) -> None:
    """Then each turn has a program of its own."""
    site = Site(**bounds)
    async with site.pool:
        await site.use("bob")
        assert site.ended == ["bob"]
