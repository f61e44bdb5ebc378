"""What `moot doctor` says of the data folder: can it be written, how fast, and is what lies there what was written?"""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from moot.app import DATABASE
from moot.cli.checks import Check
from moot.cli.progress import Progress
from moot.cli.verifying import Verdict, verify
from moot.core.errors import LogError, Unusable
from moot.runtime.stores import wal
from moot.runtime.stores.lock import FileLock
from moot.runtime.stores.sqlite import SqliteLog

SLOW_FSYNC_MS = 20.0
LITTLE_SPACE_MB = 200
NAMED = 5  # damaged sessions


def check_folder(data: Path) -> Iterator[Check]:
    place = next(folder for folder in (data, *data.absolute().parents) if folder.is_dir())
    try:
        taken_ms = measure_fsync_ms(place)
    except OSError as error:
        fix = "make it writable, or use --data DIR"
        yield Check(name="storage", status="fail", says=f"{data} cannot be written ({error.strerror})", fix=fix)
        return
    says = f"{data}, {taken_ms:.2f} ms for an fsync"
    slow = taken_ms > SLOW_FSYNC_MS
    fix = "every turn waits for one: a local disk is faster than a network folder" if slow else ""
    yield Check(name="storage", status="note" if slow else "ok", says=says, fix=fix)
    free_mb = shutil.disk_usage(place).free // 1_000_000
    little = free_mb < LITTLE_SPACE_MB
    fix = "make room, or use --data DIR" if little else ""
    yield Check(name="space", status="fail" if little else "ok", says=f"{free_mb:,} MB free", fix=fix)


def measure_fsync_ms(folder: Path, times: int = 11) -> float:
    """The usual time of one, as a commit of the log pays it."""
    taken: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(times):
            file.write(b"x" * 4_096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - began) * 1_000)
    return statistics.median(taken)


async def check_sessions(data: Path) -> AsyncIterator[Check]:
    """Looking changes nothing; a server may be running on it."""
    path = data / DATABASE
    if not path.exists():
        yield Check(name="sessions", status="ok", says="none yet")
        return
    for check in check_journal(path):
        yield check
    try:
        yield describe_verdicts(await verify_all(path))
    except Unusable as error:  # not ours to read: a newer version, another program's, no permission
        says, _, fix = str(error).partition("; ")
        yield Check(name="log", status="fail", says=says, fix=fix)
    except LogError as error:  # the file itself is damaged, not one session
        yield Check(
            name="sessions", status="fail", says=str(error), fix="`moot doctor --repair` exports what is intact"
        )


def check_journal(path: Path) -> Iterator[Check]:
    """Nothing is said of a write-ahead log that is as it should be."""
    lost = 0
    try:
        lock = FileLock(path)
    except LogError:
        pass  # who holds it has looked at it, and goes on writing it
    else:
        lost = wal.examine(path)
        lock.release()
    if lost:
        says = f"{lost} pages were written and cannot be read; what was said last is missing"
        fix = "see whether a copy of moot.db-wal is whole; the next start goes on without them, and keeps the file"
        yield Check(name="write-ahead log", status="fail", says=says, fix=fix)
    for kept in wal.list_kept(path):
        says = f"a part of it could not be read at a start, so that something said then is missing: {kept}"
        yield Check(name="write-ahead log", status="note", says=says, fix="move the file away when you have seen this")


async def verify_all(path: Path) -> list[Verdict]:
    """Raises LogError when the file as such cannot be read, Unusable when it is not ours."""
    log = await SqliteLog.open(path, read_only=True)
    try:
        listings = await log.sessions()
        with Progress("checking sessions", sum(listing.head.seq for listing in listings)) as progress:
            return [verdict async for verdict in verify(log, listings, progress)]
    finally:
        await log.close()


def describe_verdicts(verdicts: Sequence[Verdict]) -> Check:
    damaged = [verdict for verdict in verdicts if verdict.damage]
    if not damaged:
        events = sum(verdict.head.seq for verdict in verdicts)
        return Check(
            name="sessions", status="ok", says=f"{len(verdicts):,} with {events:,} events, every hash is right"
        )
    places = [f"{verdict.session_id} from seq {verdict.head.seq + 1} on" for verdict in damaged[:NAMED]]
    more = f" and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
    says = f"{len(damaged)} of {len(verdicts)} damaged: {', '.join(places)}{more}; the others are not concerned"
    return Check(name="sessions", status="fail", says=says, fix="`moot doctor --repair` exports what is intact of them")
