"""Scripted members play what surfaces says, in its order, from where the log says they are."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents.script import MOCK_SLOW_S, ScriptAgent, ScriptEntry, ScriptError, ScriptStep
from moot.app import App, Session, open_app
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core.flows.plan.plan_events import DispatchNacked, TaskFailed
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.plan.plan_settings import Retry as RetrySettings
from moot.core.session.commands import CancelTurn, Retry
from moot.core.session.events import MessagePosted, TurnCompleted, TurnFailed, TurnStarted, TurnStepped
from moot.core.session.usage import Usage
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import facts, has, names, run, say, settle
from tests.runtime.plans import crew, planning, solve, task

ALL_KINDS = Path(__file__).parents[1] / "data" / "teams" / "good" / "script.yaml"


def team_of(*replies: str | ScriptEntry, when_exhausted: str = "repeat") -> TeamFile:
    return make_team(human("alice"), scripted("bob", *replies, when_exhausted=when_exhausted))  # type: ignore[arg-type]


async def said(app: App, session: Session) -> list[str]:
    """What bob said."""
    return [message.text for message in await facts(app, session, MessagePosted) if message.member == "bob"]


async def ask(session: Session, times: int) -> None:
    for _ in range(times):
        await say(session, "[NEXT: bob] and now?")


EXHAUSTED = [
    ("repeat", ("one", "two"), ["one", "two", "two", "two"], 0),
    ("empty", ("one", "two"), ["one", "two"], 0),
    ("error", ("one", "two"), ["one", "two"], 2),
    ("repeat", (), [], 0),
    ("empty", (), [], 0),
    ("error", (), [], 4),
]


@pytest.mark.parametrize(("when_exhausted", "replies", "expected", "failures"), EXHAUSTED)
@run
async def test_what_follows_the_last_reply(
    when_exhausted: str, replies: tuple[str, ...], expected: list[str], failures: int
) -> None:
    """Replies are played in order; then the last one again, nothing, or an error. `replies: []` is valid."""
    async with open_app(team_of(*replies, when_exhausted=when_exhausted)) as app:
        session = await app.session()
        await ask(session, times=4)
        assert await said(app, session) == expected
        assert len(await facts(app, session, TurnFailed)) == failures
        assert len(await facts(app, session, TurnCompleted)) == 4 - failures
        assert (await session.state()).waiting_for == "alice"


@run
async def test_a_script_that_has_ended_refuses_no_task() -> None:
    """`when_exhausted: error` fails the execution, which is recovered from; nobody nacked the offer."""
    worker = scripted("wu", when_exhausted="error", role="executor")
    clock, once = VirtualClock(), PlanSettings(retry=RetrySettings(max_attempts=1))
    async with open_app(crew(planning(), worker, plan=once), clock=clock) as app:
        session = await solve(app, clock, task("a"))
        await clock.advance(1)
        assert await facts(app, session, DispatchNacked) == []
        assert [each.error_type for each in await facts(app, session, TaskFailed)] == ["agent", "agent"]


@run
async def test_a_nack_refuses_before_anything_else() -> None:
    """The reason is told at once: no waiting, no steps, no result."""
    entry = ScriptEntry(nack="busy", delay_s=60, steps=(ScriptStep(thought="no"),), hang=True, text="no")
    async with open_app(team_of(entry), clock=VirtualClock()) as app:
        session = await app.session()
        await ask(session, times=1)
        (failed,) = await facts(app, session, TurnFailed)
        assert (failed.error_type, failed.message) == ("nack", "busy")
        assert await facts(app, session, TurnStepped) == []


ENDS = {
    "result": (ScriptEntry(text="result"), "turn.completed"),
    "error": (ScriptEntry(error=ScriptError(type="network", message="gone"), hang=True, text="no"), "turn.failed"),
    "hang": (ScriptEntry(hang=True, text="no"), "turn.failed"),
}


@pytest.mark.parametrize("end", ENDS)
@run
async def test_first_the_delay_then_the_steps_then_the_end(end: str) -> None:
    """An error beats hanging, hanging beats a result; a turn that hangs ends at its timeout only."""
    entry, expected = ENDS[end]
    steps = (ScriptStep(thought="hm"), ScriptStep(action="look"), ScriptStep(observation="a tree"))
    clock = VirtualClock()
    async with open_app(team_of(replace(entry, delay_s=90, steps=steps)), clock=clock) as app:
        session = await app.session()
        asking = asyncio.create_task(ask(session, times=1))
        await clock.advance(89.999)
        assert (await names(app, session))[-2:] == ["turn.started", "queue.changed"]
        await clock.advance(0.001)
        assert len(await facts(app, session, TurnStepped)) == 3
        if end == "hang":
            assert not asking.done()
            await clock.advance(1_800)
        await asking
        happened = await names(app, session)
        last_step = len(happened) - happened[::-1].index("turn.step")
        assert happened[last_step] == expected
        if end == "error":
            (failed,) = await facts(app, session, TurnFailed)
            assert (failed.error_type, failed.message) == ("network", "gone")
        stepped = [(step.thought, step.action, step.observation) for step in await facts(app, session, TurnStepped)]
        assert stepped == [("hm", None, None), (None, "look", None), (None, None, "a tree")]


@run
async def test_usage_is_recorded_as_given() -> None:
    """turn.completed carries the usage; without any it is zero."""
    usage = Usage(input_tokens=5, output_tokens=6, cost_usd=0.01)
    async with open_app(team_of(ScriptEntry(text="a", usage=usage), "b")) as app:
        session = await app.session()
        await ask(session, times=2)
        assert [turn.usage for turn in await facts(app, session, TurnCompleted)] == [usage, Usage()]
        spent = (await session.state()).spent
        assert (spent.turns, spent.tokens, spent.cost_usd) == (2, 11, 0.01)


@run
async def test_a_file_is_played_as_it_is_written() -> None:
    """Every kind of entry, from YAML: text, steps, usage, an error, a refusal, the last one again."""
    async with open_app(load_team(ALL_KINDS), clock=VirtualClock()) as app:
        session = await app.session()
        await ask(session, times=6)
        assert await said(app, session) == ["plain text", "an object", "the last", "the last"]
        failed = [(turn.error_type, turn.message) for turn in await facts(app, session, TurnFailed)]
        assert failed == [("network", "gone"), ("nack", "busy")]
        assert [turn.usage.input_tokens for turn in await facts(app, session, TurnCompleted)] == [0, 5, 0, 0]


@run
async def test_the_position_is_in_the_log(tmp_path: Path) -> None:
    """Each restart goes on where the script was, in each session by itself."""
    team = team_of("one", "two", "three")
    ids = []
    async with open_app(team, data=tmp_path) as app:
        for _ in range(2):
            session = await app.session()
            ids.append(session.id)
            await ask(session, times=1)
    for expected in (["one", "two"], ["one", "two", "three"]):
        async with open_app(team, data=tmp_path) as app:
            session = await app.session(ids[0])
            await ask(session, times=1)
            assert await said(app, session) == expected
    async with open_app(team, data=tmp_path) as app:
        session = await app.session(ids[1])
        await ask(session, times=1)
        assert await said(app, session) == ["one", "two"]


@run
async def test_an_interrupted_turn_keeps_its_position(tmp_path: Path) -> None:
    """A turn that a dead process left is played again from its own entry, not from the next one."""
    async with open_app(team_of("one", ScriptEntry(hang=True)), data=tmp_path) as app:
        session = await app.session()
        await ask(session, times=1)
        asking = asyncio.create_task(ask(session, times=1))
        await has(app, session, "turn.started", times=2)
        asking.cancel()
    async with open_app(team_of("one", "two", "three"), data=tmp_path) as app:
        session = await app.session(session.id)
        await settle(session)
        await ask(session, times=1)
        assert await said(app, session) == ["one", "two", "three"]
        assert [turn.index for turn in await facts(app, session, TurnStarted)] == [0, 1, 2]


@run
async def test_failed_and_cancelled_turns_count() -> None:
    """The position is the number of earlier turns, however they ended: a retry plays the next entry."""
    replies = (ScriptEntry(error=ScriptError(type="agent", message="no")), ScriptEntry(hang=True), "three")
    async with open_app(team_of(*replies), clock=VirtualClock()) as app:
        session = await app.session()
        await ask(session, times=1)
        await session.submit(Retry())
        await has(app, session, "turn.started", times=2)
        await session.submit(CancelTurn())
        await session.submit(Retry())
        await settle(session)
        assert await said(app, session) == ["three"]


@run
async def test_positions_belong_to_a_member() -> None:
    """Two members with scripts of their own do not disturb each other."""
    team = make_team(human("alice"), scripted("bob", "b1", "b2"), scripted("carol", "c1", "c2"))
    async with open_app(team) as app:
        session = await app.session()
        await say(session, "[NEXT: bob, carol, bob, carol] go")
        texts = [message.text for message in await facts(app, session, MessagePosted)]
        assert texts[1:] == ["b1", "c1", "b2", "c2"]


def test_a_reply_may_be_text_or_an_object() -> None:
    """`scripted` takes both, as the team file does."""
    agent = team_of("a", ScriptEntry(text="b")).agents()["bob"]
    assert agent == ScriptAgent(replies=("a", ScriptEntry(text="b")))


@run
async def test_a_human_may_tell_it_to_fail_or_to_be_slow() -> None:
    """`/mock fail` and `/mock slow` count for the turn that answers them; what an AI says does not."""
    clock = VirtualClock()
    team = make_team(
        human("alice"), scripted("bob", "one", "two", "/mock fail [NEXT: carol]"), scripted("carol", "fine")
    )
    async with open_app(team, clock=clock) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] /mock fail")
        (failed,) = await facts(app, session, TurnFailed)
        assert (failed.error_type, failed.message) == ("agent", "/mock fail: it was told to fail")
        asking = asyncio.create_task(say(session, "[NEXT: bob] /mock slow, please"))
        await clock.advance(MOCK_SLOW_S - 0.001)
        assert not await said(app, session)
        await clock.advance(0.001)
        await asking
        assert await said(app, session) == ["two"]
        await say(session, "[NEXT: bob] and now?")
        assert [message.text for message in await facts(app, session, MessagePosted)][-1] == "fine"
