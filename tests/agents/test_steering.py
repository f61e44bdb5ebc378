"""What people write to a member while its turn runs, for every kind of agent that can take it."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.live.live_member import LiveMember
from moot.agents.live.pool import LinkPool
from moot.agents.llm.llm_agent import LlmMember
from moot.agents.permits import PermissionRequest
from moot.agents.python import AgentFunction, Incoming
from moot.agents.run_environment import RunEnvironment
from moot.app import App, Session, open_app
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Post
from moot.core.session.desk_events import MessageDelivered
from moot.core.session.events import MessagePosted, TurnCancelled
from moot.core.session.state import Message
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Delivery, Delta, Output, Result, Step
from moot.testing import VirtualClock, human, make_team, scripted
from tests.agents.fake_models import Call, Reply, fake_models
from tests.agents.llm_members import APIS, KEY, KEYS, make_member
from tests.agents.programs import nothing_left
from tests.agents.test_live_member import make_member as make_live_member
from tests.agents.test_live_member import program  # noqa: F401 - a fixture
from tests.agents.turns import chat_turn
from tests.runtime.apps import facts, run, say, until

TEAM = make_team(human("alice"), scripted("bob", "the script"))
ACP_AGENT = Path(__file__).parent / "acp" / "fake_agent.py"
BLUE = Message("alice", "in blue, please")


async def steer_at(
    member: LlmMember | LiveMember | AcpMember, turn: TurnInput, kind: type[Output]
) -> tuple[str, Delivery | None]:
    """Play a turn and write to it when it first tells something of this kind. Returns its answer, and how it went."""
    how: Delivery | None = None
    is_said = False
    async with aclosing(member.act(turn)) as outputs:
        async for output in outputs:
            if isinstance(output, kind) and not is_said:
                is_said, how = True, await member.steer(turn, BLUE)
            if isinstance(output, Result):
                return output.text, how
    raise AssertionError("no result")


# models


@pytest.mark.parametrize("api", APIS)
@run
async def test_a_model_is_told_between_two_rounds_of_tools(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next request after a tool has the message; there is one answer."""
    for name in KEYS.values():
        monkeypatch.setenv(name, KEY)
    with fake_models(Reply(calls=(Call("add", {"a": 1, "b": 2}),)), "Blue it is.") as models:
        member = make_member(models, api, tools=("tests.agents.functions:add",))
        assert await steer_at(member, chat_turn(("alice", "paint")), Step) == ("Blue it is.", "boundary")
    assert len(models.asked) == 2
    assert "in blue, please" in str(models.asked[1].body)
    assert "in blue, please" not in str(models.asked[0].body)


@run
async def test_a_model_that_calls_no_tool_is_told_after_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once more in the same turn, knows what it said, and both answers are the turn's; all is counted."""
    monkeypatch.setenv(KEYS["openai"], KEY)
    with fake_models("Red it is.", "Blue, then.") as models:
        member = make_member(models, "openai")
        turn = chat_turn(("alice", "paint"))
        assert await steer_at(member, turn, Delta) == ("Red it is.\n\nBlue, then.", "boundary")
    assert "Red it is." in str(models.asked[1].body)
    assert "in blue, please" in models.asked[1].prompt


# programs that stay


@run
async def test_claude_reads_a_line_in_its_turn() -> None:
    """The line is written at once; the agent reads it between two uses of tools."""
    async with LinkPool(SystemClock()) as pool:
        member = make_live_member(pool)
        answer = await steer_at(member, chat_turn(("alice", "WORK")), Step)
    assert answer == ("--session-id steered", "boundary")


@run
async def test_a_message_before_the_program_has_started_is_part_of_the_prompt() -> None:
    """Starting a program takes a while; what is said meanwhile is not put off."""
    async with LinkPool(SystemClock()) as pool:
        member, turn = make_live_member(pool), chat_turn(("alice", "ECHO"))
        playing = asyncio.create_task(_collect(member.act(turn)))
        await until(lambda: (turn.session_id, turn.turn_id) in member._steered)
        assert await member.steer(turn, BLUE) == "now"
        assert "in blue, please" in next(each.text for each in await playing if isinstance(each, Result))


@run
async def test_a_turn_that_is_played_again_outlives_its_older_run() -> None:
    """A job may come back to its worker while the older run is still being stopped: the newer one is told, and ends."""
    async with LinkPool(SystemClock()) as pool:
        member, turn = make_live_member(pool), chat_turn(("alice", "ECHO"))
        key = (turn.session_id, turn.turn_id)
        older = asyncio.create_task(_collect(member.act(turn)))
        await until(lambda: key in member._steered)
        first = member._steered[key]
        newer = asyncio.create_task(_collect(member.act(turn)))
        await until(lambda: member._steered[key] is not first)
        older.cancel()
        await asyncio.wait([older])
        assert await member.steer(turn, BLUE) == "now"
        assert "in blue, please" in next(each.text for each in await newer if isinstance(each, Result))


async def _collect(outputs: AsyncGenerator[Output, None]) -> list[Output]:
    async with aclosing(outputs):
        return [output async for output in outputs]


@run
async def test_a_turn_that_is_over_takes_nothing() -> None:
    """Then the message is for the next one."""
    async with LinkPool(SystemClock()) as pool:
        member, turn = make_live_member(pool), chat_turn(("alice", "hello"))
        await _collect(member.act(turn))
        assert await member.steer(turn, BLUE) is None


@run
async def test_an_acp_agent_is_told_at_the_end_of_its_prompt() -> None:
    """The protocol takes nothing before; the second prompt belongs to the same turn."""
    turn, how = chat_turn(("alice", "hello")), list[Delivery | None]()

    async def permit(_: PermissionRequest) -> bool:
        if not how:
            how.append(await member.steer(turn, BLUE))
        return True

    spec = AcpAgent(command=(sys.executable, "-IS", str(ACP_AGENT), "ask"))
    with nothing_left():
        member = AcpMember(spec, "", RunEnvironment(), permit)
        text = next(each.text for each in await _collect(member.act(turn)) if isinstance(each, Result))
    assert (text.count("selected"), how) == (2, ["boundary"])


# functions


async def paint(turn: TurnInput, messages: Incoming) -> str:
    return f"painted {(await messages.wait())[0].text}"


async def pay_no_heed(turn: TurnInput, messages: Incoming) -> str:
    return await answer_when_told(turn)


async def answer_when_told(turn: TurnInput) -> str:
    if turn.index == 0:
        await until(lambda: bool(TOLD))
    return f"about {turn.message.text if turn.message else None}"


TOLD: list[str] = []


async def _is_queued(session: Session) -> bool:
    return (await session.state()).slice.queue[1] == ("bob",)


async def read(app: App, session: Session) -> tuple[list[str], list[str]]:
    """What bob said, and how messages reached him."""
    said = [fact.text for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]
    return said, [fact.how for fact in await facts(app, session, MessageDelivered)]


@run
async def test_a_function_takes_messages_while_it_runs() -> None:
    """A function with a parameter `messages` has what people write to it, in the same turn."""
    async with open_app(TEAM, agents={"bob": paint}, clock=VirtualClock()) as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] paint"))
        await say(session, "@bob it blue")
        assert await read(app, session) == (["painted @bob it blue"], ["now"])


@pytest.mark.parametrize("function", [answer_when_told, pay_no_heed])
@run
async def test_a_function_that_does_not_take_them_has_another_turn(function: AgentFunction) -> None:
    """The message is not lost: it is what the member's next turn is about."""
    TOLD.clear()
    async with open_app(TEAM, agents={"bob": function}, clock=VirtualClock()) as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] paint"))
        saying = asyncio.create_task(say(session, "@bob it blue"))
        await until(lambda: _is_queued(session))
        TOLD.append("now")
        await saying
        assert await read(app, session) == (["about  paint", "about @bob it blue"], ["next_turn"])


@run
async def test_an_interruption_stops_the_function_and_calls_it_again() -> None:
    """The turn is cancelled at once; the next one is about the new message and knows the old one."""
    TOLD.clear()
    async with open_app(TEAM, agents={"bob": answer_when_told}, clock=VirtualClock()) as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] paint"))
        await say(session, "/interrupt bob stop")
        assert await read(app, session) == (["about stop"], [])
        assert [fact.reason for fact in await facts(app, session, TurnCancelled)] == ["interrupted"]
