"""An engine on a log that is full, slow, contested or gone: nothing that was accepted is lost, nothing hangs."""

import asyncio
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.errors import Conflict, LogError, StorageFull
from moot.core.machines.session import Status
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted, TurnCompleted, TurnStarted
from moot.runtime.engine import STORAGE_RETRY_S
from moot.runtime.journal import APPEND_TRIES
from moot.runtime.ports import CommandKey
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.sqlite import SqliteLog
from moot.testing import VirtualClock, human, make_team, scripted
from moot.testing.clock import rest
from tests.runtime.apps import TRIO, Puppet, facts, has, names, open_on, read, run, say, settle, until
from tests.runtime.broken_logs import ContestedLog, FullLog, SlowLog, UnsureLog


@run
async def test_a_report_waits_for_disk_space() -> None:
    """While the disk is full a turn's end is tried again each second, reads work, and then it is logged once."""
    log, clock, bob = FullLog(), VirtualClock(), Puppet()
    async with open_on(log, TRIO, clock=clock, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await bob.is_called()
        log.is_full = True
        bob.replies("precious")
        await clock.advance(10 * STORAGE_RETRY_S)
        assert log.refusals == 11
        assert (await names(app, session)).count("turn.completed") == 0
        log.is_full = False
        await clock.advance(STORAGE_RETRY_S)
        assert (await saying)[-1] == "session.paused"
        assert [message.text.strip() for message in await facts(app, session, MessagePosted)] == [
            "hello",
            "precious",
            "done",
        ]


@run
async def test_a_human_is_told_that_the_disk_is_full() -> None:
    """A command is not accepted and changes nothing; the same command works when there is room again."""
    log = FullLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        before = await session.state()
        log.is_full = True
        with pytest.raises(StorageFull):
            await session.submit(Post(text="[NEXT: bob] hello"))
        with pytest.raises(StorageFull):
            await app.session()
        assert await session.state() == before
        log.is_full = False
        assert (await say(session, "[NEXT: bob] hello"))[-1] == "session.paused"
        assert len(await facts(app, session, MessagePosted)) == 2


@run
async def test_a_timeout_waits_for_disk_space_too() -> None:
    """A timer that fires on a full disk is not lost: the session does not stay active for ever."""
    log, clock = FullLog(), VirtualClock()
    async with open_on(log, TRIO, clock=clock, agents={"bob": Puppet()}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await clock.advance(1)
        log.is_full = True
        await clock.advance(1_800)
        log.is_full = False
        await clock.advance(1)
        assert (await saying)[-4:] == ["turn.failed", "queue.changed", "notice.posted", "session.paused"]


@run
async def test_leaving_on_a_full_disk_does_not_hang() -> None:
    """An app that closes does not wait for space: what was not logged is still outstanding and is done again."""
    log, bob = FullLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        log.is_full = True
        bob.replies("lost")
        await until(lambda: log.refusals > 0)
        saying.cancel()
    log.is_full = False
    async with open_on(log, TRIO) as app:
        assert await app.recover() == 1
        assert (await settle(await app.session(session.id))).status is Status.PAUSED
        assert [turn.turn_id for turn in await facts(app, session, TurnCompleted)] == ["t1"]


@run
async def test_a_full_sqlite_file(tmp_path: Path) -> None:
    """The real thing: SQLite refuses to grow, the report waits, and is logged when the file may grow again."""
    bob, clock = Puppet(), VirtualClock()
    async with open_app(TRIO, data=tmp_path, agents={"bob": bob}, clock=clock) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        assert isinstance(app.log, SqliteLog)
        assert app.log._writing is not None
        connection = app.log._writing.writer._connection
        assert connection is not None
        limit = connection.execute("PRAGMA max_page_count").fetchone()[0]
        connection.execute("PRAGMA max_page_count = 1")  # no less than it has
        sent = [session.submit(Post(text="x" * 10_000)) for _ in range(100)]
        outcomes = await asyncio.gather(*sent, return_exceptions=True)
        assert any(isinstance(outcome, StorageFull) for outcome in outcomes)
        spoken = len(await facts(app, session, MessagePosted))
        bob.replies("y" * 50_000)
        await clock.advance(5)
        assert (await names(app, session)).count("turn.completed") == 0
        connection.execute(f"PRAGMA max_page_count = {limit}")
        while not saying.done():
            await clock.advance(0.01)
        assert (await saying)[-1] == "session.paused"
        assert len(await facts(app, session, MessagePosted)) == spoken + 1


@run
async def test_nothing_starts_once_the_app_is_leaving() -> None:
    """A result that is on its way to the disk while the app closes is logged; who comes next acts in the next app."""
    log, bob, carol = SlowLog(), Puppet(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob, "carol": carol}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob, carol] hello"))
        await bob.is_called()
        log.gate.clear()
        bob.replies("just in time")
        await until(lambda: log.waiting == 1)
        saying.cancel()
        asyncio.get_running_loop().call_soon(log.gate.set)
    assert carol.turns == []
    carol = Puppet()
    async with open_on(log, TRIO, agents={"bob": bob, "carol": carol}) as app:
        assert await app.recover() == 1
        assert (await carol.is_called()).turn_id == "t2"
        carol.replies("my turn")
        await has(app, session, "turn.completed", times=2)
    assert len(bob.turns) == 1


@run
async def test_who_stops_waiting_does_not_stop_the_command() -> None:
    """A command that is on its way to the disk is acted upon, though its sender has gone."""
    log, bob = SlowLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        log.gate.clear()
        sender = asyncio.create_task(session.submit(Post(text="[NEXT: bob] hello")))
        await until(lambda: log.waiting == 1)
        sender.cancel()
        await asyncio.wait([sender])
        assert sender.cancelled()
        log.gate.set()
        await bob.is_called()
        bob.replies("who called?")
        await has(app, session, "session.paused")
        assert len(await facts(app, session, MessagePosted)) == 2


@run
async def test_a_session_that_is_removed_while_an_ai_acts(caplog: pytest.LogCaptureFixture) -> None:
    """Its result has nowhere to go and is not tried again; followers end, other sessions do not notice."""
    log, bob = MemoryLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session, other = await app.session(), await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        await log.delete(session.id)
        bob.replies("hello?")
        assert "turn.completed" not in await saying
        await rest()
        assert "trying again" not in caplog.text
        assert (await say(other, "[NEXT: carol] hello"))[-1] == "session.paused"


@run
async def test_a_closed_app_takes_no_commands() -> None:
    """An engine that was kept beyond its app says so instead of doing half of it."""
    async with open_on(MemoryLog(), TRIO) as app:
        engine = await app.sessions.open((await app.session()).id)
    with pytest.raises(LogError, match="closed here"):
        await engine.submit(Post(text="hello"))


@run
async def test_two_nodes_on_one_log() -> None:
    """Each catches up on what the other appended before it decides; the log stays dense and both fold the same."""
    log = MemoryLog()
    async with open_on(log, TRIO) as one, open_on(log, TRIO) as two:
        first = await one.session()
        second = await two.session(first.id)
        for n in range(5):
            await first.submit(Post(text=f"one {n}"))
            await second.submit(Post(text=f"two {n}"))
        await first.submit(Post(text="last"))
        await second.submit(Post(text="very last"))
        texts = [message.text for message in await facts(one, first, MessagePosted)]
        assert texts == [text for n in range(5) for text in (f"one {n}", f"two {n}")] + ["last", "very last"]
        assert [event.seq for event in await read(one, first)] == list(range(1, len(await read(one, first)) + 1))
        await first.submit(Post(text="/status"))
        await second.submit(Post(text="/status"))
        assert (await first.state()).history == (await second.state()).history


@run
async def test_the_list_of_sessions_follows_both_nodes() -> None:
    """Who decides again after a conflict lists the session as it is then, though it was so before for this node."""
    log = MemoryLog()
    team = make_team(human("alice"), human("zoe"), scripted("bob"))
    async with open_on(log, team) as one, open_on(log, team) as two:
        first = await one.session()
        await first.submit(Post(text="hello", by="alice"))
        second = await two.session(first.id)
        await first.submit(Post(text="[NEXT: zoe] your turn", by="alice"))
        assert (await log.sessions())[0].summary.waiting_for == "zoe"
        await second.submit(Post(text="thanks", by="zoe"))
        assert (await second.state()).waiting_for == "alice"
        assert (await log.sessions())[0].summary.waiting_for == "alice"


@run
async def test_two_workers_deliver_one_turn() -> None:
    """The first result counts, the second is stale and changes nothing; the list of sessions tells the truth."""
    log, here, there = MemoryLog(), Puppet(), Puppet()
    async with open_on(log, TRIO, agents={"bob": here}) as one, open_on(log, TRIO, agents={"bob": there}) as two:
        first = await one.session()
        second = await two.session(first.id)
        await first.submit(Post(text="[NEXT: bob] hello"))
        await here.is_called()
        assert not there.turns
        await second.submit(Post(text="are you there?"))  # the second node learns of the turn and hands it out too
        await there.is_called()
        assert (await log.sessions())[0].summary.busy
        there.replies("faster")
        await has(two, second, "turn.completed")
        listed = (await log.sessions())[0].summary
        assert (listed.busy, listed.status, listed.waiting_for) == (False, "paused", "alice")
        here.replies("slower")
        await one.sessions.close()
        assert [message.text for message in await facts(two, second, MessagePosted)][-1] == "faster"
        assert len(await facts(one, first, TurnStarted)) == len(await facts(one, first, TurnCompleted)) == 1


@run
async def test_a_node_that_always_loses_gives_up_with_a_reason() -> None:
    """After 20 conflicts in a row the sender is told to try again; nothing was written."""
    log = ContestedLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        log.is_contested = True
        with pytest.raises(Conflict, match="try again"):
            await session.submit(Post(text="hello"))
        assert log.tries == APPEND_TRIES
        log.is_contested = False
        assert (await say(session, "hello"))[-1] == "session.paused"


@run
async def test_an_append_that_failed_and_is_in_the_log_has_happened() -> None:
    """The state follows the log; the command, sent again with its id, is accepted and not done twice."""
    log, key = UnsureLog(), CommandKey("c1", "digest")
    async with open_on(log, TRIO) as app:
        session = await app.session()
        log.is_unsure = True
        with pytest.raises(LogError, match="not known"):
            await session.submit(Post(text="hello"), key)
        log.is_unsure = False
        assert (await session.state()).message_count == 1
        receipt = await session.submit(Post(text="hello"), key)
        assert receipt.seq == len(await read(app, session))
        assert len(await facts(app, session, MessagePosted)) == 1
