"""Plans at their limits: more tasks than may run at once in all sessions, and a disk that is full."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from moot.app import open_app
from moot.core.errors import StorageFull
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_events import DispatchAcked, LeaseExpired, SolverCompleted, SolverStarted
from moot.core.flows.plan.plan_slice import PlanSlice
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import CancelTurn, Post
from moot.runtime.ports import Output, Result
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from tests.runtime.apps import facts, names, open_on, run, until
from tests.runtime.broken_logs import FullLog
from tests.runtime.plans import Hands, answer, completed, crew, planning, plays, solve, task

TEAM = crew(planning(), plays("wu"))


class Clocked:
    """Executors that take a second for a task; `most` is how many were ever at work at once."""

    def __init__(self, clock: VirtualClock) -> None:
        self.order: list[str] = []
        self.most = 0
        self._now = 0
        self._clock = clock

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        self.order.append(turn.session_id)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await self._clock.sleep(1)
        finally:
            self._now -= 1
        yield Result(text="done")


@run
async def test_fifty_sessions_share_four_workers_fairly() -> None:
    """Never more than four tasks at once in all; they start in the order in which they were taken."""
    clock = VirtualClock()
    clocked = Clocked(clock)
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": clocked}) as app:
        sessions = [await app.session() for _ in range(50)]
        for session in sessions:
            await session.submit(SolveTasks(tasks=tuple(task(f"t{n}") for n in range(4))))
        await clock.advance(60)
        assert clocked.most == 4
        assert Counter(clocked.order) == {session.id: 4 for session in sessions}
        assert clocked.order == [session.id for session in sessions for _ in range(4)]
        assert [await answer(app, session) for session in sessions] == ["all of it"] * 50
        for session in sessions[:3]:
            assert len(await facts(app, session, SolverStarted)) == 4
        places = [fact.place for session in sessions for fact in await facts(app, session, DispatchAcked)]
        assert places == [None] * 4 + list(range(1, 197))  # four find room, the others learn where they stand


@run
async def test_the_place_in_the_line_is_true_after_a_restart() -> None:
    """Who is offered again when the process is another one stands where it stands then."""
    log, clock = MemoryLog(), VirtualClock()
    async with open_on(log, TEAM, clock=clock, agents={"wu": Clocked(clock)}) as app:
        first, second = [await app.session() for _ in range(2)]
        for session in (first, second):
            await session.submit(SolveTasks(tasks=tuple(task(f"t{n}") for n in range(4))))
        await clock.advance(0)
        assert [fact.place for fact in await facts(app, second, DispatchAcked)] == [1, 2, 3, 4]
    async with open_on(log, TEAM, clock=clock, agents={"wu": Clocked(clock)}) as app:
        again = await app.session(second.id)
        await clock.advance(0)
        assert [fact.place for fact in (await facts(app, again, DispatchAcked))[4:]] == [None] * 4


@run
async def test_a_session_with_many_tasks_does_not_starve_the_others() -> None:
    """A hundred tasks of one session hold four places in the line, not a hundred: a later session is next soon."""
    clock = VirtualClock()
    clocked = Clocked(clock)
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": clocked}) as app:
        large = await solve(app, clock, *[task(f"t{n}") for n in range(100)])
        small = await solve(app, clock, task("a"))
        await clock.advance(3)
        assert await answer(app, small) == "all of it"
        assert len(await completed(app, large)) < 100
        await clock.advance(60)
        assert await answer(app, large) == "all of it"


@run
async def test_a_task_that_waits_for_room_is_taken_but_not_started() -> None:
    """It is acked at once, so that its dispatch does not time out, and starts when there is room."""
    clock, hands = VirtualClock(), Hands()
    async with open_app(TEAM, clock=clock, agents={"wu": hands}, max_tasks=1) as app:
        session = await solve(app, clock, task("a"), task("b"))
        assert hands.at_work == ["a"]
        assert len(await facts(app, session, DispatchAcked)) == 2
        await clock.advance(600)
        assert hands.at_work == ["a"]
        hands.finish("a")
        await clock.advance(0)
        assert hands.at_work == ["b"]


@run
async def test_a_long_line_is_nobodys_fault() -> None:
    """Tasks that wait for room longer than a turn may take are not counted as failures of the member that took them."""
    clock, hands = VirtualClock(), Hands()
    async with open_app(TEAM, clock=clock, agents={"wu": hands}, max_tasks=1) as app:
        session = await solve(app, clock, *[task(each) for each in "abcd"])
        for each in "abcd":
            assert hands.at_work == [each]
            await clock.advance(1_790)
            hands.finish(each)
            await clock.advance(0)
        assert await answer(app, session) == "all of it"
        assert "task.dispatch_nacked" not in await names(app, session)


@run
async def test_a_cancelled_task_gives_its_room_back() -> None:
    """Stopping what runs, and what waits, leaves as much room as there was."""
    clock, hands = VirtualClock(), Hands()
    async with open_app(TEAM, clock=clock, agents={"wu": hands}, max_tasks=1) as app:
        session = await solve(app, clock, task("a"), task("b"), task("c"))
        await session.submit(CancelTurn())
        await clock.advance(0)
        other = await solve(app, clock, task("x"))
        assert hands.at_work[-1] == "x"
        hands.finish("x")
        await clock.advance(0)
        assert await answer(app, other) == "all of it"


@run
async def test_a_plan_on_a_full_disk_waits_and_goes_on() -> None:
    """What workers say is kept and tried again; when there is room every result is there once."""
    log, clock, hands = FullLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b"), task("c", "a", "b"))
        log.is_full = True
        hands.finish("a")
        hands.finish("b")
        await clock.advance(100)
        assert log.refusals > 90
        assert await completed(app, session) == []
        with pytest.raises(StorageFull):
            await session.submit(Post(text="/status"))
        log.is_full = False
        await clock.advance(1)
        assert sorted(await completed(app, session)) == ["a", "b"]
        hands.finish("c")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_handshake_on_a_full_disk() -> None:
    """A task that is offered when the disk fills up is taken and started when there is room; nothing is done twice."""
    log, clock, hands = FullLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await app.session()
        sending = asyncio.create_task(session.submit(SolveTasks(tasks=(task("a"),))))
        await until(lambda: sending.done())
        log.is_full = True
        await clock.advance(20)
        assert hands.given == []
        log.is_full = False
        await clock.advance(1)
        assert hands.given == ["a"]
        hands.finish("a")
        await clock.advance(0)
        assert len(await facts(app, session, SolverCompleted)) == 1
        happened = await names(app, session)
        assert [happened.count(name) for name in ("task.dispatch_acked", "solver.start")] == [1, 1]


@run
async def test_a_restart_on_a_full_disk_can_be_read_and_goes_on_later() -> None:
    """Opening a plan whose workers are gone does not wait for space: it is shown, and goes on when there is some."""
    log, clock, hands = FullLog(), VirtualClock(), Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
    log.is_full = True
    hands = Hands()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await app.session(session.id)
        assert (await session.state()).part(PlanSlice).current is not None
        await clock.advance(10)
        assert hands.given == []
        log.is_full = False
        await clock.advance(1)
        assert hands.given == ["a"]
        assert [fact.reason for fact in await facts(app, session, LeaseExpired)] == ["restarted"]
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"
