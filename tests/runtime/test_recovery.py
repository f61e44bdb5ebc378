"""What a process leaves behind when it ends at any moment, and what the next one makes of it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.errors import Corrupt, NotFound
from moot.core.flows.chat.chat_slice import ChatSlice
from moot.core.flows.turns import TurnInput
from moot.core.machines.session import Status
from moot.core.session.commands import Answer
from moot.core.session.events import MessagePosted, SessionPaused, TurnCompleted, TurnFailed, TurnStarted
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import TRIO, Puppet, facts, names, read, run, say, settle

OTHERS = make_team(human("dora"), scripted("eve", "hi"), name="other-team")


async def abandon(data: Path, text: str = "[NEXT: bob, carol] hello") -> str:
    """Leave the app while bob acts; the id of the session."""
    bob = Puppet()
    async with open_app(TRIO, data=data, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, text))
        await bob.is_called()
        saying.cancel()
    assert bob.killed == ["t1"]
    return session.id


@run
async def test_an_abandoned_turn_is_run_again(tmp_path: Path) -> None:
    """Parking says nothing in the log; the next process hands out the same turn, which then ends once."""
    session_id = await abandon(tmp_path)
    bob = Puppet()
    async with open_app(TRIO, data=tmp_path, agents={"bob": bob}) as app:
        assert await app.recover() == 1
        turn = await bob.is_called()
        assert (turn.session_id, turn.turn_id, turn.index) == (session_id, "t1", 0)
        session = await app.session(session_id)
        assert [name for name in await names(app, session) if name.startswith("turn.")] == ["turn.started"]
        bob.replies("better late")
        assert [event.name async for event in session.settle()][-1] == "session.paused"
        assert [turn.turn_id for turn in await facts(app, session, TurnStarted)] == ["t1", "t2"]
        assert [turn.turn_id for turn in await facts(app, session, TurnCompleted)] == ["t1", "t2"]
        texts = [message.text.strip() for message in await facts(app, session, MessagePosted)]
        assert texts == ["hello", "better late", "done"]


@run
async def test_what_an_agent_says_while_it_is_stopped_is_no_result(tmp_path: Path) -> None:
    """An agent that answers when the app leaves has not finished its turn: it gets it again."""
    called = asyncio.Event()

    async def stubborn(turn: TurnInput) -> str:
        called.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half of what I wanted to s"
        return "never"

    async with open_app(TRIO, data=tmp_path, agents={"bob": stubborn}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await called.wait()
        saying.cancel()
    async with open_app(TRIO, data=tmp_path) as app:
        session = await app.session(session.id)
        await settle(session)
        assert [message.text for message in await facts(app, session, MessagePosted)] == [" hello", "done"]


@run
async def test_the_queue_survives(tmp_path: Path) -> None:
    """Who waited behind the abandoned turn is still there, in order, and gets the floor."""
    session_id = await abandon(tmp_path, "[NEXT: bob, carol, alice] hello")
    async with open_app(TRIO, data=tmp_path) as app:
        session = await app.session(session_id)
        state = await session.state()
        assert (state.status, state.slice.queue[0]) == (Status.ACTIVE, "bob")
        assert [entry.member for entry in state.part(ChatSlice).entries] == ["carol", "alice"]
        happened = [event.fact async for event in session.settle()]
        assert happened[-1] == SessionPaused(waiting_for="alice", reason="addressed")
        assert [turn.member for turn in await facts(app, session, TurnStarted)] == ["bob", "carol"]


@run
async def test_recovery_may_be_interrupted_again_and_again(tmp_path: Path) -> None:
    """Five processes that end while they recover change nothing: same turn, same head."""
    session_id = await abandon(tmp_path)
    heads = set()
    for _ in range(5):
        bob = Puppet()
        async with open_app(TRIO, data=tmp_path, agents={"bob": bob}) as app:
            assert await app.recover() == 1
            assert (await bob.is_called()).turn_id == "t1"
            heads.add(await app.log.head(session_id))
    assert len(heads) == 1
    async with open_app(TRIO, data=tmp_path) as app:
        assert (await settle(await app.session(session_id))).status is Status.PAUSED


@run
async def test_the_timeout_counts_from_when_the_turn_is_handed_out_again() -> None:
    """A turn that is run again gets its whole time; what the dead process used up is not counted."""
    clock, bob = VirtualClock(), Puppet()
    async with open_app(TRIO, agents={"bob": bob}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await clock.advance(1_000)
        saying.cancel()
        await app.sessions.close()
        await clock.advance(10_000)
        assert bob.killed == ["t1"]
        assert await app.recover() == 1
        await clock.advance(1_799)
        assert await facts(app, session, TurnFailed) == []
        await clock.advance(1)
        assert [failed.error_type for failed in await facts(app, session, TurnFailed)] == ["timeout"]


@run
async def test_an_open_question_survives(tmp_path: Path) -> None:
    """A step that waits for its answer is still open after a restart, and is answered there, once."""
    async with open_app(TRIO, data=tmp_path, agents={"bob": Puppet()}) as app:
        session = await app.session()
        await say(session, "[NEXT: alice, bob] first me")
        await say(session, "/queue clear")
        (step_id,) = (await session.state()).open_steps
        assert (await app.log.sessions())[0].summary.busy
    async with open_app(TRIO, data=tmp_path) as app:
        assert await app.recover() == 1
        session = await app.session(session.id)
        await session.submit(Answer(step_id=step_id, confirmed=True))
        state = await session.state()
        assert (state.part(ChatSlice).entries, state.open_steps) == ((), {})


@run
async def test_only_busy_sessions_of_loaded_teams_are_opened(tmp_path: Path) -> None:
    """A session that waits for a human stays closed, and so does one whose team is not on offer here."""
    busy = await abandon(tmp_path)
    eve = Puppet()
    async with open_app(OTHERS, TRIO, data=tmp_path, agents={"eve": eve}) as app:
        foreign, idle = await app.session(team="other-team"), await app.session(team="test-team")
        assert (await say(idle, "[NEXT: carol] hello"))[-1] == "session.paused"
        saying = asyncio.create_task(say(foreign, "[NEXT: eve] hello"))
        await eve.is_called()
        saying.cancel()
    async with open_app(TRIO, data=tmp_path) as app:
        assert await app.recover() == 1
        assert (await settle(await app.session(busy))).status is Status.PAUSED
        assert [event.name for event in await app.log.read(foreign.id)][-2:] == ["turn.started", "queue.changed"]
        assert await app.recover() == 0


@run
async def test_a_session_of_another_team_fails_clearly() -> None:
    """Who opens it anyway gets a failed turn that names the missing team, not a session that hangs."""
    async with open_app(TRIO, clock=VirtualClock()) as app:
        engine = await app.sessions.create(OTHERS.team())
        session = await app.session(engine.session_id)
        await say(session, "[NEXT: eve] hello")
        (failed,) = await facts(app, session, TurnFailed)
        assert failed.error_type == "config"
        assert "'other-team' is not loaded here" in failed.message


@run
async def test_a_damaged_session_does_not_hurt_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Recovery says which one stays closed and why, and goes on with the rest; opening it raises Corrupt."""
    damaged, sound = await abandon(tmp_path), await abandon(tmp_path)
    with sqlite3.connect(tmp_path / "moot.db") as connection:
        query = "SELECT a.id, data FROM appends a JOIN sessions s ON s.key = session WHERE s.id = ? AND seq = 2"
        row, data = connection.execute(query, (damaged,)).fetchone()
        flipped = bytes([data[40] ^ 1])
        connection.execute("UPDATE appends SET data = ? WHERE id = ?", (data[:40] + flipped + data[41:], row))
    connection.close()
    async with open_app(TRIO, data=tmp_path) as app:
        assert await app.recover() == 1
        assert f"session {damaged} stays closed" in caplog.text
        assert (await settle(await app.session(sound))).status is Status.PAUSED
        with pytest.raises(Corrupt, match="seq 2"):
            await app.session(damaged)
        with pytest.raises(NotFound):
            await app.session("s_nobody")


def damage_summary(data: Path, session_id: str, summary: object) -> None:
    with sqlite3.connect(data / "moot.db") as connection:
        connection.execute("UPDATE sessions SET summary = ? WHERE id = ?", (summary, session_id))
    connection.close()


@pytest.mark.parametrize("damage", [b"", b"{", b'{"title": "\xff"}', b"[]", 7])
@run
async def test_a_busy_session_with_a_damaged_summary_is_recovered(tmp_path: Path, damage: object) -> None:
    """The summary is a cache: where it cannot be read, the events say whether something is outstanding."""
    session_id, sound = await abandon(tmp_path), await abandon(tmp_path)
    damage_summary(tmp_path, session_id, damage)
    async with open_app(TRIO, data=tmp_path) as app:
        assert {listing.session_id for listing in await app.sessions.listings()} == {session_id, sound}
        assert await app.recover() == 2
        session = await app.session(session_id)
        assert (await settle(session)).status is Status.PAUSED
        assert len(await facts(app, session, TurnCompleted)) == 2


@run
async def test_a_damaged_summary_opens_no_session_of_another_team(tmp_path: Path) -> None:
    """A process recovers the sessions of the teams that it has, whatever state their summaries are in."""
    session_id = await abandon(tmp_path)
    damage_summary(tmp_path, session_id, b"")
    async with open_app(OTHERS, data=tmp_path) as app:
        assert await app.recover() == 0
        assert await app.log.read(session_id)


@run
async def test_the_same_log_gives_the_same_state(tmp_path: Path) -> None:
    """After every restart the state is what it was, byte for byte, and the log has not changed."""
    session_id = await abandon(tmp_path)
    seen = []
    for _ in range(2):
        async with open_app(TRIO, data=tmp_path, agents={"bob": Puppet()}) as app:
            session = await app.session(session_id)
            seen.append((await session.state(), [event.data for event in await read(app, session)]))
    assert seen[0] == seen[1]


@run
async def test_nobody_acts_after_the_app_has_closed(tmp_path: Path) -> None:
    """Leaving the app waits until its agents are gone: no task outlives it, however many sessions it had."""
    for _ in range(4):
        await abandon(tmp_path)
    bob, before = Puppet(), asyncio.all_tasks()
    async with open_app(TRIO, data=tmp_path, agents={"bob": bob}) as app:
        assert await app.recover() == 4
        await bob.is_called(4)
    assert len(bob.killed) == 4
    assert asyncio.all_tasks() == before
