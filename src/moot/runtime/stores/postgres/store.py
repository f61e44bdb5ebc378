"""`postgresql://…`: the store that several machines share."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit, urlunsplit

import msgspec

from moot.core.errors import ConfigError, LogError, Unusable
from moot.runtime.cluster import ClusterStatus, SharedStore, Upkeep
from moot.runtime.stores.postgres import tables
from moot.runtime.stores.postgres.links import Address, check_durability, connect, translate
from moot.runtime.stores.postgres.nodes import Pace

if TYPE_CHECKING:
    import asyncpg

    from moot.runtime.stores.postgres.postgres_log import PgLog

SCHEMES = ("postgresql", "postgres")
INSTALL = "pip install 'moot[postgres]'"
_STRICT = ("verify-full", "verify-ca")
_LEASE_S = (1.0, 3600.0)
_FORGET_WORKERS = "DELETE FROM moot.workers WHERE lease_until < clock_timestamp() - interval '1 day'"


class PostgresStore(SharedStore):
    """A database of PostgreSQL 14 or newer.

    `MOOT_STORE_DIRECT` is the URL of the server itself where the first one goes through a pooler, `MOOT_LEASE_S` how
    long a node may be cut off before others take over, `MOOT_NODE` the name of this node. With
    `MOOT_DURABILITY=replicated` a server does without a synchronous standby neither start nor count as ready.
    """

    version = tables.VERSION

    def __init__(self, url: str) -> None:
        direct = os.environ.get("MOOT_STORE_DIRECT", "")
        self.address = read_address(url, is_pooled=bool(direct))
        self.direct = read_address(direct) if direct else self.address
        self.pace = _read_pace()
        self.needs_standby = _read_durability() == "replicated"
        self.node_name = os.environ.get("MOOT_NODE") or socket.gethostname()

    def __str__(self) -> str:
        return self.address.shown

    async def open(self, *, read_only: bool = False) -> "PgLog":
        _require_driver()
        from moot.runtime.stores.postgres.postgres_log import PgLog

        if read_only:
            return await PgLog.open_for_reading(self.address)
        return await PgLog.open(self.address, self.direct, self.node_name, self.pace, needs_standby=self.needs_standby)

    async def initialise(self, *, after_restore: bool = False, to: int | None = None) -> int:
        async with self._connected() as connection:
            await check_durability(connection, self.direct)
            before = await tables.find_version(connection)
            if to is not None and not before <= to <= self.version:
                raise Unusable(
                    f"{self} has tables of version {before}; this Moot can take them up to {self.version}, never back"
                )
            before = await tables.migrate(connection, self.version if to is None else to)
            if after_restore:
                await tables.begin_anew(connection)
            return before

    async def read_status(self) -> ClusterStatus:
        """Return the state of the store, for operators. Raises Unusable if there are no tables."""
        from moot.runtime.stores.postgres.status import read_status

        async with self._connected() as connection:
            await tables.check(connection, self.direct)
            return await read_status(connection)

    async def maintain(self) -> Upkeep:
        """Make partitions ahead, sweep what was deleted, empty partitions, and archive what is idle."""
        from moot.runtime.stores.postgres import archive

        log = await self.open()
        try:
            swept = await log.sweep()
        finally:
            await log.close()
        async with self._connected() as connection:
            await tables.add_partitions(connection)
            await connection.execute(_FORGET_WORKERS)
            emptied = await archive.empty_partitions(connection)
            done = await archive.archive_idle(connection)
        return msgspec.structs.replace(done, swept=swept, emptied=emptied)

    @asynccontextmanager
    async def _connected(self) -> "AsyncIterator[asyncpg.Connection]":
        _require_driver()
        connection = await connect(self.direct)
        try:
            yield connection
        except LogError:
            raise
        except Exception as error:
            raise translate(error, self.direct) from error
        finally:
            await connection.close()


def read_address(url: str, *, is_pooled: bool = False) -> Address:
    """Check a URL and complete it: beyond this machine the server must prove who it is. Raises ConfigError."""
    try:
        parts = urlsplit(url)
        hosts = [host.rsplit("@", 1)[-1] for host in parts.netloc.split(",")] if parts.netloc else []
        query = parse_qs(parts.query)
    except ValueError as error:
        raise ConfigError(f"the store is no URL ({error}); write postgresql://user@host/database") from None
    if parts.scheme not in SCHEMES or not (hosts or "host" in query):
        raise ConfigError("the store names no server; write postgresql://user@host/database")
    user = parts.netloc.rsplit("@", 1)[0].split(":", 1)[0] + "@" if "@" in parts.netloc else ""
    shown = urlunsplit(("postgresql", user + ",".join(hosts), parts.path, "", ""))
    mode = query.get("sslmode", [""])[0]
    is_near = all(_is_near(host) for host in [*hosts, *query.get("host", [])] if host)
    if not is_near and mode not in _STRICT:
        if mode and os.environ.get("MOOT_INSECURE_STORE") != "1":
            raise ConfigError(
                f"sslmode={mode} lets anybody on the way read and change the sessions of {shown}; use "
                "sslmode=verify-full, or set MOOT_INSECURE_STORE=1 on a network that you trust"
            )
        if not mode:
            url += ("&" if parts.query else "?") + "sslmode=verify-full"
    return Address(url, shown, is_pooled)


def _is_near(host: str) -> bool:
    if host.startswith("/"):
        return True  # a socket of this machine
    name = host[1:].split("]")[0] if host.startswith("[") else host.split(":")[0]
    return name in {"localhost", "::1", ""} or name.startswith("127.")


def _read_pace() -> Pace:
    text = os.environ.get("MOOT_LEASE_S", "")
    if not text:
        return Pace()
    try:
        lease_s = float(text)
    except ValueError:
        lease_s = 0.0
    if not _LEASE_S[0] <= lease_s <= _LEASE_S[1]:
        raise ConfigError(f"MOOT_LEASE_S is {text!r}; it must be a number of seconds from 1 to 3600")
    beat_s = min(1.0, lease_s / 6)
    return Pace(beat_s=beat_s, suspect_s=2 * beat_s, lease_s=lease_s, worker_lease_s=1.5 * lease_s)


def _read_durability() -> str:
    text = os.environ.get("MOOT_DURABILITY") or "local"
    if text not in {"local", "replicated"}:
        raise ConfigError(f"MOOT_DURABILITY is {text!r}; it must be local or replicated")
    return text


def _require_driver() -> None:
    try:
        import asyncpg  # noqa: F401
    except ImportError:
        raise Unusable(f"PostgreSQL needs the package asyncpg; install it with {INSTALL}") from None
