"""What can still be read of a damaged file: rows around pages that cannot be, each session as far as its chain holds.

It trusts no index, and no table but the one of the events: an event says itself which session it is of.
"""

import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from moot.core.codec import Event, decode
from moot.core.errors import Corrupt
from moot.runtime.stores import schema
from moot.runtime.stores.walk import Row, Walk, as_bytes

_PLACES = "SELECT id, session, seq FROM appends NOT INDEXED ORDER BY id"
_ROW = "SELECT seq, hashes, data FROM appends WHERE id = ?"

Place = tuple[int, int, int]  # of a row: its id, its session's key, the seq of its first event


def salvage(path: Path) -> Iterator[list[Event]]:
    """Of each session the events before the first that is damaged; nothing of one that is damaged from the start."""
    with closing(schema.open_for_reading(path)) as connection:
        sessions = defaultdict(list)
        for row_id, session, seq in _find_places(connection):
            sessions[session].append((seq, row_id))
        for places in sessions.values():
            events = _read_prefix([row for _, row_id in sorted(places) for row in _read_row(connection, row_id)])
            if events:
                yield events


def _find_places(connection: sqlite3.Connection) -> set[Place]:
    """From the front up to a page that cannot be read, then from the back down to it."""
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
    """As the first event says it, if that can be read."""
    for _, _, data in rows:
        with suppress(ValueError):
            return decode(as_bytes(data).partition(b"\n")[0], "").session_id
    return ""
