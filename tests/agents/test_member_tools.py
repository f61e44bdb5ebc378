"""Moot's own tools in sessions: python and llm members ask, hand over and are answered, also after a restart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from moot.agents.python import agent
from moot.app import App, Session, open_app
from moot.core.codec import Event
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer
from moot.core.session.desk_events import FileShown, MemberAnswered, TurnParked, TurnUnparked
from moot.core.session.events import MessagePosted, StepAsked, TurnFailed
from moot.core.session.state import State
from moot.runtime.desk import CALL_S
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import facts, run, until

Call = Callable[..., Awaitable[str]]

TEAM = make_team(human("alice"), scripted("bob", "unused"), scripted("carol", "Use 3.11 [NEXT: alice]"))


async def until_state(session: Session, holds: Callable[[State], object]) -> None:
    async def look() -> bool:
        return bool(holds(await session.state()))

    await until(look)


async def said(app: App, session: Session) -> list[tuple[str, str]]:
    return [(fact.member, fact.text) for fact in await facts(app, session, MessagePosted)]


@run
async def test_a_function_asks_people_and_waits() -> None:
    """The answer that comes in time is what the function gets."""

    async def bob(turn: TurnInput, ask_human: Call) -> str:
        return "I take " + await ask_human("Which database?", ["sqlite", "postgres"])

    async with open_app(TEAM, agents={"bob": bob}, clock=VirtualClock()) as app:
        session = await app.session()
        asking = asyncio.ensure_future(_drain(session.say("[NEXT: bob] go")))
        await until_state(session, lambda state: state.open_steps)
        (step,) = await facts(app, session, StepAsked)
        await session.submit(Answer(step_id=step.step_id, choice="postgres", by="alice"))
        await asking
        assert (await said(app, session))[-1] == ("bob", "I take postgres")


@run
async def test_a_function_asks_a_team_mate_and_hands_over() -> None:
    """The team-mate answers in an aside; its markers route nobody, the hand-over does."""
    heard: list[str] = []

    async def bob(turn: TurnInput, ask_member: Call, hand_over: Call, show_file: Call) -> str:
        heard.append(await ask_member("carol", "Which version?"))
        await hand_over("carol", "go on")
        return "done"

    async with open_app(TEAM, agents={"bob": bob}, clock=VirtualClock()) as app:
        session = await app.session()
        await _drain(session.say("[NEXT: bob] go"))
        assert heard == ["Use 3.11"]
        assert [member for member, _ in await said(app, session)] == ["alice", "bob", "carol"]
        assert [fact.to for fact in await facts(app, session, MemberAnswered)] == ["bob"]


@run
async def test_an_answer_after_fifty_seconds_starts_the_next_turn_also_after_a_restart(tmp_path: Path) -> None:
    """The call returns, the turn ends, the process ends; the answer is a message to the member, and its next turn."""
    told: list[str] = []
    clock = VirtualClock()

    async def bob(turn: TurnInput, ask_human: Call) -> str:
        if turn.index:
            return f"so it is {turn.message.text if turn.message else None}"
        told.append(await ask_human("Which database?"))
        return "I have asked."

    async with open_app(TEAM, agents={"bob": bob}, clock=clock, data=tmp_path) as app:
        session = await app.session()
        asking = asyncio.ensure_future(_drain(session.say("[NEXT: bob] go")))
        await until_state(session, lambda state: state.open_steps)
        await clock.advance(CALL_S)
        await asking
        assert told == ["asked; end your turn, the answer will be your next message"]
    async with open_app(TEAM, agents={"bob": bob}, clock=clock, data=tmp_path) as app:
        session = await app.session(session.id)
        await _drain(session.say("postgres"))
        assert (await said(app, session))[-2:] == [("alice", "postgres"), ("bob", "so it is postgres")]


@run
async def test_a_usage_limit_of_three_hours_is_survived_across_a_restart(tmp_path: Path) -> None:
    """The turn is parked, waits in wall time through a restart, and goes on by itself under the same id."""
    clock, runs = VirtualClock(), []

    async def bob(turn: TurnInput) -> str:
        runs.append(turn.turn_id)
        if len(runs) == 1:
            raise AgentError("rate_limit", "usage limit reached", retry_after_s=3 * 3600.0)
        return "here I am again"

    async with open_app(TEAM, agents={"bob": bob}, clock=clock, data=tmp_path) as app:
        session = await app.session()
        following = asyncio.ensure_future(_drain(session.say("[NEXT: bob] go")))
        await until_state(session, lambda state: state.parked)
        await clock.advance(3600.0)
        following.cancel()
    async with open_app(TEAM, agents={"bob": bob}, clock=clock, data=tmp_path) as app:
        assert await app.recover() == 1
        session = await app.session(session.id)
        await clock.advance(3599.0)
        assert runs == ["t1"]
        await clock.advance(3602.0)
        await until_state(session, lambda state: state.is_settled)
        assert runs == ["t1", "t1"]
        assert (await said(app, session))[-1] == ("bob", "here I am again")
        assert len(await facts(app, session, TurnParked)) == len(await facts(app, session, TurnUnparked)) == 1


@run
async def test_blocked_and_shown(tmp_path: Path) -> None:
    """A file of the folder is stored by its hash; a member that is blocked fails with its reason."""
    (tmp_path / "plan.md").write_text("# plan")

    async def bob(turn: TurnInput, show_file: Call, report_blocked: Call) -> str:
        await show_file(str(tmp_path / "plan.md"), "a draft")
        await report_blocked("no access to the server")
        return "sorry"

    async with open_app(TEAM, agents={"bob": agent(bob, tmp_path)}, clock=VirtualClock()) as app:
        session = await app.session()
        await _drain(session.say("[NEXT: bob] go"))
        (shown,) = await facts(app, session, FileShown)
        assert (shown.path, shown.file.media_type, shown.caption) == ("plan.md", "text/plain", "a draft")
        (failed,) = await facts(app, session, TurnFailed)
        assert (failed.error_type, failed.message) == ("blocked", "no access to the server")


async def _drain(events: AsyncIterator[Event]) -> None:
    async for _ in events:
        pass
