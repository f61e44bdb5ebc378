"""Reads the log file. Events are returned only if the hash chain confirms them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from moot.core.codec import Event, Head
from moot.core.errors import Corrupt, LogError, NotFound
from moot.runtime.ports import Listing, Project, Receipt, Snapshot
from moot.runtime.stores import log_tables
from moot.runtime.stores.rows import read_head, read_summary
from moot.runtime.stores.walk import Walk

# From the row that holds `after`, because the chain continues from its hash.
_ROWS = (
    "SELECT seq, hashes, data FROM appends WHERE session = ?1 AND seq >="
    " coalesce((SELECT max(seq) FROM appends WHERE session = ?1 AND seq <= ?2), 0) ORDER BY seq"
)
_HEAD = "SELECT seq, hashes FROM appends WHERE session = ? ORDER BY seq DESC LIMIT 1"
# Newest first by the order of commits, which does not depend on a clock.
_PLACE = "(coalesce(s.removed_at, a.at) || ' ' || s.id)"  # as `Listing.place`
_LISTINGS = (
    "SELECT s.id, s.created_at, s.summary, s.removed_at, a.at, a.seq, a.hashes, p.file, p.folder"
    " FROM sessions s JOIN appends a ON a.id ="
    " (SELECT id FROM appends WHERE session = s.key ORDER BY seq DESC LIMIT 1)"
    " LEFT JOIN projects p ON p.key = s.project"
    " WHERE (s.removed_at IS NOT NULL) = ?"
)
_SESSIONS = f"{_LISTINGS} ORDER BY a.id DESC"
_PAGE = f"{_LISTINGS} AND {_PLACE} < coalesce(?, char(1114111)) ORDER BY {_PLACE} DESC LIMIT ?"


class Reader:
    """One read-only connection; not thread-safe. Methods raise LogError if the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = log_tables.open_for_reading(path)

    def read(self, session_id: str, after: int, limit: int) -> list[Event]:
        with self._reading():
            rows = self._connection.execute(_ROWS, (self._find(session_id), after))
            walk = Walk(session_id, after, limit)
            try:
                return walk.through(rows)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
                    raise Corrupt(session_id, after + 1, str(error)) from error
                raise
            finally:
                rows.close()  # an unfinished statement would block checkpoints

    def head(self, session_id: str) -> Head:
        with self._reading():
            row = self._connection.execute(_HEAD, (self._find(session_id),)).fetchone()
        if row is None:
            raise Corrupt(session_id, 1, "it is missing")
        return read_head(*row)

    def has_session(self, session_id: str) -> bool:
        """Whether there is such a session, in the trash or not."""
        with self._reading():
            row = self._connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone()
        return row is not None

    def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        query = (
            "SELECT c.digest, c.seq FROM sessions s JOIN commands c ON c.session = s.key WHERE s.id = ? AND c.id = ?"
        )
        with self._reading():
            row = self._connection.execute(query, (session_id, command_id)).fetchone()
        return Receipt(*row) if row else None

    def sessions(self, *, removed: bool) -> list[Listing]:
        with self._reading():
            rows = self._connection.execute(_SESSIONS, (removed,)).fetchall()
        return [_listing(*row) for row in rows]

    def list_page(self, limit: int, before: str | None, *, removed: bool) -> list[Listing]:
        with self._reading():
            rows = self._connection.execute(_PAGE, (removed, before, limit)).fetchall()
        return [_listing(*row) for row in rows]

    def load_snapshot(self, session_id: str) -> Snapshot | None:
        query = "SELECT seq, hash, version, state FROM sessions s JOIN snapshots ON session = s.key WHERE s.id = ?"
        with self._reading():
            row = self._connection.execute(query, (session_id,)).fetchone()
        return Snapshot(Head(row[0], row[1]), row[2], row[3]) if row else None

    def close(self) -> None:
        self._connection.close()

    def _find(self, session_id: str) -> int:
        row = self._connection.execute(
            "SELECT key FROM sessions WHERE id = ? AND removed_at IS NULL", (session_id,)
        ).fetchone()
        if row is None:
            raise NotFound(f"no session {session_id}")
        key: int = row[0]
        return key

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise LogError(f"{self._path} could not be read ({error})") from error


def _listing(
    session_id: str,
    created_at: str,
    data: bytes,
    removed_at: str | None,
    updated_at: str,
    seq: int,
    hashes: bytes,
    file: str | None,
    folder: str,
) -> Listing:
    """Make an entry of the list from a row."""
    summary, is_damaged = read_summary(data)
    return Listing(
        session_id=session_id,
        created_at=created_at,
        updated_at=updated_at,
        head=read_head(seq, hashes),
        summary=summary,
        removed_at=removed_at,
        project=Project(file, folder) if file is not None else None,
        is_summary_damaged=is_damaged,
    )
