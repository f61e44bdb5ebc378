"""What the log file adds to the contract: it outlives processes, and one process writes to it."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from moot.core.codec import Head
from moot.core.errors import Conflict, Locked, LogError
from moot.runtime.ports import CommandKey, Receipt, Snapshot
from moot.runtime.stores import wal
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import SUMMARY, append, closing, make_events, run, verify

ROOT = Path(__file__).parents[2]


@contextmanager
def appending(path: Path, inline_below_s: float = 0.0005) -> Iterator[subprocess.Popen[str]]:
    """A process that writes to the log and has written once; it is killed in the end."""
    command = [sys.executable, "-m", "tests.contract.appender", str(path), str(inline_below_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert read_seqs(process, 1)
        try:
            yield process
        finally:
            process.kill()


def read_seqs(process: subprocess.Popen[str], count: int | None = None) -> list[int]:
    """What it acknowledged next, or all that it still did; a line that was cut off is no acknowledgement."""
    assert process.stdout is not None
    lines = islice(process.stdout, count)
    return [int(line) for line in lines if line.endswith("\n")]


@run
async def test_everything_outlives_closing(path: Path) -> None:
    """A log that is opened again has all that it had, and the folder holds no WAL after a clean end."""
    async with closing(await SqliteLog.open(path)) as log:
        events = make_events("a", count=3)
        await log.append("a", Head(), events, command=CommandKey("c1", "d1"), summary=SUMMARY)
        await log.save_snapshot("a", Snapshot(events[-1].head, "v1", b"state"))
        listings = await log.sessions()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["moot.db", "moot.db.lock"]
    async with closing(await SqliteLog.open(path)) as log:
        assert await log.sessions() == listings
        assert await log.find_command("a", "c1") == Receipt("d1", 3)
        assert await log.load_snapshot("a") == Snapshot(events[-1].head, "v1", b"state")
        assert await log.read("a") == events
        await append(log, "a", 2)
        assert (await verify(log, "a")).seq == 5


@run
async def test_the_folder_is_made_for_its_owner(tmp_path: Path) -> None:
    """What people said is private: a new folder and a new file are open to nobody else."""
    path = tmp_path / "new" / "data" / "moot.db"
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a")
        assert path.parent.stat().st_mode & 0o077 == 0
        assert {entry.stat().st_mode & 0o077 for entry in path.parent.iterdir()} == {0}


@run
async def test_appends_that_wait_share_a_commit(path: Path) -> None:
    """Group commit: what waits is committed at once, so 64 sessions cost a few commits and not 64."""
    for inline_below_s in (0, 10):
        async with closing(await SqliteLog.open(path, inline_below_s=inline_below_s)) as log:
            names = [f"{inline_below_s} {n}" for n in range(64)]
            await asyncio.gather(*[log.append(name, Head(), make_events(name), summary=SUMMARY) for name in names])
            assert log.commit_count <= 2  # on the loop the first of a round does not wait for company


@run
async def test_close_commits_what_waits(path: Path) -> None:
    """Appends that were under way when the log was closed are done, and there when it is opened again."""
    names = [f"s{n}" for n in range(600)]  # more than one batch
    log = await SqliteLog.open(path, inline_below_s=0)
    appends = [asyncio.create_task(log.append(name, Head(), make_events(name), summary=SUMMARY)) for name in names]
    await asyncio.sleep(0)
    await log.close()
    assert all(task.done() for task in appends)
    await asyncio.gather(*appends)
    async with closing(await SqliteLog.open(path)) as log:
        assert len(await log.sessions()) == len(names)


@run
async def test_a_commit_waits_for_the_disk(path: Path) -> None:
    """A power cut cannot be played here, so the settings that survive one are asked for."""
    async with closing(await SqliteLog.open(path)) as log:
        assert log._writing is not None
        connection = log._writing.writer._connection
        assert connection is not None
        settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        assert settings == ["wal", 2]


@run
async def test_a_refused_append_does_not_hurt_its_batch(path: Path) -> None:
    """In one commit, a Conflict and a value that SQLite cannot store fail alone."""
    async with closing(await SqliteLog.open(path, inline_below_s=0)) as log:
        await append(log, "a")
        results = await asyncio.gather(
            log.append("b", Head(), make_events("b"), summary=SUMMARY),
            log.append("a", Head(7, "x"), make_events("a", Head(7, "x"))),
            log.append("c", Head(), make_events("c"), command=CommandKey("\ud800", "d"), summary=SUMMARY),
            log.append("d", Head(), make_events("d"), summary=SUMMARY),
            return_exceptions=True,
        )
        assert [type(result) for result in results] == [type(None), Conflict, LogError, type(None)]
        assert [listing.session_id for listing in await log.sessions()] == ["d", "b", "a"]


@run
async def test_one_process_writes(path: Path) -> None:
    """A second opener is told who holds the log and what to do; reading needs no lock."""
    with appending(path) as process:
        with pytest.raises(Locked, match=rf"held by process {process.pid}; stop it or use --data DIR"):
            await SqliteLog.open(path)
        async with closing(await SqliteLog.open(path, read_only=True)) as log:
            before = await verify(log, "a")
            while read_seqs(process, 1)[0] <= before.seq:
                continue
            assert (await verify(log, "a")).seq > before.seq
            with pytest.raises(LogError, match="reading only"):
                await append(log, "b")


@run
async def test_what_was_acknowledged_survives_kill_9(path: Path) -> None:
    """Durable before acknowledged: after `kill -9` every acknowledged event is there, and the lock is free."""
    for round_number in range(10):
        with appending(path, inline_below_s=0 if round_number % 2 else 10) as process:
            acknowledged = read_seqs(process, 20 + 7 * round_number)
            process.kill()
            acknowledged += read_seqs(process)
        async with closing(await SqliteLog.open(path)) as log:
            head = await verify(log, "a")
            assert head == await log.head("a")
            assert head.seq >= acknowledged[-1]
    assert wal.list_kept(path) == []  # a crash is no damage


@run
async def test_a_copy_made_while_it_is_written_is_whole(path: Path, tmp_path: Path) -> None:
    """`VACUUM INTO` beside a writer is a log of one moment; its sessions are prefixes with the same hashes."""
    copy = tmp_path / "copy.db"
    with appending(path) as process:
        read_seqs(process, 50)
        connection = sqlite3.connect(path)
        connection.execute("VACUUM INTO ?", (str(copy),))
        connection.close()
        read_seqs(process, 50)
    async with closing(await SqliteLog.open(copy)) as restored, closing(await SqliteLog.open(path)) as log:
        head = await verify(restored, "a")
        assert 50 <= head.seq < (await log.head("a")).seq
        assert (await log.read("a", head.seq - 1, 1))[0].head == head
        await append(restored, "a")  # and it goes on
