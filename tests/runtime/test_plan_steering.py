"""Steering a plan while it runs: pause and resume, and words that are understood while the work goes on."""

import asyncio

import pytest

from moot.core.flows.plan.plan_events import DispatchRequested, LeaseExpired, SnapshotSaved
from moot.core.intake.intent import SemanticInput
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState
from moot.core.session.commands import Pause, Post, Resume
from moot.core.session.events import NoticePosted, RoutingDecided, UnderstandingCompleted
from moot.runtime.ports import Understood
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.understanding.fallback import TIMEOUT_S
from moot.testing import VirtualClock
from moot.testing.intents import analyse
from tests.runtime.apps import facts, names, open_on, run
from tests.runtime.plans import Hands, after, answer, completed, crew, planning, plays, solve, states, task

TEAM = crew(planning(), plays("wu"))


@run
async def test_a_pause_gives_what_runs_five_seconds() -> None:
    """Nothing new is offered; after the grace what still runs is stopped, and a checkpoint is logged."""
    clock, hands = VirtualClock(), Hands()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b"), task("c", "a"))
        await session.submit(Pause())
        hands.finish("a")
        await clock.advance(4.999)
        state = await session.state()
        assert (state.interrupt, state.status) == (Interrupt.PAUSING, Status.ACTIVE)
        assert hands.given == ["a", "b"]
        await clock.advance(0.001)
        state = await session.state()
        assert (state.interrupt, state.status, state.waiting_for) == (Interrupt.PAUSED, Status.PAUSED, "alice")
        [snapshot] = await facts(app, session, SnapshotSaved)
        assert (snapshot.done, snapshot.reason) == (("a",), "pause")
        assert hands.stopped == ["b"]
        await clock.advance(10_000)
        assert (await session.state()) == state


@run
async def test_resuming_goes_on_with_the_same_attempt() -> None:
    """What was stopped starts again, as the same attempt; what had not begun begins."""
    clock, hands = VirtualClock(), Hands()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b", "a"))
        await session.submit(Pause())
        await clock.advance(5)
        await session.submit(Resume())
        await clock.advance(0)
        offers = await facts(app, session, DispatchRequested)
        assert [(fact.task_id, fact.attempt, fact.is_again) for fact in offers] == [("a", 1, False), ("a", 1, True)]
        hands.finish("a")
        await clock.advance(0)
        hands.finish("b")
        await clock.advance(0)
        assert await completed(app, session) == ["a", "b"]
        assert await answer(app, session) == "all of it"


@run
async def test_all_that_runs_ends_within_the_grace() -> None:
    """Then the pause is there at once; the rest of the five seconds is not waited for."""
    clock, hands = VirtualClock(), Hands()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b", "a"))
        await session.submit(Pause())
        hands.finish("a")
        await clock.advance(0)
        assert (await session.state()).interrupt is Interrupt.PAUSED
        assert await facts(app, session, LeaseExpired) == []


@run
async def test_a_pause_during_the_wait_for_a_retry() -> None:
    """The delay does not run out while the work is paused; after it the next attempt has the next number."""
    clock, hands = VirtualClock(), Hands()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
        hands.fail("a")
        await clock.advance(0.5)
        await session.submit(Pause())
        await clock.advance(3_600)
        assert states(await session.state()) == {"a": TaskState.EXECUTION_FAILED}
        await session.submit(Resume())
        await clock.advance(1)
        assert [fact.attempt for fact in await facts(app, session, DispatchRequested)] == [1, 2]


@run
async def test_a_pause_survives_a_restart() -> None:
    """A paused session stays paused over a restart, is opened without a word in the log, and goes on when told to."""
    clock, hands, log = VirtualClock(), Hands(), MemoryLog()
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
        await session.submit(Pause())
        await clock.advance(5)
        head = (await log.head(session.id)).seq
    async with open_on(log, TEAM, clock=clock, agents={"wu": hands}) as app:
        session = await app.session(session.id)
        await clock.advance(60)
        assert await after(app, session, head) == []
        await session.submit(Resume())
        await clock.advance(0)
        hands.finish("a")
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


class Slow:
    """An understander that thinks until the test lets it speak."""

    def __init__(self) -> None:
        self.given: list[SemanticInput] = []
        self.speak: asyncio.Future[Understood] | None = None

    async def understand(self, given: SemanticInput) -> Understood:
        self.given.append(given)
        self.speak = asyncio.get_running_loop().create_future()
        return await self.speak


@run
async def test_work_goes_on_while_words_are_understood() -> None:
    """A task ends and the next one starts before it is known what the input means."""
    clock, hands, slow = VirtualClock(), Hands(), Slow()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}, understander=slow) as app:
        session = await solve(app, clock, task("a"), task("b", "a"))
        await session.submit(Post(text="how is it going?"))
        await clock.advance(0)
        hands.finish("a")
        await clock.advance(1)
        assert hands.at_work == ["b"]
        assert slow.speak is not None
        slow.speak.set_result(Understood(analysis=analyse("same_task_no_change")))
        await clock.advance(0)
        assert [fact.route for fact in await facts(app, session, RoutingDecided)] == ["continue_execution"]
        assert hands.at_work == ["b"]


@run
async def test_several_inputs_are_understood_in_the_order_they_came() -> None:
    """One after the other: the second is looked at when the first is routed."""
    clock, hands, slow = VirtualClock(), Hands(), Slow()
    async with open_on(MemoryLog(), TEAM, clock=clock, agents={"wu": hands}, understander=slow) as app:
        session = await solve(app, clock, task("a"))
        for text in ("one", "two", "three"):
            await session.submit(Post(text=text))
        for text in ("one", "two", "three"):
            await clock.advance(0)
            assert slow.given[-1].raw_input == text
            assert slow.speak is not None
            slow.speak.set_result(Understood(analysis=analyse("same_task_no_change")))
        await clock.advance(0)
        assert [fact.input_id for fact in await facts(app, session, UnderstandingCompleted)] == ["i1", "i2", "i3"]


class Broken:
    """An understander that cannot."""

    async def understand(self, given: SemanticInput) -> Understood:
        raise RuntimeError(f"no idea what {given.raw_input!r} means")


@pytest.mark.parametrize(("understander", "wait_s"), [(Slow(), TIMEOUT_S), (Broken(), 0)])
@run
async def test_the_rules_answer_for_an_understander_that_does_not(understander: Slow | Broken, wait_s: float) -> None:
    """One that says nothing for 30 s, or raises, costs a notice and nothing else: the message begins its work."""
    clock = VirtualClock()
    team = crew(planning(task("a")), plays("wu"))
    async with open_on(MemoryLog(), team, clock=clock, understander=understander) as app:
        session = await app.session()
        await session.submit(Post(text="write a report about tea"))
        await clock.advance(wait_s - 0.001 if wait_s else 0)
        if wait_s:
            assert await facts(app, session, UnderstandingCompleted) == []
            await clock.advance(0.001)
        [understood] = await facts(app, session, UnderstandingCompleted)
        assert understood.fallback_reason
        assert "understood_by_rules" in [fact.code for fact in await facts(app, session, NoticePosted)]
        assert "plan.completed" in await names(app, session)


@run
async def test_a_restart_while_words_are_understood() -> None:
    """They are understood again by the next process; nothing that was said is lost."""
    clock, log = VirtualClock(), MemoryLog()
    team = crew(planning(task("a")), plays("wu"))
    async with open_on(log, team, clock=clock, understander=Slow()) as app:
        session = await app.session()
        await session.submit(Post(text="write a report about tea"))
        await clock.advance(1)
        engine = await app.sessions.open(session.id)
        assert not engine.is_idle  # and so it is not evicted
    async with open_on(log, team, clock=clock) as app:
        assert await app.recover() == 1
        await clock.advance(0)
        assert "plan.completed" in await names(app, session)
