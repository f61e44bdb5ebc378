"""The archive: what sessions that have been idle for long have in the log is compressed.

A segment holds appends that follow each other. It takes their place in one transaction, and reading finds either them
or it, so that nothing is lost or seen twice, whenever the archiving ends. Who appends to the session again appends
behind the segments. Segments are only made when every node can read them (`LOG_VERSION`).
"""

import logging
import sys
from typing import TYPE_CHECKING

from moot.core.errors import Corrupt
from moot.runtime.cluster import Upkeep
from moot.runtime.stores.postgres import statements, tables
from moot.runtime.stores.postgres.reader import read_rows
from moot.runtime.stores.rows import pack_segment
from moot.runtime.stores.walk import Row, Walk

if TYPE_CHECKING:
    import asyncpg

logger = logging.getLogger(__name__)

IDLE_DAYS = 30
SEGMENT_BYTES = 256 * 1024  # before it is compressed: more makes it no smaller, and reading one event unpacks it all
_ROWS = 1_000  # that are read for a segment at most
_LOG_VERSION = 2  # the first that reads segments
_TABLES_VERSION = 7  # the first that has them
_ARCHIVE_LOCK = tables.MAINTAIN_LOCK + 1  # who holds it archives

_IDLE = (
    "NOT h.due AND NOT h.removed AND h.at < to_char((clock_timestamp() - $2 * interval '1 day') AT TIME ZONE 'UTC',"
    """ 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
)
_NEXT = f"""
SELECT h.session, s.id FROM moot.heads h JOIN moot.sessions s ON s.key = h.session
WHERE h.session > $1 AND {_IDLE} AND EXISTS (SELECT 1 FROM moot.appends a WHERE a.session = h.session)
ORDER BY h.session LIMIT 1
"""
_ARCHIVED = "SELECT coalesce(max(to_seq), 0) FROM moot.segments WHERE session = $1"
# Only while it is idle, and nobody appends.
_TAKE_OUT = f"""
WITH idle AS (SELECT h.session FROM moot.heads h WHERE h.session = $1 AND {_IDLE} FOR NO KEY UPDATE SKIP LOCKED),
 gone AS (DELETE FROM moot.appends a USING idle WHERE a.session = idle.session AND a.seq BETWEEN $3 AND $4 RETURNING 1)
SELECT count(*) FROM gone
"""
_OLD_NODES = "SELECT string_agg(DISTINCT name, ', ') FROM moot.nodes WHERE log_version < $1"
_RAISE = "UPDATE moot.meta SET min_version = greatest(min_version, $1)"


class _InUse(Exception):
    """The session is not idle any more."""


async def empty_partitions(connection: "asyncpg.Connection") -> int:
    """Give back the space of partitions whose sessions are all archived or gone. Returns how many those were.

    They stay, for sessions that go on. Called before archiving: a backup that began before the rows were taken out
    must have begun to read the partition by now, and then it is left alone.
    """
    return sum([await _empty(connection, name) for name in await tables.list_full_partitions(connection)])


async def _empty(connection: "asyncpg.Connection", name: str) -> bool:
    import asyncpg

    is_empty = f"SELECT NOT EXISTS (SELECT 1 FROM {name})"
    if not await connection.fetchval("SELECT pg_relation_size($1::regclass) > 0", name):
        return False
    if not await connection.fetchval(is_empty):
        return False
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = {tables.LOCK_WAIT_MS}")
            await connection.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
            if not await connection.fetchval(is_empty):
                return False
            await connection.execute(f"TRUNCATE {name}")
            return True
    except asyncpg.LockNotAvailableError:
        logger.info("%s is in use; it is emptied the next time", name)
        return False


async def archive_idle(connection: "asyncpg.Connection") -> Upkeep:
    """Archive what is idle, unless another process does so, or a node could not read it."""
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _ARCHIVE_LOCK):
        return Upkeep(waits_for="another `moot db maintain`")
    try:
        old = await connection.fetchval(_OLD_NODES, _LOG_VERSION)
        if old:
            return Upkeep(waits_for=f"servers of a newer Moot instead of {old}")
        sessions, key = 0, -1
        while row := await connection.fetchrow(_NEXT, key, IDLE_DAYS):
            await connection.execute(_RAISE, _TABLES_VERSION)
            key = row["session"]
            sessions += await _archive(connection, key, row["id"])
        return Upkeep(archived=sessions)
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", _ARCHIVE_LOCK)


async def _archive(connection: "asyncpg.Connection", key: int, session_id: str) -> bool:
    """Archive a session, one segment after the other. Returns whether all of it is archived."""
    after: int = await connection.fetchval(_ARCHIVED, key)
    try:
        while rows := await _read_next(connection, key, session_id, after):
            after = await _replace(connection, key, after, rows)
    except Corrupt as error:
        logger.warning("%s; it is not archived further", error)
        return False
    except _InUse:
        return False
    return True


async def _read_next(connection: "asyncpg.Connection", key: int, session_id: str, after: int) -> list[Row]:
    """The next rows for a segment. Raises Corrupt if they are not sound, or are of a newer Moot: they stay."""
    stored = read_rows(await connection.fetch(statements.ROWS, key, after, _ROWS))
    rows: list[Row] = []
    size = 0
    for row in stored:
        size += len(row[1]) + len(row[2]) if row[0] > after else 0
        if size > SEGMENT_BYTES and rows and rows[-1][0] > after:
            break
        rows.append(row)
    Walk(session_id, after, sys.maxsize).through(rows)
    return [row for row in rows if row[0] > after]


async def _replace(connection: "asyncpg.Connection", key: int, after: int, rows: list[Row]) -> int:
    """Put a segment in the place of appends; return its last seq. Raises _InUse."""
    last = rows[-1][0] + rows[-1][2].count(b"\n")
    data = pack_segment(rows)
    async with connection.transaction():
        gone = await connection.fetchval(_TAKE_OUT, key, IDLE_DAYS, after + 1, rows[-1][0])
        if gone != len(rows):
            raise _InUse
        await connection.execute("INSERT INTO moot.segments VALUES ($1, $2, $3, $4)", key, after + 1, last, data)
    return last
