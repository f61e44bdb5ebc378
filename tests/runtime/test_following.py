"""Following a session: what is shown, what is known and what comes next fit together, however slow the disk is."""

import asyncio
from pathlib import Path

import pytest

from moot.core.codec import Event
from moot.core.evolve import evolve
from moot.core.session.commands import Post
from moot.core.session.state import State
from moot.runtime.ports import Log
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.sqlite import SqliteLog
from moot.testing.clock import rest
from tests.runtime.apps import TRIO, Puppet, open_on, read, run, say, until
from tests.runtime.broken_logs import SlowLog


async def make_log(kind: str, folder: Path) -> Log:
    if kind == "memory":
        return MemoryLog()
    return await SqliteLog.open(folder / "moot.db", inline_below_s=1e9 if kind == "fast disk" else 0)


LOGS = ["memory", "fast disk", "slow disk"]


@pytest.mark.parametrize("kind", LOGS)
@run
async def test_each_event_is_shown_once(kind: str, tmp_path: Path) -> None:
    """Said one after the other, every text shows exactly what it led to: no hole and no double between two texts."""
    log = await make_log(kind, tmp_path)
    async with open_on(log, TRIO) as app:
        session = await app.session()
        shown: list[Event] = []
        for n in range(30):
            shown += [event async for event in session.say(f"[NEXT: bob, carol] {n}")]
        assert [event.seq for event in shown] == list(range(2, len(shown) + 2))
        assert shown == (await read(app, session))[1:]
    await log.close()


@pytest.mark.parametrize("kind", LOGS)
@run
async def test_the_state_is_not_behind_what_was_shown(kind: str, tmp_path: Path) -> None:
    """Who has seen an event finds it in the state: a question that was shown can be answered at once."""
    log = await make_log(kind, tmp_path)
    async with open_on(log, TRIO) as app:
        session = await app.session()
        folded: State = await session.state()
        for text in ["[NEXT: alice, bob] hello", "/queue clear", "[NEXT: carol] hello", "/status"] * 5:
            async for event in session.say(text):
                folded = evolve(folded, event.fact)
            assert await session.state() == folded
            assert folded.is_settled
    await log.close()


@run
async def test_a_text_is_followed_beyond_what_others_did_before_it() -> None:
    """The floor may be back with a human for a moment before a text is accepted: its own effects are awaited."""
    log, bob = SlowLog(), Puppet()
    async with open_on(log, TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] hello"))
        await bob.is_called()
        log.gate.clear()
        first = asyncio.create_task(session.submit(Post(text="first")))
        await until(lambda: log.waiting == 1)
        saying = asyncio.create_task(say(session, "[NEXT: carol] second"))  # it waits for the first to be logged,
        await rest()
        bob.replies("the end of my turn")  # and this comes between
        await rest()
        log.gate.set()
        await first
        happened = await saying
        assert happened.count("session.paused") == 2
        assert "turn.started" in happened
        assert happened[-1] == "session.paused"


@run
async def test_two_who_follow_see_the_same() -> None:
    """A second reader of a session, from any place, gets the same events in the same order."""
    bob = Puppet()
    async with open_on(MemoryLog(), TRIO, agents={"bob": bob}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await bob.is_called()
        seen: list[Event] = []

        async def watch() -> None:
            async for events in session.follow(after=2):
                seen.extend(events)
                if events[-1].name == "session.paused":
                    return

        watching = asyncio.create_task(watch())
        bob.replies("hi")
        await saying
        await watching
        assert seen == (await read(app, session))[2:]
