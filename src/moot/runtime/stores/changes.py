"""The changes that can be made to the log file.

A change checks its conditions before it writes, so a refused one leaves nothing to undo.
"""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, NotFound
from moot.runtime.ports import CommandKey, Project, Snapshot, Summary
from moot.runtime.stores.conflicts import explain_conflict
from moot.runtime.stores.rows import pack, read_head

_FIND = (
    "SELECT s.key, a.seq, a.hashes FROM sessions s JOIN appends a ON a.session = s.key"
    " WHERE s.id = ? AND s.removed_at IS NULL ORDER BY a.seq DESC LIMIT 1"
)


@lru_cache(maxsize=256)
def _insert(rows: int) -> str:
    values = ", ".join(["(?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO appends (session, seq, at, hashes, data) VALUES {values}"  # noqa: S608 - question marks only


class Place(NamedTuple):
    """A session in the file: its integer key and its head."""

    key: int
    seq: int
    hash: str


Row = tuple[int, int, str, bytes, bytes]  # of the table `appends`: session, seq, at, hashes, data


class Transaction:
    """One transaction. `moved` holds the places that it changed; the writer remembers them after the commit.

    Appends are collected and written with one INSERT. If a transaction has nothing else, that statement is all of it:
    every call into SQLite releases the GIL, and a busy event loop is slow to hand it back.
    """

    __slots__ = ("_connection", "_known", "_rows", "moved")

    def __init__(self, connection: sqlite3.Connection, known: dict[str, Place]) -> None:
        self._connection = connection
        self._known = known
        self._rows: list[Row] = []
        self.moved: dict[str, Place | None] = {}

    def append(self, row: Row) -> None:
        self._rows.append(row)

    def execute(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        """Run a statement after the appends collected so far."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        self._write_rows()
        return self._connection.execute(statement, values)

    def commit(self) -> None:
        self._write_rows()
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def _write_rows(self) -> None:
        if self._rows:
            self._connection.execute(_insert(len(self._rows)), list(chain.from_iterable(self._rows)))
            self._rows.clear()

    def find(self, session_id: str) -> Place | None:
        """Return the place of a session; None if it does not exist or is in the trash."""
        if session_id in self.moved:
            return self.moved[session_id]
        place = self._known.get(session_id)
        if place is None:
            row = self.execute(_FIND, (session_id,)).fetchone()
            if row is not None:
                head = read_head(row[1], row[2])
                place = Place(row[0], head.seq, head.hash)
        return place

    def get(self, session_id: str) -> Place:
        """Return the place of a session. Raises NotFound."""
        place = self.find(session_id)
        if place is None:
            raise NotFound(f"no session {session_id}")
        return place


class Change(Protocol):
    def apply(self, transaction: Transaction) -> None:
        """Make the change. Raises LogError, before anything is written, if it is refused."""


class Append(Struct, frozen=True, kw_only=True):
    session_id: str
    expected: Head
    events: Sequence[Event]
    command: CommandKey | None
    summary: Summary | None

    def apply(self, transaction: Transaction) -> None:
        events, last = self.events, self.events[-1]
        key = self._check(transaction)
        hashes, data = pack(events)
        transaction.append((key, self.expected.seq + 1, last.timestamp, hashes, data))
        if self.command is not None:
            row = (key, self.command.command_id, self.command.digest, last.seq)
            transaction.execute("INSERT INTO commands (session, id, digest, seq) VALUES (?, ?, ?, ?)", row)
        if self.summary is not None and self.expected.seq:
            summary = msgspec.json.encode(self.summary)
            transaction.execute("UPDATE sessions SET summary = ? WHERE key = ?", (summary, key))
        transaction.moved[self.session_id] = Place(key, last.seq, last.hash)

    def _check(self, transaction: Transaction) -> int:
        """Return the key of the session; create it on its first append. Raises Conflict or NotFound."""
        place = transaction.find(self.session_id)
        if place is None:
            return self._create(transaction)
        if place.hash != self.expected.hash or place.seq != self.expected.seq:
            raise Conflict(explain_conflict(self.session_id, Head(place.seq, place.hash), self.expected))
        if self.command is not None:
            query = "SELECT 1 FROM commands WHERE session = ? AND id = ?"
            if transaction.execute(query, (place.key, self.command.command_id)).fetchone():
                raise Conflict(
                    f"session {self.session_id} has taken command {self.command.command_id} before; look it up"
                )
        return place.key

    def _create(self, transaction: Transaction) -> int:
        if self.expected.seq != 0:
            raise NotFound(f"no session {self.session_id}")
        if transaction.execute("SELECT 1 FROM sessions WHERE id = ?", (self.session_id,)).fetchone():
            raise Conflict(f"session {self.session_id} is in the trash; restore it, or delete it for good")
        row = (self.session_id, self.events[0].timestamp, msgspec.json.encode(self.summary))
        cursor = transaction.execute("INSERT INTO sessions (id, created_at, summary) VALUES (?, ?, ?)", row)
        assert cursor.lastrowid is not None  # noqa: S101 - an INSERT that did not raise has made a row
        return cursor.lastrowid


class Remove(Struct, frozen=True):
    session_id: str
    at: str

    def apply(self, transaction: Transaction) -> None:
        place = transaction.get(self.session_id)
        transaction.execute("UPDATE sessions SET removed_at = ? WHERE key = ?", (self.at, place.key))
        transaction.moved[self.session_id] = None


class Restore(Struct, frozen=True):
    session_id: str

    def apply(self, transaction: Transaction) -> None:
        query = "UPDATE sessions SET removed_at = NULL WHERE id = ? AND removed_at IS NOT NULL"
        if not transaction.execute(query, (self.session_id,)).rowcount:
            raise NotFound(f"no session {self.session_id} in the trash")
        transaction.moved.pop(self.session_id, None)


class Delete(Struct, frozen=True):
    session_id: str

    def apply(self, transaction: Transaction) -> None:
        if not transaction.execute("DELETE FROM sessions WHERE id = ?", (self.session_id,)).rowcount:
            raise NotFound(f"no session {self.session_id}")
        transaction.moved[self.session_id] = None


class SetProject(Struct, frozen=True):
    session_id: str
    project: Project

    def apply(self, transaction: Transaction) -> None:
        key, project = transaction.get(self.session_id).key, self.project
        row = (project.file, project.folder)
        transaction.execute("INSERT INTO projects (file, folder) VALUES (?, ?) ON CONFLICT DO NOTHING", row)
        transaction.execute(
            "UPDATE sessions SET project = (SELECT key FROM projects WHERE file = ?) WHERE key = ?", (project.file, key)
        )


class SaveSnapshot(Struct, frozen=True):
    session_id: str
    snapshot: Snapshot

    def apply(self, transaction: Transaction) -> None:
        key, snapshot = transaction.get(self.session_id).key, self.snapshot
        transaction.execute(
            "INSERT OR REPLACE INTO snapshots (session, seq, hash, version, state) VALUES (?, ?, ?, ?, ?)",
            (key, snapshot.head.seq, snapshot.head.hash, snapshot.version, snapshot.state),
        )
