"""Only so many sessions stay in memory: idle ones leave it and come back as they were."""

import asyncio
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted, TurnStarted
from tests.runtime.apps import TRIO, Puppet, facts, open_on, run, say, until
from tests.runtime.broken_logs import SlowLog


@pytest.fixture(autouse=True)
def _room_for_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.runtime.sessions.OPEN_SESSIONS", 3)


@run
async def test_an_idle_session_leaves_memory_and_comes_back(tmp_path: Path) -> None:
    """The least recently used one is evicted; opened again it is the same session and goes on."""
    async with open_app(TRIO, data=tmp_path) as app:
        first = await app.session()
        await say(first, "[NEXT: carol] hello")
        engine, state = await app.sessions.open(first.id), await first.state()
        others = [await app.session() for _ in range(3)]
        again = await app.sessions.open(first.id)
        assert again is not engine
        assert (again.state, again.head) == (state, engine.head)
        assert (await say(first, "[NEXT: carol] again"))[-1] == "session.paused"
        assert len(await facts(app, first, MessagePosted)) == 4
        assert (await say(others[0], "and me"))[-1] == "session.paused"


@run
async def test_who_was_used_last_stays() -> None:
    """Using a session keeps it in memory."""
    async with open_app(TRIO) as app:
        one, two = await app.session(), await app.session()
        engines = {session.id: await app.sessions.open(session.id) for session in (one, two)}
        await app.session()
        await app.sessions.open(one.id)
        await app.session()
        assert await app.sessions.open(one.id) is engines[one.id]
        assert await app.sessions.open(two.id) is not engines[two.id]


@run
async def test_a_busy_session_is_never_evicted() -> None:
    """However many others are opened, a turn under way is run once, by the engine that started it."""
    bob = Puppet()
    async with open_app(TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        engine = await app.sessions.open(session.id)
        for _ in range(10):
            await say(await app.session(), "hello")
        assert await app.sessions.open(session.id) is engine
        bob.replies("still here")
        assert (await saying)[-1] == "session.paused"
        assert len(bob.turns) == len(await facts(app, session, TurnStarted)) == 1


@run
async def test_a_session_with_commands_on_their_way_is_not_evicted() -> None:
    """Between two commands that wait for each other no other engine of the session comes into being."""
    log, bob = SlowLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        engine = await app.sessions.open(session.id)
        log.gate.clear()
        sent = [asyncio.create_task(session.submit(Post(text=text))) for text in ("one", "[NEXT: bob] two")]
        await until(lambda: log.waiting == 1)
        log.gate.set()
        while not sent[1].done():  # at every moment of it
            for _ in range(4):
                await app.session()
            assert await app.sessions.open(session.id) is engine
            await asyncio.sleep(0)
        await bob.is_called()
        bob.replies("done")
        await until(lambda: engine.is_idle)
        assert len(bob.turns) == 1
