"""A plan as it runs: from what a human says to the answer, in parallel, with everything that members do wrong."""

import asyncio
from pathlib import Path

import pytest

import moot
from moot.agents.script import ScriptEntry, ScriptError, ScriptReview, ScriptStep
from moot.app import open_app
from moot.core.errors import Refused
from moot.core.flows.plan.plan_events import (
    DispatchRequested,
    PlanCancelled,
    RecoveryStarted,
    SolverProgressed,
    SolverStarted,
)
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.plan.plan_slice import PlanSlice
from moot.core.machines.task import TaskState
from moot.core.session.commands import Answer, Post
from moot.core.session.events import StepAsked, StepClosed, TurnStarted
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from tests.runtime.apps import facts, names, open_on, run
from tests.runtime.plans import Hands, answer, completed, crew, planning, plays, solve, states, task

FAIL = ScriptEntry(error=ScriptError(type="network", message="gone"))


@run
async def test_from_a_message_to_the_answer(tmp_path: Path) -> None:
    """`say` follows until the plan is shown, `answer` until the answer is there."""
    team = crew(planning(task("a"), task("b", "a")), plays("wu", "one", "two"))
    async with moot.open(team, data=tmp_path) as app:
        session = await app.session()
        said = [event.name async for event in session.say("write a report about tea")]
        assert said[0] == "message.posted"
        assert said[-2:] == ["workflow.changed", "session.paused"]
        [step] = (await session.state()).open_steps.values()
        assert step.step_id.startswith("confirm_plan_")
        done = [event.name async for event in session.answer(step.step_id, confirmed=True)]
        assert done[-1] == "session.paused"
        assert done.count("solver.completed") == 2
        assert done.index("pipeline.completed") < done.index("agent.final_answer")
        assert await answer(app, session) == "all of it"
        assert (await session.state()).waiting_for == "alice"


@run
async def test_tasks_run_side_by_side_up_to_the_limit_and_after_what_they_need() -> None:
    """Never more than `max_parallel`; a task starts when all that it depends on are done, not before."""
    clock, hands = VirtualClock(), Hands()
    team = crew(planning(), plays("wu"), plan=PlanSettings(max_parallel=2))
    async with open_app(team, clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b"), task("c"), task("d", "a", "c"))
        assert hands.at_work == ["a", "b"]
        hands.finish("b")
        await clock.advance(0)
        assert hands.at_work == ["a", "c"]
        hands.finish("c")
        await clock.advance(0)
        assert hands.at_work == ["a"]
        hands.finish("a", "what a found")
        await clock.advance(0)
        assert hands.at_work == ["d"]
        given = hands.turns[-1].assignment
        assert given is not None
        assert [(each.task.id, each.result) for each in given.tasks] == [("a", "what a found"), ("c", "done")]
        hands.finish("d")
        await clock.advance(0)
        assert await completed(app, session) == ["b", "c", "a", "d"]
        assert await answer(app, session) == "all of it"


@run
async def test_a_failed_task_is_retried_after_its_delay() -> None:
    """The first retry comes after the base delay of one second; others do not wait for it."""
    clock, hands = VirtualClock(), Hands()
    async with open_app(crew(planning(), plays("wu")), clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"), task("b"))
        hands.fail("a")
        await clock.advance(0.999)
        assert hands.given == ["a", "b"]
        await clock.advance(0.001)
        assert hands.given == ["a", "b", "a"]
        assert hands.turns[-1].assignment is not None
        assert hands.turns[-1].assignment.attempt == 2
        hands.finish("a")
        hands.finish("b")
        await clock.advance(0)
        happened = [name for name in await names(app, session) if name.startswith("error.")]
        assert happened == ["error.execution", "error.recovery_started", "error.recovery_success"]
        assert await answer(app, session) == "all of it"


@run
async def test_after_three_retries_a_human_decides() -> None:
    """One first run and three retries within 1 + 4 + 8 s, then a question that holds up nobody else."""
    clock, hands = VirtualClock(), Hands()
    team = crew(planning(), plays("wu", FAIL), plays("xi", role="painter"))
    async with open_app(team, clock=clock, agents={"xi": hands}) as app:
        session = await solve(app, clock, task("a"), task("b", role="painter"))
        await clock.advance(13)
        [step] = await facts(app, session, StepAsked)
        assert [option.id for option in step.options] == ["retry", "skip", "reassign", "replan", "abort"]
        delays = [fact.delay_s for fact in await facts(app, session, RecoveryStarted)]
        assert [fact.attempt for fact in await facts(app, session, RecoveryStarted)] == [1, 2, 3]
        assert delays[0] == 1
        assert 0 <= delays[1] <= 4
        assert 0 <= delays[2] <= 8
        assert len(await facts(app, session, SolverStarted)) == 5
        hands.finish("b")
        await clock.advance(0)
        assert await completed(app, session) == ["b"]
        await session.submit(Answer(step_id=step.step_id, choice="skip"))
        await clock.advance(0)
        assert await answer(app, session) == "all of it"


@run
async def test_a_review_sends_a_task_back_with_what_was_wrong() -> None:
    """Rejected once, it runs again with the feedback; what passed is not reviewed again."""
    clock, hands = VirtualClock(), Hands()
    rex = plays(
        "rex",
        ScriptEntry(review=ScriptReview(passed=False, feedback="too short")),
        ScriptEntry(review=ScriptReview(passed=True)),
        role="reviewer",
    )
    async with open_app(crew(planning(), plays("wu"), rex), clock=clock, agents={"wu": hands}) as app:
        session = await solve(app, clock, task("a"))
        hands.finish("a", "tea")
        await clock.advance(0)
        assert hands.given == ["a", "a"]
        assert hands.turns[-1].assignment is not None
        assert hands.turns[-1].assignment.feedback == "too short"
        hands.finish("a", "tea is a plant")
        await clock.advance(0)
        reviews = [turn for turn in await facts(app, session, TurnStarted) if turn.job == "review"]
        assert len(reviews) == 2
        assert await answer(app, session) == "all of it"


@run
async def test_a_scripted_member_finds_its_place_by_task_after_a_restart() -> None:
    """A task with a list of its own goes on in it where the log says, and does not move the member's other list."""
    clock, log = VirtualClock(), MemoryLog()
    wu = plays("wu", "first", "second", "third", by_task={"b": (FAIL, FAIL, "b at last")})
    team = crew(planning(), wu, plan=PlanSettings(max_parallel=1))
    async with open_on(log, team, clock=clock) as app:
        session = await solve(app, clock, task("a"), task("b"), task("c"))
        assert states(await session.state())["b"] is TaskState.EXECUTION_FAILED
    async with open_on(log, team, clock=clock) as app:
        session = await app.session(session.id)
        await clock.advance(60)
        work = (await session.state()).part(PlanSlice).current
        assert work is not None
        assert {task_id: each.result for task_id, each in work.tasks.items()} == {
            "a": "first",
            "b": "b at last",
            "c": "second",
        }
        places = [(fact.task_id, fact.index, fact.task_index) for fact in await facts(app, session, DispatchRequested)]
        assert [place for place in places if place[0] == "b"] == [("b", 1, 0), ("b", 3, 1), ("b", 4, 2)]


IN_FIVE_MINUTES = crew(planning(task("a")), plays("wu"), plan=PlanSettings(confirm_timeout_s=300))


@pytest.mark.parametrize(("moment_s", "outcome"), [(299.999, "approved"), (300, "expired"), (300.001, "expired")])
@run
async def test_a_plan_waits_five_minutes_for_its_confirmation(moment_s: float, outcome: str) -> None:
    """An answer up to a millisecond before counts; at the moment itself and after it the plan is cancelled."""
    clock = VirtualClock()
    async with open_app(IN_FIVE_MINUTES, clock=clock) as app:
        session = await app.session()
        await session.submit(Post(text="write a report about tea"))
        await clock.advance(0)
        [step] = (await session.state()).open_steps.values()
        await clock.advance(moment_s)
        if outcome == "approved":
            await session.submit(Answer(step_id=step.step_id, confirmed=True))
            await clock.advance(600)
            assert await answer(app, session) == "all of it"
            return
        with pytest.raises(Refused, match="confirmation_expired"):
            await session.submit(Answer(step_id=step.step_id, confirmed=True))
        assert [fact.reason for fact in await facts(app, session, PlanCancelled)] == ["timeout"]
        assert (await session.state()).is_settled


@run
async def test_an_answer_in_the_millisecond_of_the_timeout() -> None:
    """Answer and timeout in one batch: exactly one of them counts, and it is the timeout."""
    clock = VirtualClock()
    async with open_app(IN_FIVE_MINUTES, clock=clock) as app:
        session = await app.session()
        await session.submit(Post(text="write a report about tea"))
        await clock.advance(0)
        [step] = (await session.state()).open_steps.values()
        await clock.advance(299.999)
        clock.call_later(0.001, lambda: sent.append(asyncio.ensure_future(approve())))
        sent: list[asyncio.Future[object]] = []

        async def approve() -> object:
            return await session.submit(Answer(step_id=step.step_id, confirmed=True))

        await clock.advance(0.001)
        with pytest.raises(Refused, match="confirmation_expired"):
            await sent[0]
        assert [fact.outcome for fact in await facts(app, session, StepClosed)] == ["expired"]


@run
async def test_the_time_to_confirm_goes_on_over_a_restart() -> None:
    """After a restart the question is still there with what is left of its five minutes."""
    clock, log = VirtualClock(), MemoryLog()
    async with open_on(log, IN_FIVE_MINUTES, clock=clock) as app:
        session = await app.session()
        await session.submit(Post(text="write a report about tea"))
        await clock.advance(200)
    await clock.advance(20)
    async with open_on(log, IN_FIVE_MINUTES, clock=clock) as app:
        assert await app.recover() == 1
        await clock.advance(79.999)
        session = await app.session(session.id)
        assert (await session.state()).open_steps
        await clock.advance(0.001)
        assert not (await session.state()).open_steps
        assert [fact.reason for fact in await facts(app, session, PlanCancelled)] == ["timeout"]


@run
async def test_steps_of_a_task_are_progress() -> None:
    """Each step is logged as it is made, with n of m."""
    clock = VirtualClock()
    steps = (ScriptStep(thought="look"), ScriptStep(action="write"))
    async with open_app(crew(planning(), plays("wu", ScriptEntry(steps=steps, text="done"))), clock=clock) as app:
        session = await solve(app, clock, task("a"))
        progress = await facts(app, session, SolverProgressed)
        assert [(fact.done, fact.total, fact.percent, fact.step) for fact in progress] == [
            (1, 2, 50.0, "look"),
            (2, 2, 100.0, "write"),
        ]


@run
async def test_no_delay_before_a_retry_is_no_delay() -> None:
    """With a base delay of 0 a failed task is offered again in the same append."""
    clock = VirtualClock()
    team = crew(planning(), plays("wu", FAIL, "done"), plan=PlanSettings(retry=Retry(base_delay_s=0)))
    async with open_app(team, clock=clock) as app:
        session = await solve(app, clock, task("a"))
        assert await answer(app, session) == "all of it"
        happened = await names(app, session)
        failed = happened.index("task.failed")
        assert happened[failed : failed + 4] == [
            "task.failed",
            "error.execution",
            "error.recovery_started",
            "task.dispatch_requested",
        ]
