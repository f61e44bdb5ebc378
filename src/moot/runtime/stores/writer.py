"""Commits changes to the file, many at a time. It knows neither threads nor event loops: one caller at a time."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from moot.core.errors import LogError, StorageFull, Unusable
from moot.runtime.stores import schema
from moot.runtime.stores.changes import Change, Place, Transaction

_PLACES_KEPT = 10_000  # a cache: forgotten places are looked up again
# Faults of what was written (None: values that SQLite cannot take); after others the connection is not to be trusted.
_HARMLESS = {None, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG}

Outcome = Exception | None


class Writer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = schema.open_for_writing(path)
        self._places: dict[str, Place] = {}
        self.commit_count = 0

    def commit(self, changes: Sequence[Change]) -> list[Outcome]:
        """One transaction. Each change is done and on disk (None), or not done at all (why)."""
        try:
            return self._attempt(changes)
        except Unusable as error:  # the file could not be opened again
            return [LogError(str(error)) for _ in changes]
        except Exception as error:
            code, were_places_known = _code(error), bool(self._places)
            self._places.clear()
            if code not in _HARMLESS:
                self.close()  # the next commit opens the file anew
            if code == sqlite3.SQLITE_CONSTRAINT and were_places_known:
                return self.commit(changes)  # somebody else wrote to the file: look again where its sessions end
            if code in _HARMLESS and len(changes) > 1:
                return [self.commit([change])[0] for change in changes]  # one change must not fail the others
            return [_explain(error, self._path) for _ in changes]

    def checkpoint(self, mode: str = "PASSIVE") -> None:
        """Move what the WAL holds into the file. What stands in the way only puts it off: the WAL is as durable."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA wal_checkpoint({mode})")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _attempt(self, changes: Sequence[Change]) -> list[Outcome]:
        connection = self._connection = self._connection or schema.open_for_writing(self._path)
        transaction = Transaction(connection, self._places)
        outcomes: list[Outcome] = []
        try:
            for change in changes:
                try:
                    change.apply(transaction)
                    outcomes.append(None)
                except LogError as refusal:
                    outcomes.append(refusal)
            transaction.commit()
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.commit_count += 1
        self._remember(transaction.moved)
        return outcomes

    def _remember(self, moved: dict[str, Place | None]) -> None:
        if len(self._places) > _PLACES_KEPT:
            self._places.clear()
        for session_id, place in moved.items():
            if place is None:
                self._places.pop(session_id, None)
            else:
                self._places[session_id] = place


def _code(error: Exception) -> int | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF  # without the extension


def _explain(error: Exception, path: Path) -> LogError:
    if _code(error) == sqlite3.SQLITE_FULL:
        return StorageFull(f"the disk of {path} is full; nothing was written, make room and try again")
    return LogError(f"{path} could not be written ({error}); nothing was acknowledged")
