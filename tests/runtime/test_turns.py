"""Turns in a running session: timeouts, kills, interjections, pauses, agents that fail. Time is virtual."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moot.app import open_app
from moot.core.errors import AgentError
from moot.core.flows.chat.chat_slice import ChatSlice
from moot.core.flows.registry import show
from moot.core.flows.turns import TurnInput
from moot.core.machines.session import Status
from moot.core.session.commands import CancelTurn, End, Pause, Resume, Retry
from moot.core.session.events import MessagePosted, NoticePosted, SessionPaused, TurnCancelled, TurnFailed, TurnStarted
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Output, Step
from moot.testing import VirtualClock
from tests.runtime.apps import TRIO, Puppet, facts, has, names, run, say, until

TURN_TIMEOUT_S = 1_800


@run
async def test_a_turn_that_takes_too_long_is_ended() -> None:
    """At its timeout, not before: a notice, the queue kept, the floor with the first human, the agent killed."""
    clock, bob = VirtualClock(), Puppet()
    async with open_app(TRIO, agents={"bob": bob}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await bob.is_called()
        await clock.advance(TURN_TIMEOUT_S - 0.001)
        assert not bob.killed
        await clock.advance(0.001)
        assert (await saying)[-4:] == ["turn.failed", "queue.changed", "notice.posted", "session.paused"]
        (failed,) = await facts(app, session, TurnFailed)
        (notice,) = await facts(app, session, NoticePosted)
        (paused,) = await facts(app, session, SessionPaused)
        assert (failed.turn_id, failed.member, failed.error_type) == ("t1", "bob", "timeout")
        assert show(notice, "en") == "Agent bob timed out after 30 minutes"
        assert (paused.waiting_for, paused.reason) == ("alice", "agent_timeout")
        assert bob.killed == ["t1"]
        assert [entry.member for entry in (await session.state()).part(ChatSlice).entries] == ["carol"]


@run
async def test_a_result_after_the_timeout_is_ignored() -> None:
    """An agent that answers while it is being killed changes nothing: the turn has ended once."""

    async def stubborn(turn: TurnInput) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            killed.append(turn.turn_id)
        return "too late [NEXT: carol]"

    clock, killed = VirtualClock(), list[str]()
    async with open_app(TRIO, agents={"bob": stubborn}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await clock.advance(TURN_TIMEOUT_S)
        await saying
        before = await names(app, session)
        await clock.advance(TURN_TIMEOUT_S)
        assert killed == ["t1"]
        assert await names(app, session) == before
        assert before[-1] == "session.paused"


@run
async def test_the_clock_of_a_turn_starts_anew_with_each_turn() -> None:
    """Two turns of 1,700 s each in a chain are no timeout."""
    clock, bob, carol = VirtualClock(), Puppet(), Puppet()
    async with open_app(TRIO, agents={"bob": bob, "carol": carol}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await clock.advance(1_700)
        bob.replies("half")
        await carol.is_called()
        await clock.advance(1_700)
        carol.replies("whole")
        assert "turn.failed" not in await saying


@pytest.mark.parametrize("how", ["cancel", "/end", "[DONE]", "end"])
@run
async def test_stopping_kills_the_running_agent(how: str) -> None:
    """Cancel keeps the session and its queue, the others complete it; either way the agent is cancelled at once."""
    bob = Puppet()
    async with open_app(TRIO, agents={"bob": bob}, clock=VirtualClock()) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await bob.is_called()
        if how == "cancel":
            await session.submit(CancelTurn())
        elif how == "end":
            await session.submit(End())
        else:
            await say(session, how)
        happened = await saying
        await until(lambda: bob.killed == ["t1"])
        assert len(await facts(app, session, TurnCancelled)) == 1
        state = await session.state()
        if how == "cancel":
            assert happened[-1] == "session.paused"
            assert [entry.member for entry in state.part(ChatSlice).entries] == ["carol"]
            assert await say(session, "go on") != []
            assert [turn.member for turn in await facts(app, session, TurnStarted)] == ["bob", "carol"]
        else:
            assert happened[-1] == "session.completed"
            assert (state.status, state.part(ChatSlice).entries, state.running) == (Status.COMPLETED, (), ())


@run
async def test_a_cancelled_turn_can_be_repeated() -> None:
    """Retry starts a new turn of the same member that names the old one."""
    bob = Puppet()
    async with open_app(TRIO, agents={"bob": bob}, clock=VirtualClock()) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        await session.submit(CancelTurn())
        await saying
        await session.submit(Retry())
        again = await bob.is_called(2)
        assert (again.turn_id, again.index) == ("t2", 1)
        assert (await facts(app, session, TurnStarted))[-1].retry_of == "t1"
        bob.replies("now")
        assert [event.name async for event in session.settle()][-1] == "session.paused"


@run
async def test_an_interjection_does_not_stop_the_one_who_acts() -> None:
    """A message sent while an AI acts joins the history, its NEXT the queue; the next AI gets the newest message."""
    bob, carol = Puppet(), Puppet()
    async with open_app(TRIO, agents={"bob": bob, "carol": carol}, clock=VirtualClock()) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        interjecting = asyncio.create_task(say(session, "[NEXT: carol] by the way"))
        await has(app, session, "message.posted", times=2)
        assert not bob.killed
        bob.replies("answer")
        turn = await carol.is_called()
        assert [message.text.strip() for message in turn.history] == ["hello", "by the way", "answer"]
        assert turn.message == turn.history[-1]
        carol.replies("mine")
        assert (await saying)[-1] == (await interjecting)[-1] == "session.paused"


@pytest.mark.parametrize("typed", [True, False])
@run
async def test_pause_lets_the_turn_finish_and_the_queue_wait(typed: bool) -> None:
    """`/pause` as text or as a command: the running turn ends by itself, nobody follows; `/resume` goes on."""
    bob, carol = Puppet(), Puppet()
    async with open_app(TRIO, agents={"bob": bob, "carol": carol}, clock=VirtualClock()) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await bob.is_called()
        if typed:
            asking = asyncio.create_task(say(session, "/pause"))
        else:
            await session.submit(Pause())
        await has(app, session, "session.pause_requested")
        assert not bob.killed
        bob.replies("finished")
        assert (await saying)[-1] == "session.paused"
        if typed:
            await asking
        (paused,) = await facts(app, session, SessionPaused)
        assert (paused.waiting_for, paused.reason) == ("alice", "user_pause")
        assert not carol.turns
        if typed:
            going_on = asyncio.create_task(say(session, "/resume"))
        else:
            await session.submit(Resume())
        await carol.is_called()
        carol.replies("me too")
        if typed:
            assert (await going_on)[-1] == "session.paused"


RAISED = [
    ValueError("bad"),
    AgentError("auth", "check the key NAME"),
    RuntimeError("\x1b[31mred\x1b[0m"),
    ExceptionGroup("several", [OSError("one"), KeyError("two")]),
    AssertionError(),
    MemoryError("much"),
    RecursionError("deep"),
    StopAsyncIteration("over"),
    asyncio.CancelledError("not by us"),
    SystemExit(3),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@run
async def test_whatever_an_agent_raises_is_a_failed_turn(error: BaseException) -> None:
    """Foreign code may raise anything: the turn fails, people are told, the queue is kept and the session goes on."""

    async def faulty(turn: TurnInput) -> str:
        raise error

    async with open_app(TRIO, agents={"bob": faulty}, clock=VirtualClock()) as app:
        session = await app.session()
        happened = await say(session, "[NEXT: bob, carol] hello")
        assert happened[-4:] == ["turn.failed", "queue.changed", "notice.posted", "session.paused"]
        (failed,) = await facts(app, session, TurnFailed)
        assert failed.error_type == ("auth" if isinstance(error, AgentError) else "agent")
        assert "\x1b" not in failed.message
        assert (await session.state()).pause_reason == "agent_error"
        assert (await say(session, "go on"))[-1] == "session.paused"
        assert [message.member for message in await facts(app, session, MessagePosted)] == ["alice", "alice", "carol"]


@run
async def test_an_agent_that_fails_while_it_is_killed_is_cancelled_all_the_same() -> None:
    """Trouble in an agent's clean-up is no second end of the turn and harms no other session."""

    called = asyncio.Event()

    async def messy(turn: TurnInput) -> str:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("clean-up failed")

    async with open_app(TRIO, agents={"bob": messy}, clock=VirtualClock()) as app:
        session, other = await app.session(), await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await called.wait()
        await session.submit(CancelTurn())
        assert (await saying)[-1] == "session.paused"
        assert (await say(other, "[NEXT: carol] hello"))[-1] == "session.paused"
        assert len(await facts(app, session, TurnCancelled)) == 1
        assert await facts(app, session, TurnFailed) == []


@run
async def test_steps_are_logged_while_the_agent_acts() -> None:
    """Each step is an event of its turn, in order, before the turn ends."""

    async def thinker(turn: TurnInput) -> AsyncIterator[Output | str]:
        yield Step(thought="hm")
        yield Step(action="look", observation="a tree")
        yield "a "
        yield "tree"

    async with open_app(TRIO, agents={"bob": thinker}, clock=VirtualClock()) as app:
        session = await app.session()
        happened = await say(session, "[NEXT: bob] what is it?")
        assert happened[happened.index("turn.started") :] == [
            "turn.started",
            "queue.changed",
            "turn.step",
            "turn.step",
            "turn.completed",
            "message.posted",
            "routing.decided",
            "queue.changed",
            "session.paused",
        ]
        assert (await facts(app, session, MessagePosted))[-1].text == "a tree"


@run
async def test_text_after_a_tool_is_a_paragraph_of_its_own() -> None:
    """What is written before and after the use of a tool does not run together while it is shown."""

    async def busy(turn: TurnInput) -> AsyncIterator[Output | str]:
        yield "Reading first."
        yield Step(action="Read: a", tool=ToolUse(id="1", kind="read", title="Read a"))
        yield Step(observation="42", tool=ToolUse(id="1", kind="read", title="Read a", status="completed"))
        yield "Now"
        yield Step(thought="hm")
        yield " the edit."

    shown = list[str]()
    async with open_app(TRIO, agents={"bob": busy}) as app:
        session = await app.session()
        app.streams.listeners.add(lambda _session, _event, frame: shown.append(frame["text"]))
        await say(session, "[NEXT: bob] go")
    assert "".join(shown) == "Reading first.\n\nNow the edit."
