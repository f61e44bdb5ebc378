"""Durations count the time that the server runs; a wall clock that jumps makes nothing early and nothing late."""

import pytest

from moot.app import App, Session
from moot.core.errors import Refused
from moot.core.flows.plan.plan_events import PlanCancelled
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.session.commands import Answer, Post
from moot.core.session.events import StepAsked
from moot.runtime.alarms import REOPENED_S
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock
from tests.runtime.apps import facts, open_on, run
from tests.runtime.plans import answer, crew, planning, plays, task

TEAM = crew(planning(task("a")), plays("wu"), plan=PlanSettings(confirm_timeout_s=300))
HOURS = 3_600.0
WHOLE_S = TEAM.plan.confirm_timeout_s


async def ask(app: App, clock: VirtualClock) -> tuple[Session, StepAsked]:
    """A session that waits for the confirmation of its plan."""
    session = await app.session()
    await session.submit(Post(text="write a report about tea"))
    await clock.advance(0)
    [step] = (await session.state()).open_steps.values()
    assert step.timeout_s == WHOLE_S
    return session, step


async def cancelled(app: App, session: Session) -> bool:
    return bool(await facts(app, session, PlanCancelled))


@pytest.mark.parametrize("jump_s", [6 * HOURS, -6 * HOURS])
@run
async def test_a_question_takes_answers_after_a_jump(jump_s: float) -> None:
    """A question that is shown can be answered, whatever the clock says meanwhile."""
    clock = VirtualClock()
    async with open_on(MemoryLog(), TEAM, clock=clock) as app:
        session, step = await ask(app, clock)
        await clock.advance(10)
        clock.jump(jump_s)
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await clock.advance(600)
        assert await answer(app, session) == "all of it"


@pytest.mark.parametrize("jump_s", [6 * HOURS, -6 * HOURS])
@run
async def test_a_question_expires_after_its_time_of_running(jump_s: float) -> None:
    """A jump neither expires a question nor keeps it open; then an answer is told that it is too late."""
    clock = VirtualClock()
    async with open_on(MemoryLog(), TEAM, clock=clock) as app:
        session, step = await ask(app, clock)
        clock.jump(jump_s)
        await clock.advance(WHOLE_S - 0.001)
        assert not await cancelled(app, session)
        await clock.advance(0.001)
        assert await cancelled(app, session)
        with pytest.raises(Refused, match="confirmation_expired"):
            await session.submit(Answer(step_id=step.step_id, confirmed=True))


@pytest.mark.parametrize(
    ("jump_s", "left_s"), [(0.0, WHOLE_S - 100), (2 * HOURS, REOPENED_S), (-2 * HOURS, WHOLE_S)], ids=str
)
@run
async def test_a_jump_over_a_restart_is_bounded(jump_s: float, left_s: float) -> None:
    """After a restart a question has what the clock leaves of its time: at least a minute, at most the whole of it."""
    log, clock = MemoryLog(), VirtualClock()
    async with open_on(log, TEAM, clock=clock) as app:
        session, _ = await ask(app, clock)
        await clock.advance(100)
    clock.jump(jump_s)
    async with open_on(log, TEAM, clock=clock) as app:
        await app.recover()
        await clock.advance(left_s - 0.001)
        assert not await cancelled(app, session)
        await clock.advance(0.001)
        assert await cancelled(app, session)
