"""Opening a session while the app closes, or while who asked for it goes away."""

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.codec import Event, Head
from moot.core.errors import LogError
from moot.core.flows.plan.plan_events import LeaseExpired
from moot.core.session.commands import Post
from moot.runtime.ports import CommandKey, Summary
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from moot.testing.clock import rest
from tests.runtime.apps import TRIO, facts, open_on, run, say, until
from tests.runtime.broken_logs import SlowLog
from tests.runtime.plans import Hands, answer, crew, planning, plays, solve, task

TEAM = crew(planning(), plays("wu"))


class SlowReading(MemoryLog):
    """A log that is read when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.slow: str | None = None  # only this session, if one is named

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        if self.slow in (None, session_id):
            await self.gate.wait()
        return await super().read(session_id, after, limit)


@run
async def test_a_session_that_is_being_read_while_the_app_closes() -> None:
    """The app waits for it and parks it: no engine is left behind that nobody stops."""
    log = SlowReading()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        await say(session, "hello")
    async with open_on(log, TRIO) as app:
        log.gate.clear()
        opening = asyncio.create_task(app.sessions.open(session.id))
        await rest()
        asyncio.get_running_loop().call_later(0.01, log.gate.set)
    with pytest.raises(LogError, match="closed here"):
        await (await opening).submit(Post(text="hello"))


@run
async def test_a_session_that_is_slow_to_read_does_not_hold_up_others() -> None:
    """Who opens one session waits only for those who open the same."""
    log = SlowReading()
    async with open_on(log, TRIO) as app:
        slow, quick = await app.session(), await app.session()
    async with open_on(log, TRIO) as app:
        log.slow = slow.id
        log.gate.clear()
        opening = [asyncio.create_task(app.sessions.open(slow.id)) for _ in range(2)]
        await rest()
        assert (await app.sessions.open(quick.id)).session_id == quick.id
        log.gate.set()
        assert await opening[0] is await opening[1]


@run
async def test_a_session_that_recovers_while_the_app_closes() -> None:
    """What its workers had is offered again by the next app, once."""
    log, clock, hands = SlowLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        log.gate.clear()
        opening = asyncio.create_task(app.sessions.open(session.id))
        await until(lambda: log.waiting == 1)
        asyncio.get_running_loop().call_soon(log.gate.set)
    with pytest.raises(LogError, match="closed here"):
        await (await opening).submit(Post(text="hello"))
    assert not hands.at_work


@run
async def test_who_opens_a_session_and_goes_away_does_not_leave_it_half_open() -> None:
    """Recovery goes on without the one who asked for it; whoever comes next finds the session at work."""
    log, clock, hands = SlowLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
    hands = Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        log.gate.clear()
        opening = asyncio.create_task(app.session(session.id))
        await until(lambda: log.waiting == 1)
        opening.cancel()
        await asyncio.wait([opening])
        log.gate.set()
        await clock.advance(0)
        assert hands.given == ["a"]
        assert len(await facts(app, session, LeaseExpired)) == 1
        session = await app.session(session.id)
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_session_that_recovers_is_not_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many others are opened meanwhile, there is one engine of it."""
    monkeypatch.setattr("moot.runtime.sessions.OPEN_SESSIONS", 1)
    log, clock, hands = SlowLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
    hands = Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        log.gate.clear()
        opening = asyncio.create_task(app.sessions.open(session.id))
        await until(lambda: log.waiting == 1)
        making = [asyncio.create_task(app.session()) for _ in range(3)]
        await rest()
        log.gate.set()
        await asyncio.gather(*making)
        assert await app.sessions.open(session.id) is await opening
        await clock.advance(0)
        assert hands.given == ["a"]


class SlowToTell(MemoryLog):
    """A log whose appends are there before the one who appended is told so."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        await super().append(session_id, expected, events, command=command, summary=summary)
        await self.gate.wait()


@run
async def test_a_session_that_is_opened_while_it_is_created_has_one_engine() -> None:
    """Whoever asks for a session twice, with the same id, may find it in the log before the first one is answered."""
    log = SlowToTell()
    async with open_on(log, TRIO) as app:
        creating = asyncio.create_task(app.session(once="c1"))
        await rest()
        [listing] = await log.sessions()
        engine = await app.sessions.open(listing.session_id)
        log.gate.set()
        await creating
        assert await app.sessions.open(listing.session_id) is engine
