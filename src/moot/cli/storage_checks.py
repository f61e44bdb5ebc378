"""The storage checks of `moot doctor`: the data folder (writable, fast, enough space) and the sessions in a store."""

import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Literal

from moot.cli.checks import Check
from moot.cli.progress import Progress
from moot.cli.verifying import Verdict, verify
from moot.core import limits
from moot.core.errors import LogError, Unusable
from moot.runtime.ports import Store

SLOW_FSYNC_MS = 20.0
LITTLE_SPACE_MB = 200
SOUND_SQLITE = (3, 51, 3)  # the reset of a write-ahead log is sound from here on
NAMED = 5  # damaged sessions that are named in the report


def check_sqlite(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> Check:
    """Say which SQLite writes the log. The bug of older ones needs two connections that write; Moot uses one."""
    name = ".".join(map(str, version))
    if version < limits.OLDEST_SQLITE:
        oldest = ".".join(map(str, limits.OLDEST_SQLITE))
        fix = f"use a Python with SQLite {oldest} or newer"
        return Check(name="sqlite", status="fail", says=f"SQLite {name} is too old", fix=fix)
    if version < SOUND_SQLITE:
        sound = ".".join(map(str, SOUND_SQLITE))
        says = f"SQLite {name}; before {sound} a log that other programs write to at the same time can be damaged"
        return Check(name="sqlite", status="note", says=says, fix="let nothing but Moot write to moot.db")
    return Check(name="sqlite", status="ok", says=f"SQLite {name}")


def check_folder(data: Path) -> Iterator[Check]:
    place = next(folder for folder in (data, *data.absolute().parents) if folder.is_dir())
    blocked = next((part for part in (data, *data.absolute().parents) if part.exists() and not part.is_dir()), None)
    if blocked:
        fix = "use --data DIR, or set MOOT_DATA to a folder"
        yield Check(name="storage", status="fail", says=f"{data} cannot be made: {blocked} is a file", fix=fix)
        return
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
    """Return the median time of an fsync, which every commit of the log waits for."""
    taken: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(times):
            file.write(b"x" * 4_096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - began) * 1_000)
    return statistics.median(taken)


async def check_sessions(store: Store) -> AsyncIterator[Check]:
    """Check every session. Changes nothing; a server may be writing to the store."""
    if not store.exists():
        yield Check(name="sessions", status="ok", says="none yet")
        return
    for finding in store.examine():
        status: Literal["fail", "note"] = "fail" if finding.is_damage else "note"
        yield Check(name=finding.name, status=status, says=finding.text, fix=finding.fix, is_damage=finding.is_damage)
    try:
        yield describe_verdicts(await verify_all(store))
    except Unusable as error:  # of a newer version or another program, or no permission
        says, _, fix = str(error).partition("; ")
        yield Check(name="log", status="fail", says=says, fix=fix)
    except LogError as error:  # the file itself is damaged, not one session
        yield Check(
            name="sessions",
            status="fail",
            says=str(error),
            fix="`moot doctor --repair` exports what is intact",
            is_damage=True,
        )


async def verify_all(store: Store) -> list[Verdict]:
    """Check every hash of every session. Raises LogError if the log cannot be read, Unusable if it is not ours."""
    log = await store.open(read_only=True)
    try:
        listings = await log.sessions()
        with Progress("checking sessions", sum(listing.head.seq for listing in listings)) as progress:
            return [verdict async for verdict in verify(log, listings, progress)]
    finally:
        await log.close()


def describe_verdicts(verdicts: Sequence[Verdict]) -> Check:
    damaged = [verdict for verdict in verdicts if verdict.is_damaged]
    if not damaged:
        events = sum(verdict.head.seq for verdict in verdicts)
        return Check(
            name="sessions", status="ok", says=f"{len(verdicts):,} with {events:,} events, every hash is right"
        )
    places = [f"{verdict.session_id} from seq {verdict.head.seq + 1} on" for verdict in damaged[:NAMED]]
    more = f" and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
    says = f"{len(damaged)} of {len(verdicts)} damaged: {', '.join(places)}{more}; the others are not concerned"
    fix = "`moot doctor --repair` exports what is intact of them"
    return Check(name="sessions", status="fail", says=says, fix=fix, is_damage=True)
