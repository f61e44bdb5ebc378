"""Reads what is left of a damaged file: each session up to the first event that is lost or damaged.

Only the table of appends is used, without its indexes: each event names its session itself.
"""

import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from moot.core.codec import Event, decode
from moot.core.errors import Corrupt
from moot.runtime.stores import log_tables
from moot.runtime.stores.walk import Row, Walk, as_bytes

_PLACES = "SELECT id, session, seq FROM appends NOT INDEXED ORDER BY id"
_ROW = "SELECT seq, hashes, data FROM appends WHERE id = ?"

Place = tuple[int, int, int]  # of a row: its id, its session's key, the seq of its first event


def salvage(path: Path) -> Iterator[list[Event]]:
    """Yield the sound events at the start of each session; sessions without any are skipped."""
    with closing(log_tables.open_for_reading(path)) as connection:
        sessions = defaultdict(list)
        for row_id, session, seq in _find_places(connection):
            sessions[session].append((seq, row_id))
        for places in sessions.values():
            events = _read_prefix([row for _, row_id in sorted(places) for row in _read_row(connection, row_id)])
            if events:
                yield events


def _find_places(connection: sqlite3.Connection) -> set[Place]:
    """List the readable rows: from the front up to a damaged page, then from the back down to it."""
    places: set[Place] = set()
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.DatabaseError):
            for place in connection.execute(f"{_PLACES} {order}"):
                if place in places:
                    break
                places.add(place)
    return places


def _read_row(connection: sqlite3.Connection, row_id: int) -> list[Row]:
    with suppress(sqlite3.DatabaseError):
        return connection.execute(_ROW, (row_id,)).fetchall()
    return []


def _read_prefix(rows: list[Row]) -> list[Event]:
    walk = Walk(_find_session_id(rows), after=0, limit=sys.maxsize)
    with suppress(Corrupt):
        walk.through(rows)
    return walk.events


def _find_session_id(rows: list[Row]) -> str:
    """Return the session id in the first event that can be decoded, else an empty string."""
    for _, _, data in rows:
        with suppress(ValueError):
            return decode(as_bytes(data).partition(b"\n")[0], "").session_id
    return ""
