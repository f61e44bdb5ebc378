"""Commits batches of changes to the log file. Not thread-safe."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from moot.core.errors import LogError, StorageFull, Unusable
from moot.runtime.stores import log_tables
from moot.runtime.stores.changes import Change, Place, Transaction

_PLACES_KEPT = 10_000  # size of a cache
# Errors of the data (None: a value that SQLite cannot store). After any other the connection is opened again.
_HARMLESS = {None, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG}

Outcome = Exception | None


class Writer:
    """The connection for writing, and the place of each session that was written to lately."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = log_tables.open_for_writing(path)
        self._places: dict[str, Place] = {}
        self.commit_count = 0

    def commit(self, changes: Sequence[Change]) -> list[Outcome]:
        """Commit changes in one transaction.

        Returns:
            For each change None if it is on disk, or the error for which it was not made.
        """
        try:
            return self._attempt(changes)
        except Unusable as error:  # the file could not be opened again
            return [LogError(str(error)) for _ in changes]
        except Exception as error:  # every change gets an outcome: its caller waits for it
            code, were_places_known = _code(error), bool(self._places)
            self._places.clear()
            if code not in _HARMLESS:
                self.close()  # the next commit opens the file again
            if code == sqlite3.SQLITE_CONSTRAINT and were_places_known:
                return self.commit(changes)  # the cache was wrong, somebody else wrote to the file: try without it
            if code in _HARMLESS and len(changes) > 1:
                return [self.commit([change])[0] for change in changes]  # one change must not fail the others
            return [_explain(error, self._path) for _ in changes]

    def checkpoint(self, mode: str = "PASSIVE") -> None:
        """Copy the WAL into the file. Errors are ignored: the WAL is as durable, and the next one tries again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA wal_checkpoint({mode})")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _attempt(self, changes: Sequence[Change]) -> list[Outcome]:
        connection = self._connection = self._connection or log_tables.open_for_writing(self._path)
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
    return None if code is None else code & 0xFF  # the primary code


def _explain(error: Exception, path: Path) -> LogError:
    if _code(error) == sqlite3.SQLITE_FULL:
        return StorageFull(f"the disk of {path} is full; nothing was written, make room and try again")
    return LogError(f"{path} could not be written ({error}); nothing was acknowledged")
