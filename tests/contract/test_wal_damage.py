"""A write-ahead log that the disk did not keep: a clean prefix is left, and the loss does not go unseen."""

import random
import shutil
from pathlib import Path

import pytest

from moot.core.codec import Event
from moot.runtime.stores import wal
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import append, closing, run

FLIPS = 240
FILES = ("moot.db", "moot.db-wal", "moot.db-shm")


async def crash(folder: Path, copy: Path, appends: int = 4, text: str = "hello") -> dict[str, list[Event]]:
    """A log whose process was killed, as its files lie there; what it had acknowledged."""
    acknowledged: dict[str, list[Event]] = {"a": [], "b": []}
    await (await SqliteLog.open(folder / "moot.db")).close()  # an empty log: what follows is in the WAL alone
    async with closing(await SqliteLog.open(folder / "moot.db")) as log:
        for number in range(appends):
            for session_id in acknowledged:
                acknowledged[session_id] += await append(log, session_id, 1 + number % 3, text)
        shutil.copytree(folder, copy)
    return acknowledged


def copy_with(source: Path, target: Path, journal: bytes, *, with_index: bool) -> Path:
    """The same files, but for the WAL."""
    target.mkdir()
    for name in FILES if with_index else FILES[:1]:
        shutil.copyfile(source / name, target / name)
    (target / "moot.db-wal").write_bytes(journal)
    return target / "moot.db"


async def read_all(path: Path, acknowledged: dict[str, list[Event]]) -> int:
    """How many events are left; all of them are a prefix of what was acknowledged, session by session."""
    left = 0
    async with closing(await SqliteLog.open(path, read_only=True)) as log:
        for listing in await log.sessions():
            events = await log.read(listing.session_id)
            assert events == acknowledged[listing.session_id][: len(events)]
            left += len(events)
    return left


async def check_next_start(path: Path, journal: bytes) -> None:
    """It takes more, and what it could not read was put aside before that."""
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a")
    assert [kept.read_bytes() for kept in wal.list_kept(path)] == [journal]
    assert wal.examine(path) == 0


@run
async def test_a_flipped_bit_leaves_a_clean_prefix_and_is_told(tmp_path: Path) -> None:
    """Wherever the bit is, a prefix is left; the loss is seen, with the index or without; a copy is kept."""
    acknowledged = await crash(tmp_path / "log", tmp_path / "crashed", 3)
    journal = (tmp_path / "crashed" / "moot.db-wal").read_bytes()
    choose, total, lost = random.Random(87), sum(map(len, acknowledged.values())), 0  # noqa: S311 - the same each time
    for number in range(FLIPS):
        place, bit = choose.randrange(len(journal)), choose.randrange(8)
        flipped = journal[:place] + bytes([journal[place] ^ 1 << bit]) + journal[place + 1 :]
        path = copy_with(tmp_path / "crashed", tmp_path / str(number), flipped, with_index=number % 2 == 0)
        assert wal.examine(path), (place, bit)
        if number % 20 < 2:
            await check_next_start(path, flipped)
        else:
            lost += await read_all(path, acknowledged) < total
        shutil.rmtree(path.parent)
    assert lost > FLIPS // 2  # else no bit hit anything


@run
async def test_a_cut_leaves_a_clean_prefix_and_is_told(tmp_path: Path) -> None:
    """Cut at every kilobyte, or gone altogether, the index still knows how much there was."""
    acknowledged = await crash(tmp_path / "log", tmp_path / "crashed", 3)
    journal, left = (tmp_path / "crashed" / "moot.db-wal").read_bytes(), []
    for size in range(0, len(journal), 1_024):
        path = copy_with(tmp_path / "crashed", tmp_path / str(size), journal[:size], with_index=True)
        assert wal.examine(path), size
        left.append(await read_all(path, acknowledged))
        shutil.rmtree(path.parent)
    assert left == sorted(left)
    assert left[0] == 0


@pytest.mark.parametrize(("appends", "text"), [(1, "hello"), (40, "x" * 60_000)])
@run
async def test_a_crash_is_no_damage(tmp_path: Path, appends: int, text: str) -> None:
    """What `kill -9` leaves is whole, also where a WAL has been overwritten from its start: nothing is told or kept."""
    acknowledged = await crash(tmp_path / "log", tmp_path / "crashed", appends, text)
    path = tmp_path / "crashed" / "moot.db"
    assert wal.examine(path) == 0
    async with closing(await SqliteLog.open(path)) as log:
        assert await log.read("b") == acknowledged["b"]
    assert wal.list_kept(path) == []
    assert wal.examine(tmp_path / "log" / "moot.db") == 0  # one that was closed


@run
async def test_a_commit_that_a_crash_cut_off_is_no_damage(tmp_path: Path) -> None:
    """Frames without their commit were acknowledged to nobody."""
    await crash(tmp_path / "log", tmp_path / "crashed", 1)
    shutil.copytree(tmp_path / "crashed", tmp_path / "later")
    async with closing(await SqliteLog.open(tmp_path / "later" / "moot.db")) as log:
        before = (tmp_path / "later" / "moot.db-wal").read_bytes()
        await append(log, "a", 3, "x" * 9_000)
        after = (tmp_path / "later" / "moot.db-wal").read_bytes()
    assert len(after) > len(before) + 5_000
    assert wal.lost_frames(after[: len(before) + 5_000]) == 0
