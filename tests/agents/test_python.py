"""Members written in Python: coroutines, generators, and functions that a team file names."""

from collections.abc import AsyncIterator

import pytest

import moot
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.python import AgentFunction, PythonAgent, PythonMember
from moot.app import open_app
from moot.config.team_file import MemberSpec
from moot.core.flows.turns import TurnInput
from moot.core.session.events import MessagePosted, TurnCompleted, TurnFailed, TurnStepped
from moot.core.session.team import Kind
from moot.core.session.usage import Usage
from moot.runtime.ports import Delta, Output, Result, Step
from moot.testing import VirtualClock, human, make_team, scripted
from tests.agents import functions
from tests.runtime.apps import facts, run, say

TEAM = make_team(human("alice"), scripted("bob", "the script"))


async def reply(played_by: AgentFunction, text: str = "[NEXT: bob] hello") -> str | None:
    """What bob says when this function plays him."""
    async with open_app(TEAM, agents={"bob": played_by}, clock=VirtualClock()) as app:
        session = await app.session()
        await say(session, text)
        return next((m.text for m in await facts(app, session, MessagePosted) if m.member == "bob"), None)


@run
async def test_what_a_function_returns_is_the_turn() -> None:
    """Text or a Result is said, nothing says nothing, anything else is a failed turn."""

    async def text(turn: TurnInput) -> str:
        return "text"

    async def result(turn: TurnInput) -> Result:
        return Result(text="result")

    async def nothing(turn: TurnInput) -> None:
        pass

    assert await reply(text) == "text"
    assert await reply(result) == "result"
    assert await reply(nothing) is None


@run
async def test_what_a_generator_yields_is_joined() -> None:
    """Text and deltas are one message in the end; a Result ends the turn and is all of it."""

    async def pieces(turn: TurnInput) -> AsyncIterator[str | Delta | None]:
        yield "a"
        yield None
        yield Delta("b")
        yield "c"

    async def early(turn: TurnInput) -> AsyncIterator[str | Result]:
        yield "draft"
        yield Result(text="final")
        yield "never seen"

    async def silent(turn: TurnInput) -> AsyncIterator[str]:
        return
        yield

    assert await reply(pieces) == "abc"
    assert await reply(early) == "final"
    assert await reply(silent) is None


@pytest.mark.parametrize("streams", [True, False])
@run
async def test_what_nobody_can_say_is_a_failed_turn(streams: bool) -> None:
    """A function that returns or yields something else is told what it may."""

    async def returns(turn: TurnInput) -> object:
        return 42

    async def yields(turn: TurnInput) -> AsyncIterator[object]:
        yield 42

    agents = {"bob": yields if streams else returns}
    async with open_app(TEAM, agents=agents, clock=VirtualClock()) as app:  # type: ignore[arg-type]
        session = await app.session()
        await say(session, "[NEXT: bob] hello")
        (failed,) = await facts(app, session, TurnFailed)
        assert "int" in failed.message
        assert "text, a" in failed.message


@run
async def test_a_member_sees_the_conversation() -> None:
    """The turn has the newest message, the history, the team's task, itself and who can be addressed."""
    seen: list[TurnInput] = []

    async def look(turn: TurnInput) -> str:
        seen.append(turn)
        return ""

    await reply(look, "[TEAM_TASK: win][NEXT: bob] hello")
    (turn,) = seen
    assert turn.message is not None
    assert (turn.message.member, turn.team_task, turn.language, turn.index) == ("alice", "win", "en", 0)
    assert turn.member.id == "bob"
    assert [member.id for member in turn.addressable] == ["alice", "bob"]


@run
async def test_a_generator_is_closed_when_its_turn_is_over() -> None:
    """Its clean-up runs before the turn counts as ended."""
    closed: list[str] = []

    class Careful:
        async def act(self, turn: TurnInput) -> AsyncIterator[Output]:
            try:
                yield Result(text="done")
                yield Step(thought="never")
            finally:
                closed.append(turn.turn_id)

    async with open_app(TEAM, agents={"bob": Careful()}, clock=VirtualClock()) as app:  # type: ignore[dict-item]
        session = await app.session()
        async for event in session.say("[NEXT: bob] hello"):
            assert event.name != "turn.completed" or closed == ["t1"]
        assert closed == ["t1"]


def test_the_decorator_makes_a_member_of_a_function() -> None:
    """It keeps name and docstring, can still be called, and refuses what is not async."""
    member = moot.agent(functions.greet)
    assert isinstance(member, PythonMember)
    assert (member.__name__, member.__doc__) == ("greet", "Says who spoke last.")
    with pytest.raises(TypeError, match="plain is no async function"):
        moot.agent(functions.plain)  # type: ignore[arg-type]


def named(call: str) -> MemberSpec:
    return MemberSpec(id="bob", kind=Kind.AI, agent=PythonAgent(call=call))


@run
async def test_a_team_file_names_a_function() -> None:
    """`call: package.module:function` finds plain async functions and decorated ones."""
    expected = {"greet": "hello alice", "stream": "one two", "count": "counted"}
    for name, text in expected.items():
        team = make_team(human("alice"), named(f"tests.agents.functions:{name}"))
        async with open_app(team, clock=VirtualClock()) as app:
            session = await app.session()
            await say(session, "[NEXT: bob] hello")
            assert (await facts(app, session, MessagePosted))[-1].text == text
            if name == "stream":
                assert [step.thought for step in await facts(app, session, TurnStepped)] == ["two?"]
            if name == "count":
                (turn,) = await facts(app, session, TurnCompleted)
                assert turn.usage == Usage(input_tokens=3, output_tokens=4, cost_usd=0.5)


WRONG_NAMES = {
    "no.such.module:function": "No module named 'no'",
    "tests.agents.functions:missing": "missing",
    "tests.agents.functions:plain": "async function",
    "tests.agents.functions:NOTHING": "async function",
    "tests.agents.functions": "package.module:function",
    ":greet": "package.module:function",
    "": "package.module:function",
}


@pytest.mark.parametrize("call", WRONG_NAMES)
@run
async def test_a_wrong_name_is_a_failed_turn(call: str) -> None:
    """The turn says what is wrong with the name; the session waits for the human and goes on."""
    team = make_team(human("alice"), named(call), scripted("carol", "I am here"))
    async with open_app(team, clock=VirtualClock()) as app:
        session = await app.session()
        await say(session, "[NEXT: bob, carol] hello")
        (failed,) = await facts(app, session, TurnFailed)
        assert failed.error_type == "config"
        assert WRONG_NAMES[call] in failed.message
        await say(session, "go on")
        assert (await facts(app, session, MessagePosted))[-1].text == "I am here"


@run
async def test_what_cannot_be_played_is_a_failed_turn() -> None:
    """An agent that is not to be had says so instead of being silent."""
    team = make_team(human("alice"), MemberSpec(id="bob", kind=Kind.AI, agent=LlmAgent(model="provider:name")))
    async with open_app(team, clock=VirtualClock()) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] hello")
        (failed,) = await facts(app, session, TurnFailed)
        assert failed.error_type == "config"
        assert "provider:name" in failed.message


@run
async def test_an_agent_given_by_hand_beats_the_file() -> None:
    """`agents=` plays a member whatever the team file says."""

    async def by_hand(turn: TurnInput) -> str:
        return "by hand"

    assert await reply(by_hand) == "by hand"
