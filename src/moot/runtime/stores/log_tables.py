"""The tables and the version of the log file; refuses files that are not a log of Moot.

An append is one row: its events as lines of JSON, their hashes side by side. So an append is whole or absent, 64 busy
sessions cost half of what one row per event would, and two writers that fork a log collide on the first seq.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core import limits
from moot.core.errors import Unusable

VERSION = 3
APPLICATION_ID = 0x4D4F4F54  # "MOOT"
_BUSY_TIMEOUT_S = 5.0
# A short WAL is overwritten in place, which costs half of letting it grow.
_WAL_PAGES = 1_000
_WAL_BYTES_KEPT = 16 << 20

_MIGRATIONS: tuple[tuple[str, ...], ...] = (  # entry n takes a file from version n to n + 1
    (
        "CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL,"
        " summary BLOB NOT NULL)",
        "CREATE TABLE appends (id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,"
        " seq INTEGER NOT NULL, at TEXT NOT NULL, hashes BLOB NOT NULL, data BLOB NOT NULL, UNIQUE (session, seq))",
        "CREATE TABLE commands (session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL,"
        " digest TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID",
        "CREATE TABLE snapshots (session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,"
        " seq INTEGER NOT NULL, hash TEXT NOT NULL, version TEXT NOT NULL, state BLOB NOT NULL)",
    ),
    ("ALTER TABLE sessions ADD COLUMN removed_at TEXT",),  # when it was moved to the trash
    (
        "CREATE TABLE projects (key INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, folder TEXT NOT NULL)",
        "ALTER TABLE sessions ADD COLUMN project INTEGER REFERENCES projects ON DELETE SET NULL",
    ),
)


def create(path: Path) -> None:
    """Create the file if it is missing, readable by its owner only. Raises Unusable."""
    if path.exists():
        return  # do not open and close it: that would drop this process's SQLite locks
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise Unusable(f"{path} cannot be written ({error.strerror}); make it so or use --data DIR") from error


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the file and migrate it to this version if it is older. Raises Unusable."""
    with _opened(path, "rw") as connection:
        version = _check(connection, path)
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise Unusable(f"{path} is on a file system without shared memory; use --data DIR on a local disk")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_KEPT}")
        _migrate(connection, version)
        return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open the file read-only; a writer may have it open too. Raises Unusable."""
    if not path.exists():
        raise Unusable(f"there is no log at {path}; use --data DIR to name another place")
    with _opened(path, "ro") as connection:
        version = _check(connection, path)
        if version < VERSION:
            raise Unusable(f"{path} has schema version {version}, older than {VERSION}; start the server once")
        return connection


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open a connection; close it again if the block raises. SQLite errors become Unusable."""
    if path.is_dir():
        raise Unusable(f"{path} is a directory; remove it or use --data DIR")
    if sqlite3.sqlite_version_info < limits.OLDEST_SQLITE:
        oldest = ".".join(map(str, limits.OLDEST_SQLITE))
        raise Unusable(f"SQLite {sqlite3.sqlite_version} is too old; use a Python with SQLite {oldest} or newer")
    connection = None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY_TIMEOUT_S,
            isolation_level=None,  # transactions are begun by hand
            check_same_thread=False,  # each connection has one user at a time, not one thread
        )
        yield connection
    except BaseException as error:
        if connection is not None:
            connection.close()
        if not isinstance(error, sqlite3.Error):
            raise
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise Unusable(f"{path} is not a log of Moot; move it away or use --data DIR") from error
        raise Unusable(f"{path} cannot be used ({error}); check its permissions or use --data DIR") from error


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version. Raises Unusable for other programs' files and for newer versions."""
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application_id != APPLICATION_ID and not (is_empty and application_id == version == 0):
        raise Unusable(f"{path} is a database of another program; move it away or use --data DIR")
    if version > VERSION:
        raise Unusable(
            f"{path} has schema version {version}, this Moot knows up to {VERSION}; update Moot or use --data DIR"
        )
    return version


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    """Apply the missing migrations, each in one transaction, so that a killed one leaves the old version."""
    for number, statements in enumerate(_MIGRATIONS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
