"""Workers that ask people in the middle of a turn, in a running session. Time is virtual."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents.python import agent
from moot.app import App, Session, open_app
from moot.core import limits
from moot.core.flows.turns import TurnInput
from moot.core.machines.session import Status
from moot.core.session.commands import Answer, CancelTurn, Pause, Resume
from moot.core.session.events import MessagePosted, Option, StepAsked, StepClosed, TurnFailed
from moot.runtime.ports import Ask, Output, Result
from moot.testing import VirtualClock
from tests.agents.turns import chat_turn
from tests.runtime.apps import TRIO, facts, has, names, run, say, settle, until
from tests.runtime.plans import answer as final_answer
from tests.runtime.plans import crew, planning, plays, solve, task

TURN_TIMEOUT_S = 1_800
OPTIONS = (Option(id="once", label="Allow once"), Option(id="no", label="No"))


class Asker:
    """Asks for these permissions, one after the other, and says what it was told."""

    def __init__(self, *questions: str) -> None:
        self.questions = questions
        self.told: list[str | None] = []
        self.killed = 0

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        yield Result(text="nobody gave me a way to ask")

    async def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        try:
            for question in self.questions:
                self.told.append(await ask(question, OPTIONS, default="no"))
        except asyncio.CancelledError:
            self.killed += 1
            raise
        yield Result(text=f"told {self.told}")


async def asked(app: App, session: Session, times: int = 1) -> StepAsked:
    """Wait for a question; the newest."""
    await has(app, session, "agent.user_confirm", times)
    return (await facts(app, session, StepAsked))[-1]


async def last_words(app: App, session: Session) -> str:
    return (await facts(app, session, MessagePosted))[-1].text


@run
async def test_a_person_s_answer_reaches_the_agent() -> None:
    """The turn waits, the session stays active, the first answer counts, and the turn goes on with it."""
    bob = Asker("rm a", "rm b")
    async with open_app(TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        step = await asked(app, session)
        assert (await session.state()).status is Status.ACTIVE
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        step = await asked(app, session, 2)
        await session.submit(Answer(step_id=step.step_id, choice="no"))
        assert (await saying)[-1] == "session.paused"
        assert await last_words(app, session) == "told ['once', 'no']"


@run
async def test_nobody_s_answer_is_a_no_and_the_turn_s_time_waits() -> None:
    """A team may limit the time for a question. It does not count against the turn's own time, which begins anew."""
    clock, bob = VirtualClock(), Asker(*[f"rm {n}" for n in range(10)])
    async with open_app(replace(TRIO, permission_timeout_s=300), agents={"bob": bob}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        for n in range(10):  # 50 minutes in all, the turn has 30
            await asked(app, session, n + 1)
            await clock.advance(300)
        await saying
        assert bob.told == ["no"] * 10
        assert {each.outcome for each in await facts(app, session, StepClosed)} == {"expired"}
        assert not await facts(app, session, TurnFailed)


@run
async def test_after_the_answer_the_turn_has_its_time_again() -> None:
    """An agent that hangs then is ended as ever."""

    async def hang(_: TurnInput, ask: Ask) -> str:
        await ask("rm x")
        await asyncio.Event().wait()
        return ""

    clock = VirtualClock()
    async with open_app(TRIO, agents={"bob": hang}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        step = await asked(app, session)
        await clock.advance(100)
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await clock.advance(TURN_TIMEOUT_S - 1)
        assert not saying.done()
        await clock.advance(1)
        await saying
        assert (await facts(app, session, TurnFailed))[0].error_type == "timeout"


@run
async def test_a_cancelled_turn_withdraws_its_question() -> None:
    """The agent is stopped while it waits; the question is superseded."""
    bob = Asker("rm a")
    async with open_app(TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await asked(app, session)
        await session.submit(CancelTurn())
        await saying
        await until(lambda: bob.killed == 1)
        assert [each.outcome for each in await facts(app, session, StepClosed)] == ["superseded"]


@pytest.mark.parametrize("is_answered", [False, True])
@run
async def test_a_crash_asks_once(is_answered: bool, tmp_path: Path) -> None:
    """The turn runs again and asks again: the question is the same one, an answer that was given is given again."""
    hold = asyncio.Event()

    async def slow(_: TurnInput, ask: Ask) -> str:
        await ask("rm a", OPTIONS, default="no")
        hold.set()
        await asyncio.Event().wait()
        return ""

    async with open_app(TRIO, data=tmp_path, agents={"bob": slow}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        step = await asked(app, session)
        if is_answered:
            await session.submit(Answer(step_id=step.step_id, confirmed=True))
            await hold.wait()
        saying.cancel()
    bob = Asker("rm a")
    async with open_app(TRIO, data=tmp_path, agents={"bob": bob}) as app:
        assert await app.recover() == 1
        session = await app.session(session.id)
        if not is_answered:
            await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await settle(session)
        assert (await names(app, session)).count("agent.user_confirm") == 1
        assert await last_words(app, session) == "told ['once']"


@run
async def test_what_a_turn_does_not_ask_again_after_a_crash_is_withdrawn(tmp_path: Path) -> None:
    """The turn runs again and wants something else: the first question waits for nobody and is closed at once."""
    async with open_app(TRIO, data=tmp_path, agents={"bob": Asker("rm a")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        old = await asked(app, session)
        saying.cancel()
    async with open_app(TRIO, data=tmp_path, agents={"bob": Asker("rm b")}) as app:
        await app.recover()
        session = await app.session(session.id)
        await has(app, session, "agent.user_confirm_closed")
        (closed,) = await facts(app, session, StepClosed)
        assert (closed.step_id, closed.outcome) == (old.step_id, "superseded")
        (step,) = (await session.state()).open_steps.values()
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await settle(session)
        assert await last_words(app, session) == "told ['once']"


@run
async def test_a_task_asks_while_others_go_on() -> None:
    """In a plan nobody else waits for the answer, and the work is complete when it has come."""
    clock, wes = VirtualClock(), Asker("rm a")
    team = crew(planning(), plays("wes"), plays("vic", "vic was quick"))
    async with open_app(team, agents={"wes": wes}, clock=clock) as app:
        session = await solve(app, clock, task("a", member="wes"), task("b", member="vic"))
        step = await asked(app, session)
        await has(app, session, "solver.completed")
        assert step.turn_id in ("d1", "d2")
        await session.submit(Answer(step_id=step.step_id, choice="once"))
        await settle(session)
        assert wes.told == ["once"]
        assert await final_answer(app, session)


@run
async def test_a_planner_that_is_paused_asks_again() -> None:
    """A pause stops the turn; going on, it runs again and is told at once what was answered meanwhile."""
    clock, pam = VirtualClock(), Asker("read the web")
    team = crew(plays("pam", role="planner"), plays("wes"))
    async with open_app(team, agents={"pam": pam}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "write a report about the moon"))
        step = await asked(app, session)
        await session.submit(Pause())
        await clock.advance(limits.PAUSE_GRACE_S)
        await saying
        assert pam.killed == 1
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await session.submit(Resume())
        await until(lambda: pam.told == ["once"])
        assert (await names(app, session)).count("agent.user_confirm") == 1


@run
async def test_two_who_ask_the_same_share_the_answer() -> None:
    """One question, however often it is asked in a turn; who stops waiting takes it from nobody."""

    async def twice(_: TurnInput, ask: Ask) -> str:
        first, second = (asyncio.create_task(ask("rm x", key="k")) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        return f"{await second} {await ask('the same', key='k')}"

    async with open_app(TRIO, agents={"bob": twice}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        step = await asked(app, session)
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await saying
        assert await last_words(app, session) == "allow allow"
        assert len(await facts(app, session, StepAsked)) == 1


def test_a_function_that_nobody_can_ask_for_is_told_no() -> None:
    """`act` alone, as others call it, comes without people: the default."""

    @agent
    async def careful(_: TurnInput, ask: Ask) -> str:
        return f"{await ask('rm x')} {await ask('rm x', OPTIONS, default='no')}"

    async def act() -> list[Output]:
        return [output async for output in careful.act(chat_turn(("alice", "tidy up")))]

    assert asyncio.run(act()) == [Result(text="None no")]
