"""Testing teams with moot.testing: rules without an event loop, timeouts without waiting.

Run it: `pytest examples/03_test_a_team.py`
"""

import asyncio

import moot
from moot.testing import VirtualClock, given, human, make_team, scripted

TEAM = make_team(human("ann"), scripted("bob", "A draft. [NEXT: carol]"), scripted("carol", "Fine."))


def test_the_floor_comes_back_to_ann() -> None:
    """Given / when / then on the pure core: you play the AIs, no agent runs."""
    session = given(TEAM.team()).says("[NEXT: bob, dora] a poster, please")
    assert session.notices == ["⚠️ 'dora' is not in this team, skipped"]
    session.replies("Here it is. [NEXT: carol]").replies("Fine.")
    session.then("turn.completed", "message.posted", "routing.decided", "queue.changed", "session.paused")
    assert session.state.waiting_for == "ann"


def test_an_empty_message_is_refused() -> None:
    """A refusal has a stable code and a sentence; it changes nothing."""
    session = given(TEAM.team()).says("   ").refused("empty_message")
    assert session.refusal_text.startswith("Message content cannot be empty")


def test_a_member_that_hangs_times_out_after_half_an_hour() -> None:
    """The real timeout of 1,800 s, tested in milliseconds: the clock moves when you move it."""
    asyncio.run(play_a_timeout())


async def play_a_timeout() -> None:
    @moot.agent
    async def sleeper(turn: moot.Turn) -> None:  # noqa: ARG001 - it gets the turn and does nothing with it
        await asyncio.Event().wait()

    clock = VirtualClock()
    async with moot.open(TEAM, agents={"bob": sleeper}, clock=clock) as app:
        session = await app.session()

        async def talk() -> list[str]:
            return [event.name async for event in session.say("[NEXT: bob] are you there?")]

        talking = asyncio.create_task(talk())
        await clock.advance(1_799)
        assert not talking.done()
        await clock.advance(1)
        assert (await talking)[-4:] == ["turn.failed", "queue.changed", "notice.posted", "session.paused"]
        assert (await session.view()).pause_reason == "agent_timeout"
