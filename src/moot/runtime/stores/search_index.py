"""The words that were said in the sessions of a log file, in a file of its own beside it: `search.db`.

It is made from the log and may be deleted at any time. It is brought up to date when somebody searches, so that an
append costs nothing more. Several processes may do so: the log is read, and the index has transactions of its own.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from moot.core.errors import LogError
from moot.core.search_words import Term
from moot.runtime.ports import Place
from moot.runtime.stores import log_tables
from moot.runtime.stores.rows import HASH_BYTES, read_head, read_summary
from moot.runtime.stores.said import read_said

ENDING = "-search"  # of the file's name
VERSION = 1
_BUSY_S = 30.0
_EVENTS_AT_ONCE = 20_000  # in one transaction
_TABLES = (
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, removed INTEGER NOT NULL)",
    "CREATE TABLE places (id INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL)",
    "CREATE INDEX places_session ON places (session)",
    # the words are cut before: here they are only taken apart at the spaces
    "CREATE VIRTUAL TABLE said USING fts5 (words,"
    " tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* Co'\")",
)
_HEADS = (
    "SELECT s.key, s.id, s.summary, s.removed_at IS NOT NULL, a.seq, a.hashes FROM sessions s JOIN appends a ON a.id ="
    " (SELECT id FROM appends WHERE session = s.key ORDER BY seq DESC LIMIT 1)"
)
_ROWS = (
    "SELECT seq, hashes, data FROM appends WHERE session = ?1 AND seq >="
    " coalesce((SELECT max(seq) FROM appends WHERE session = ?1 AND seq <= ?2), 0) ORDER BY seq"
)
_FIND = (
    "SELECT p.session, p.seq FROM said JOIN places p ON p.id = said.rowid JOIN sessions s ON s.id = p.session"
    " WHERE said MATCH ?1 AND NOT s.removed AND p.session = coalesce(?2, p.session)"
    " ORDER BY p.at DESC, p.seq DESC LIMIT ?3"
)


class SearchIndex:
    """Searches one log file; not thread-safe. Methods raise LogError if a file cannot be used."""

    def __init__(self, log: Path) -> None:
        self._path = log
        self._log = log_tables.open_for_reading(log)
        self._index = _open(log.with_name(f"{log.stem}{ENDING}.db"))
        self._data_version: int | None = None

    def search(self, terms: Sequence[Term], session_id: str | None, limit: int) -> list[Place]:
        with _explained(self._path):
            self.catch_up()
            rows = self._index.execute(_FIND, (write_match(terms), session_id, limit)).fetchall()
        return [Place(*row) for row in rows]

    def catch_up(self) -> None:
        """Take in what was appended, and forget what was deleted, since the last time."""
        (version,) = self._log.execute("PRAGMA data_version").fetchone()
        if version == self._data_version:
            return
        known = {row[0]: row[1:] for row in self._index.execute("SELECT id, seq, hash, removed FROM sessions")}
        for key, id_, summary, removed, seq, hashes in self._log.execute(_HEADS).fetchall():
            head = read_head(seq, hashes)
            if known.pop(id_, None) != (head.seq, head.hash, removed):
                self._take_in(key, id_, read_summary(summary)[0].flow, removed=removed)
        for id_ in known:
            with self._writing():
                self._forget(id_)
        self._data_version = version

    def _take_in(self, key: int, id_: str, flow: str, *, removed: bool) -> None:
        """Index a session from where indexing stopped. If its history has changed, it is indexed from the start."""
        is_done = False
        while not is_done:
            with self._writing():
                row = self._index.execute("SELECT seq, hash FROM sessions WHERE id = ?", (id_,)).fetchone()
                after, hash_ = row or (0, "")
                with closing(self._log.execute(_ROWS, (key, after))) as rows:
                    first = rows.fetchone()
                    if after and not _continues(first, after, hash_):
                        self._forget(id_)
                        continue
                    is_done = self._add(id_, flow, after, first, rows, removed=removed)

    def _add(
        self,
        id_: str,
        flow: str,
        after: int,
        row: tuple[int, bytes, bytes] | None,
        rows: sqlite3.Cursor,
        *,
        removed: bool,
    ) -> bool:
        """Add the events behind `after`, up to a number. Return whether those were all."""
        while row is not None:
            seq, hashes, data = row
            for said in read_said(flow, seq, data, after):
                place = (id_, said.seq, said.at)
                cursor = self._index.execute("INSERT INTO places (session, seq, at) VALUES (?, ?, ?)", place)
                words = " ".join(said.tokens)
                self._index.execute("INSERT INTO said (rowid, words) VALUES (?, ?)", (cursor.lastrowid, words))
            head = read_head(seq, hashes)
            row = rows.fetchone()
            if row is None or head.seq - after >= _EVENTS_AT_ONCE:
                values = (id_, head.seq, head.hash, removed)
                self._index.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", values)
                return row is None
        return True

    def _forget(self, id_: str) -> None:
        self._index.execute("DELETE FROM said WHERE rowid IN (SELECT id FROM places WHERE session = ?)", (id_,))
        self._index.execute("DELETE FROM places WHERE session = ?", (id_,))
        self._index.execute("DELETE FROM sessions WHERE id = ?", (id_,))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._index.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._index.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._index.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._log.close()
        self._index.close()


def _continues(row: tuple[int, bytes, bytes] | None, after: int, hash_: str) -> bool:
    """Whether the event `after` is the one that was indexed: a log may have been replaced by a copy of itself."""
    if row is None:
        return False
    at = (after - row[0]) * HASH_BYTES
    return at >= 0 and row[1][at : at + HASH_BYTES].hex() == hash_


def write_match(terms: Sequence[Term]) -> str:
    """Write a query for FTS5. Tokens are letters and digits only, so that quotes hold them."""
    return " ".join(f'"{" ".join(term.tokens)}"{" *" if term.is_prefix else ""}' for term in terms)


def _open(path: Path) -> sqlite3.Connection:
    """Open or create the index; in memory where nothing can be written. One of another version is rebuilt."""
    try:
        return _open_file(path)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            for ending in ("", "-wal", "-shm"):
                path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
            with _explained(path):
                return _open_file(path)
        with _explained(path):
            return _prepare(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))


def _open_file(path: Path) -> sqlite3.Connection:
    log_tables.create(path)
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")  # what was deleted for good is not to be found here
        return _prepare(connection)
    except BaseException:
        connection.close()
        raise


def _prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        for table in ("said", "places", "sessions"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    return connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise LogError(f"what was said in {path} could not be searched ({error})") from error
