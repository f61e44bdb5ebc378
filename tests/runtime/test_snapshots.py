"""Snapshots save time, and nothing else depends on them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.app import Session, open_app
from moot.core import states
from moot.core.codec import Event, Head
from moot.core.session.commands import Post
from moot.runtime import snapshots
from moot.runtime.engine import SNAPSHOT_EVERY, SNAPSHOT_WORTH
from moot.runtime.ports import Snapshot
from moot.runtime.snapshots import load_state
from moot.runtime.stores.memory import MemoryLog
from tests.runtime.apps import TRIO, open_on, run


class ReadingLog(MemoryLog):
    """Notes from where it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_after: list[int] = []

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        self.read_after.append(after)
        return await super().read(session_id, after, limit)


async def talk(session: Session, events: int) -> None:
    """Say things until the log is so long."""
    while (await session.submit(Post(text="hello"))).seq < events:
        pass


@run
async def test_with_and_without_a_snapshot_the_state_is_the_same(tmp_path: Path) -> None:
    """Folding from the snapshot that closing left gives the bytes that folding everything gives."""
    async with open_app(TRIO, data=tmp_path) as app:
        session = await app.session()
        await talk(session, SNAPSHOT_WORTH + 1)
    async with open_app(TRIO, data=tmp_path) as app:
        saved = await app.log.load_snapshot(session.id)
        assert saved is not None
        assert saved.head == await app.log.head(session.id)
        session = await app.session(session.id)
        await talk(session, saved.head.seq + 10)
        with_snapshot, head = await load_state(app.log, session.id)
        await app.log.save_snapshot(session.id, replace(saved, version="none"))
        without, same_head = await load_state(app.log, session.id)
        assert states.encode(with_snapshot) == states.encode(without)
        assert head == same_head == await app.log.head(session.id)


@run
async def test_a_snapshot_is_really_used() -> None:
    """What lies before it is not read again, but for the one event that proves it to be of this log."""
    log = ReadingLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        await talk(session, 2 * SNAPSHOT_WORTH)
    head = await log.head(session.id)
    log.read_after.clear()
    await load_state(log, session.id)
    assert log.read_after == [head.seq - 1, head.seq]


@run
async def test_a_short_session_is_not_worth_a_snapshot() -> None:
    """Below 100 new events none is saved; a long one gets its snapshots while it goes on."""
    log = MemoryLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        await talk(session, SNAPSHOT_WORTH - 3)
    assert await log.load_snapshot(session.id) is None
    async with open_on(log, TRIO) as app:
        session = await app.session()
        await talk(session, SNAPSHOT_EVERY + 10)
        await session.submit(Post(text="one more"))
        saved = await log.load_snapshot(session.id)
        assert saved is not None
        assert SNAPSHOT_EVERY <= saved.head.seq < SNAPSHOT_EVERY + 10


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


WRONG: dict[str, Callable[[Snapshot], Snapshot]] = {
    "of another version": lambda saved: replace(saved, version="0" * 16),
    "of another history": lambda saved: replace(saved, head=Head(saved.head.seq, "0" * 64)),
    "of another place": lambda saved: replace(saved, head=Head(saved.head.seq - 1, saved.head.hash)),
    "ahead of the log": lambda saved: replace(saved, head=Head(saved.head.seq + 1, saved.head.hash)),
    "cut short": lambda saved: replace(saved, state=saved.state[:-1]),
    "empty": lambda saved: replace(saved, state=b""),
    "with a flipped bit at its start": lambda saved: replace(saved, state=flip(saved.state, 0)),
    "with a flipped bit in its text": lambda saved: replace(
        saved, state=flip(saved.state, saved.state.index(b"hello"))
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
@run
async def test_a_wrong_snapshot_is_ignored(wrong: str) -> None:
    """A snapshot that is old, foreign or damaged costs time, never the truth."""
    log = MemoryLog()
    async with open_on(log, TRIO) as app:
        session = await app.session()
        await talk(session, SNAPSHOT_WORTH + 1)
        engine = await app.sessions.open(session.id)
    saved = await log.load_snapshot(session.id)
    assert saved is not None
    await log.save_snapshot(session.id, WRONG[wrong](saved))
    state, head = await load_state(log, session.id)
    assert (states.encode(state), head) == (states.encode(engine.state), engine.head)


@run
async def test_a_snapshot_of_another_session_is_ignored() -> None:
    """A sound snapshot with its head altered to fit is not sound any more."""
    log = MemoryLog()
    async with open_on(log, TRIO) as app:
        one, two = await app.session(title="one"), await app.session(title="two")
        await talk(one, SNAPSHOT_WORTH + 1)
        await talk(two, SNAPSHOT_WORTH + 1)
    foreign = await log.load_snapshot(one.id)
    assert foreign is not None
    await log.save_snapshot(two.id, replace(foreign, head=await log.head(two.id)))
    state, _ = await load_state(log, two.id)
    assert state.title == "two"


def test_the_version_is_that_of_the_shape() -> None:
    """The same code gives the same version; it fits into a short column."""
    assert snapshots.snapshot_version() == snapshots.snapshot_version()
    assert len(snapshots.snapshot_version()) < 24
