"""The tables of the log in PostgreSQL, and how a database gets from one version to the next.

A node runs on a database whose version is its own, or newer with a `min_version` that lets it. So a migration only
adds what older nodes can do without, and may run while they work. `heads` is the only row that an append contends for:
it has no index on what every append changes, so that its updates stay in their page.
"""

import asyncio
import itertools
import logging
import uuid
from typing import TYPE_CHECKING

from moot.core.errors import LogError, Unusable
from moot.runtime.stores.postgres.links import Address

if TYPE_CHECKING:
    import asyncpg

logger = logging.getLogger(__name__)

VERSION = 7
PARTITION_SESSIONS = 1_000_000
PARTITIONS_AHEAD = 2
LOCK_WAIT_MS = 3_000  # for a table: whoever comes later waits behind a migration that waits
LOCK_TRIES = 20
LOCK_PAUSE_S = 1.0  # between two tries
MAINTAIN_LOCK = 0x4D4F4F54  # "MOOT"; who holds it migrates or makes partitions

_INSERTED = "autovacuum_vacuum_insert_scale_factor = 0.05"  # rows that stay are frozen while they are in memory
_FIRST = (
    "CREATE SCHEMA IF NOT EXISTS moot",
    "CREATE TABLE moot.meta (version int NOT NULL, min_version int NOT NULL, lineage uuid NOT NULL)",
    "CREATE SEQUENCE moot.touches",
    "CREATE TABLE moot.sessions (key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,"
    " team text NOT NULL, created_at text NOT NULL, summary bytea NOT NULL, listed bigint NOT NULL, removed_at text,"
    " project_file text, project_folder text)",
    "CREATE INDEX sessions_listed ON moot.sessions (listed DESC) WHERE removed_at IS NULL",
    "CREATE TABLE moot.heads (session bigint PRIMARY KEY, seq bigint NOT NULL, hash bytea NOT NULL, at text NOT NULL,"
    " touched bigint NOT NULL, due boolean NOT NULL, removed boolean NOT NULL DEFAULT false, owner bigint,"
    " epoch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)",
    "CREATE INDEX heads_due ON moot.heads (owner) WHERE due AND NOT removed",
    "CREATE TABLE moot.appends (session bigint NOT NULL, seq bigint NOT NULL, at text NOT NULL, epoch bigint NOT NULL,"
    " tag bigint NOT NULL, hashes bytea NOT NULL, data bytea NOT NULL, PRIMARY KEY (session, seq))"
    " PARTITION BY RANGE (session)",
    "CREATE TABLE moot.commands (session bigint NOT NULL, id text NOT NULL, digest text NOT NULL, seq bigint NOT NULL,"
    " PRIMARY KEY (session, id)) PARTITION BY RANGE (session)",
    "CREATE TABLE moot.snapshots (session bigint NOT NULL, version text NOT NULL, seq bigint NOT NULL,"
    " hash text NOT NULL, state bytea NOT NULL, saved bigint NOT NULL, PRIMARY KEY (session, version))",
    "CREATE TABLE moot.doomed (session bigint PRIMARY KEY)",
    "CREATE TABLE moot.nodes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,"
    " version text NOT NULL, teams text[] NOT NULL, beats bigint NOT NULL DEFAULT 0, lease_until timestamptz NOT NULL)"
    " WITH (fillfactor = 50)",
    "CREATE TABLE moot.documents (name text PRIMARY KEY, version bigint NOT NULL, data bytea NOT NULL)",
)
_FILES = (
    "CREATE TABLE moot.files (session bigint NOT NULL, sha256 text NOT NULL, data bytea NOT NULL,"
    " PRIMARY KEY (session, sha256))",
    "ALTER TABLE moot.files ALTER COLUMN data SET STORAGE EXTERNAL",  # pictures do not get smaller
)
_SEARCH = (
    "CREATE TABLE moot.said (session bigint NOT NULL, seq bigint NOT NULL, part int NOT NULL, at text NOT NULL,"
    " words tsvector NOT NULL, PRIMARY KEY (session, seq, part))",
    "CREATE INDEX said_words ON moot.said USING gin (words)",
    "CREATE TABLE moot.searched (session bigint PRIMARY KEY, seq bigint NOT NULL)",
)
_WORKERS = (
    "CREATE TABLE moot.workers (id text PRIMARY KEY, name text NOT NULL, pools text[] NOT NULL, teams text[] NOT NULL,"
    " host bigint, lease_until timestamptz NOT NULL) WITH (fillfactor = 50)",
    "CREATE TABLE moot.jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session bigint NOT NULL,"
    " turn text NOT NULL, kind text NOT NULL, pool text NOT NULL, team text NOT NULL, member text NOT NULL,"
    " input bytea NOT NULL, attempt int NOT NULL DEFAULT 0, worker text, lease_until timestamptz,"
    " offered_at timestamptz NOT NULL DEFAULT clock_timestamp(), UNIQUE (session, turn)) WITH (fillfactor = 50)",
    "CREATE INDEX jobs_open ON moot.jobs (pool, id) WHERE worker IS NULL",
    "CREATE INDEX jobs_held ON moot.jobs (worker) WHERE worker IS NOT NULL",
    "CREATE TABLE moot.played (session bigint NOT NULL, member text NOT NULL, worker text NOT NULL,"
    " PRIMARY KEY (session, member))",
)
# Where the trees of a session are; which jobs work in trees, and must go to the worker that has them.
_PLACES = (
    "ALTER TABLE moot.heads ADD COLUMN place text",
    "ALTER TABLE moot.nodes ADD COLUMN place text NOT NULL DEFAULT ''",
    "ALTER TABLE moot.jobs ADD COLUMN is_bound boolean NOT NULL DEFAULT false",
)
# What of the log a node can read; 0: one that did not say yet.
_LOG_VERSIONS = ("ALTER TABLE moot.nodes ADD COLUMN log_version int NOT NULL DEFAULT 0",)
# What sessions that have been idle for long have instead of appends. They are compressed already.
_SEGMENTS = (
    "CREATE TABLE moot.segments (session bigint NOT NULL, from_seq bigint NOT NULL, to_seq bigint NOT NULL,"
    " bytes bytea NOT NULL, PRIMARY KEY (session, from_seq))",
    "ALTER TABLE moot.segments ALTER COLUMN bytes SET STORAGE EXTERNAL",
)
_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST,
    _FILES,
    _SEARCH,
    _WORKERS,
    _PLACES,
    _LOG_VERSIONS,
    _SEGMENTS,
)  # entry n takes a database from version n to n + 1


async def find_version(connection: "asyncpg.Connection") -> int:
    """The version of the tables; 0 if there are none."""
    if await connection.fetchval("SELECT to_regclass('moot.meta') IS NULL"):
        return 0
    version: int | None = await connection.fetchval("SELECT version FROM moot.meta")
    return version or 0


async def check(connection: "asyncpg.Connection", address: Address) -> None:
    """Raise Unusable if this Moot cannot work with the tables."""
    version = await find_version(connection)
    if version == 0:
        raise Unusable(f"{address.shown} has no tables of Moot; run `moot db init --store URL` once")
    if version < VERSION:
        raise Unusable(
            f"{address.shown} has tables of version {version}, this Moot needs {VERSION}; run `moot db migrate`"
        )
    oldest: int = await connection.fetchval("SELECT min_version FROM moot.meta")
    if oldest > VERSION:
        raise Unusable(f"{address.shown} has tables of version {version}; this Moot is too old for them: update it")


async def migrate(connection: "asyncpg.Connection", to: int = VERSION) -> int:
    """Create the tables, or take them to version `to`, one version after the other; concurrently if need be.

    Returns the version before. Raises LogError if a table stays locked by others.
    """
    before = await find_version(connection)
    for tries in itertools.count(1):
        try:
            while await _take_step(connection, to) < to:
                pass
        except LogError as error:
            if tries == LOCK_TRIES:
                raise
            logger.warning("%s; trying again", error)
            await asyncio.sleep(LOCK_PAUSE_S)
        else:
            return before
    raise AssertionError


async def _take_step(connection: "asyncpg.Connection", to: int) -> int:
    """Migrate to the next version, at most to this one. Return the version after it; raises LogError as above."""
    import asyncpg

    # before the transaction: one that is under way does not see what tables others have made
    await connection.execute("SELECT pg_advisory_lock($1)", MAINTAIN_LOCK)
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
            version = await find_version(connection)
            if version < to:
                for statement in _MIGRATIONS[version]:
                    await connection.execute(statement)
                version += 1
                if version == 1:
                    await connection.execute("INSERT INTO moot.meta VALUES (1, 1, $1)", uuid.uuid4())
                await connection.execute("UPDATE moot.meta SET version = $1", version)
            await _add_partitions(connection)
            return version
    except asyncpg.LockNotAvailableError as error:
        raise LogError(f"a table is in use by others ({error})") from error
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", MAINTAIN_LOCK)


async def begin_anew(connection: "asyncpg.Connection") -> None:
    """Release everything that nodes and workers owned when a backup was made. Called after a restore."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", MAINTAIN_LOCK)
        await connection.execute("UPDATE moot.meta SET lineage = $1", uuid.uuid4())
        await connection.execute("UPDATE moot.heads SET owner = NULL, epoch = epoch + 1 WHERE owner IS NOT NULL")
        for table in ("jobs", "workers", "nodes"):
            await connection.execute(f"DELETE FROM moot.{table}")


async def add_partitions(connection: "asyncpg.Connection") -> None:
    """Make the partitions that the next sessions go to, unless another node is creating them."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", MAINTAIN_LOCK)
        await _add_partitions(connection)


async def list_full_partitions(connection: "asyncpg.Connection") -> list[str]:
    """List the partitions of appends that no new session will go to."""
    newest: int = await connection.fetchval("SELECT coalesce(max(key), 0) FROM moot.sessions")
    names = [f"moot.appends_{number}" for number in range(newest // PARTITION_SESSIONS)]
    return [name for name in names if await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", name)]


async def _add_partitions(connection: "asyncpg.Connection") -> None:
    newest: int = await connection.fetchval("SELECT coalesce(max(key), 0) FROM moot.sessions")
    first = newest // PARTITION_SESSIONS
    for number in range(first, first + PARTITIONS_AHEAD):
        for table in ("appends", "commands"):
            await _add_partition(connection, table, number)


async def _add_partition(connection: "asyncpg.Connection", table: str, number: int) -> None:
    """Attach a new partition. Unlike PARTITION OF that waits for no reader, such as pg_dump, with appends behind it."""
    name = f"moot.{table}_{number}"
    if await connection.fetchval("SELECT to_regclass($1) IS NULL", name):
        await connection.execute(f"CREATE TABLE {name} (LIKE moot.{table} INCLUDING ALL) WITH ({_INSERTED})")
        await connection.execute(
            f"ALTER TABLE moot.{table} ATTACH PARTITION {name}"
            f" FOR VALUES FROM ({number * PARTITION_SESSIONS}) TO ({(number + 1) * PARTITION_SESSIONS})"
        )
