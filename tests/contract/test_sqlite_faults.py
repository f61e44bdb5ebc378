"""Damaged rows, full disks and failing writes."""

import asyncio
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.core.codec import Event, chain
from moot.core.errors import Conflict, Corrupt, LogError, Newer, StorageFull
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import append, closing, make_events, run, verify


async def make_log(path: Path) -> tuple[list[Event], list[Event]]:
    """Session a with appends of 1, 3 and 2 events, session b between them."""
    async with closing(await SqliteLog.open(path)) as log:
        a = await append(log, "a", 1)
        b = await append(log, "b", 2)
        a += await append(log, "a", 3)
        b += await append(log, "b", 2)
        a += await append(log, "a", 2)
    return a, b


@contextmanager
def editing(path: Path) -> Iterator[sqlite3.Connection]:
    """The file under the hands of somebody who is not Moot."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def read_row(connection: sqlite3.Connection, seq: int) -> tuple[bytes, bytes]:
    row: tuple[bytes, bytes] = connection.execute(
        "SELECT hashes, data FROM appends WHERE session = 1 AND seq = ?", (seq,)
    ).fetchone()
    return row


def write_row(connection: sqlite3.Connection, seq: int, hashes: bytes, data: bytes) -> None:
    connection.execute("UPDATE appends SET hashes = ?, data = ? WHERE session = 1 AND seq = ?", (hashes, data, seq))


async def check_damage(path: Path, seq: int, a: list[Event], b: list[Event]) -> None:
    """Session a is good up to `seq` and says so; session b is whole."""
    async with closing(await SqliteLog.open(path)) as log:
        for after in range(seq):
            with pytest.raises(Corrupt, match=f"damaged at seq {seq}") as caught:
                await log.read("a", after)
            assert (caught.value.session_id, caught.value.seq) == ("a", seq)
        if seq > 1:
            assert await log.read("a", 0, seq - 1) == a[: seq - 1]
        with pytest.raises(Corrupt):
            await verify(log, "a")
        assert await verify(log, "b") == b[-1].head
        assert await log.read("b") == b
        assert len(await log.sessions()) == 2


@run
async def test_a_flipped_byte_is_found(path: Path) -> None:
    """Whichever byte of an event changes, reading stops at that event."""
    a, b = await make_log(path)
    with editing(path) as connection:
        hashes, data = read_row(connection, 2)
    second = len(a[1].data) + 1
    for place, seq in ((0, 2), (second - 2, 2), (second - 1, 2), (second, 3), (len(data) - 1, 4)):
        with editing(path) as connection:
            write_row(connection, 2, hashes, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        await check_damage(path, seq, a, b)


@run
async def test_a_flipped_byte_in_a_hash_is_found(path: Path) -> None:
    """A hash that changed is no hash of its event."""
    a, b = await make_log(path)
    with editing(path) as connection:
        hashes, data = read_row(connection, 2)
        write_row(connection, 2, hashes[:40] + bytes([hashes[40] ^ 1]) + hashes[41:], data)
    await check_damage_inside(path, 3, a, b)


async def check_damage_inside(path: Path, seq: int, a: list[Event], b: list[Event]) -> None:
    """As `check_damage` from the start: a reader that trusts a wrong hash finds the fault one event later."""
    async with closing(await SqliteLog.open(path)) as log:
        with pytest.raises(Corrupt, match=f"damaged at seq {seq}"):
            await log.read("a")
        with pytest.raises(Corrupt, match=f"damaged at seq {seq + 1}"):
            await log.read("a", seq)
        assert await log.read("a", 0, seq - 1) == a[: seq - 1]
        assert await log.read("b") == b


@pytest.mark.parametrize(("row", "seq"), [(1, 1), (2, 2)])
@run
async def test_a_missing_row_is_found(path: Path, row: int, seq: int) -> None:
    """A hole is damage at the first missing event."""
    a, b = await make_log(path)
    with editing(path) as connection:
        connection.execute("DELETE FROM appends WHERE session = 1 AND seq = ?", (row,))
    await check_damage(path, seq, a, b)


@run
async def test_missing_lines_and_hashes_are_found(path: Path) -> None:
    """A row that lost its last event, that event's hash, or everything, is damage at what is missing."""
    a, b = await make_log(path)
    with editing(path) as connection:
        hashes, data = read_row(connection, 2)
    for damaged, seq in (
        ((hashes, data.rpartition(b"\n")[0]), 4),
        ((hashes[:-32], data), 4),
        ((hashes, b""), 2),
        ((b"", data), 2),
    ):
        with editing(path) as connection:
            write_row(connection, 2, *damaged)
        await check_damage(path, seq, a, b)


@run
async def test_a_last_row_that_lost_its_end_is_found(path: Path) -> None:
    """Nothing follows the last row, so its hashes tell how many events it had."""
    a, b = await make_log(path)
    with editing(path) as connection:
        hashes, data = read_row(connection, 5)
        write_row(connection, 5, hashes, data.rpartition(b"\n")[0])
    await check_damage(path, 6, a, b)


@pytest.mark.parametrize("forged", [b"not json", make_events("b")[0].data])
@run
async def test_a_row_that_is_no_event_of_its_place_is_found(path: Path, forged: bytes) -> None:
    """A right hash is not enough: JSON that is broken or of another session is damage too."""
    a, b = await make_log(path)
    with editing(path) as connection:
        write_row(connection, 1, bytes.fromhex(chain("", forged)), forged)
    await check_damage(path, 1, a, b)


@run
async def test_an_event_of_a_newer_version_is_no_damage(path: Path) -> None:
    """A right hash of an event that this version does not know: the session waits for an update, the others go on."""
    _, b = await make_log(path)
    unknown = b'{"event":"from.the_future","session_id":"a","seq":1,"timestamp":"","metadata":{}}'
    with editing(path) as connection:
        write_row(connection, 1, bytes.fromhex(chain("", unknown)), unknown)
    async with closing(await SqliteLog.open(path)) as log:
        with pytest.raises(Newer, match="update this one to read on from seq 1"):
            await log.read("a")
        assert await log.read("b") == b


@run
async def test_a_session_without_events_is_damaged(path: Path) -> None:
    """A session whose rows are all gone is damaged, not empty, and is not listed."""
    await make_log(path)
    with editing(path) as connection:
        connection.execute("DELETE FROM appends WHERE session = 1")
    async with closing(await SqliteLog.open(path)) as log:
        for call in (log.read("a"), log.head("a")):
            with pytest.raises(Corrupt, match="damaged at seq 1"):
                await call
        assert [listing.session_id for listing in await log.sessions()] == ["b"]


@pytest.mark.parametrize("inline_below_s", [0, 10])
@run
async def test_a_full_disk_refuses_and_recovers(path: Path, inline_below_s: float) -> None:
    """StorageFull for what does not fit; reading goes on; with room again, so does writing; nothing is lost."""
    async with closing(await SqliteLog.open(path, inline_below_s=inline_below_s)) as log:
        events = await append(log, "a")
        await append(log, "b")
        assert log._writing is not None
        connection = log._writing.writer._connection
        assert connection is not None
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        big, small = make_events("a", events[-1].head, 50), make_events("b", (await log.head("b")))
        results = await asyncio.gather(
            log.append("a", events[-1].head, big), log.append("b", await log.head("b"), small), return_exceptions=True
        )
        assert [type(result) for result in results] == [StorageFull, type(None)]
        assert await log.read("a") == events
        connection.execute("PRAGMA max_page_count = 1000000")
        await log.append("a", events[-1].head, big)
        assert await verify(log, "a") == big[-1].head


@pytest.mark.parametrize("inline_below_s", [0, 10])
@run
async def test_a_failing_write_is_never_acknowledged(path: Path, inline_below_s: float) -> None:
    """An I/O error fails the append and opens the file anew; when writing works again, nothing has to be restarted."""
    async with closing(await SqliteLog.open(path, inline_below_s=inline_below_s)) as log:
        events = await append(log, "a")
        assert log._writing is not None
        before = log._writing.writer._connection
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        more = make_events("a", events[-1].head, 3, "x" * 100_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # the WAL may not grow
        try:
            with pytest.raises(LogError, match="nothing was acknowledged") as caught:
                await log.append("a", events[-1].head, more)
            assert type(caught.value) is LogError
            assert await log.read("a") == events
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await log.append("a", events[-1].head, more)
        assert log._writing.writer._connection is not before
        assert await verify(log, "a") == more[-1].head


@run
async def test_a_writer_that_lost_its_lock_does_not_fork_the_log(path: Path) -> None:
    """Two writers on one file collide: the later one gets Conflict and goes on from the true head."""
    async with closing(await SqliteLog.open(path)) as log:
        events = await append(log, "a", 2)
        path.with_name("moot.db.lock").unlink()
        async with closing(await SqliteLog.open(path)) as thief:
            stolen = make_events("a", events[-1].head, 3, "thief")
            await thief.append("a", events[-1].head, stolen)
            with pytest.raises(Conflict, match="at seq 5, not 2"):
                await log.append("a", events[-1].head, make_events("a", events[-1].head, 1, "owner"))
            await append(log, "a")
            assert (await verify(log, "a")).seq == 6


@run
async def test_a_long_run_keeps_the_wal_short(path: Path) -> None:
    """Checkpoints keep up with the writer: the WAL stays near 4 MB however much is written."""
    async with closing(await SqliteLog.open(path)) as log:
        head = (await append(log, "a"))[-1].head
        longest = 0
        for _ in range(100):
            events = make_events("a", head, 3, "x" * 50_000)
            await log.append("a", head, events)
            head = events[-1].head
            longest = max(longest, path.with_name("moot.db-wal").stat().st_size)
        assert longest < 8 << 20


@pytest.mark.parametrize("how", ["file", "folder", "replaced"])
@run
async def test_a_log_that_was_removed_while_open_takes_nothing(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite would go on writing to a file that has no name any more; nothing of it would be there after a restart.

    Who runs the server is told once, each time.
    """
    path = tmp_path / "data" / "moot.db"
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a", 1)
        kept = tmp_path / "kept.db"
        match how:
            case "file":
                path.rename(kept)
            case "folder":
                path.parent.rename(tmp_path / "elsewhere")
            case _:
                path.rename(kept)
                path.write_bytes(b"")
        with pytest.raises(LogError, match="removed or replaced"):
            await append(log, "a", 1)
        with pytest.raises(LogError, match="removed or replaced"):
            await log.head("not-a-session")  # what /readyz asks
        if how == "folder":
            (tmp_path / "elsewhere").rename(path.parent)
        else:
            kept.replace(path)
        await append(log, "a", 1)  # it was put back
        assert len(await log.read("a")) == 2
        assert ["removed or replaced" in record.getMessage() for record in caplog.records] == [True]
