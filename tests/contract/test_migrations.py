"""Files of older versions are brought up to date, whole or not at all."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from moot.core.codec import Event
from moot.core.errors import Unusable
from moot.runtime.stores import log_tables
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import SUMMARY, append, closing, make_events, run

DYING = """
import os, signal, sqlite3, sys
from pathlib import Path
from moot.runtime.stores import log_tables

left = int(sys.argv[2])

class Dying(sqlite3.Connection):
    def execute(self, statement, *values):
        global left
        if self.in_transaction:  # the migration
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *values)

connect = sqlite3.connect
log_tables.sqlite3.connect = lambda *places, **options: connect(*places, factory=Dying, **options)
log_tables.open_for_writing(Path(sys.argv[1])).close()
"""


def make_old(path: Path) -> Event:
    """A log as the first version left it, with one event."""
    (event,) = make_events("a")
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in log_tables._MIGRATIONS[0]:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {log_tables.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    summary = msgspec.json.encode(SUMMARY)
    connection.execute("INSERT INTO sessions VALUES (1, 'a', ?, ?)", (event.timestamp, summary))
    row = (event.timestamp, bytes.fromhex(event.hash), event.data)
    connection.execute("INSERT INTO appends (session, seq, at, hashes, data) VALUES (1, 1, ?, ?, ?)", row)
    connection.close()
    return event


def read_version(path: Path) -> int:
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(version)


@run
async def test_an_older_file_goes_on(path: Path) -> None:
    """Everything is there and it takes more; who only reads is told what to do first, and changes nothing."""
    event = make_old(path)
    with pytest.raises(Unusable, match=r"schema version 1, older than \d; start the server once"):
        await SqliteLog.open(path, read_only=True)
    assert read_version(path) == 1
    async with closing(await SqliteLog.open(path)) as log:
        more = await append(log, "a", 2)
        assert await log.read("a") == [event, *more]
    assert read_version(path) == log_tables.VERSION


def test_a_migration_that_is_killed_is_made_again(path: Path) -> None:
    """Kill -9 before each of its statements, its commit too: the file is of the old version, and then goes on."""
    event, killed = make_old(path), 0
    while (
        subprocess.run([sys.executable, "-c", DYING, str(path), str(killed)], check=False).returncode == -signal.SIGKILL
    ):
        assert read_version(path) < log_tables.VERSION
        killed += 1
    assert killed >= len(log_tables._MIGRATIONS[1]) + 3  # the two versions and the commit
    assert read_version(path) == log_tables.VERSION

    async def read() -> list[Event]:
        async with closing(await SqliteLog.open(path)) as log:
            return await log.read("a")

    assert asyncio.run(read()) == [event]
