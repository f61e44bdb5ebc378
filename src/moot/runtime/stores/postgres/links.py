"""Connections to PostgreSQL that are made anew when they break.

Whatever goes wrong with a connection is a BrokenLink, whatever the server refuses is a LogError. A statement that
writes must never be cancelled: asyncpg would send a CancelRequest, and under synchronous replication that makes a
commit visible before it is replicated. Who has no patience left cuts the connection (`Link.cut`).
"""

import asyncio
import itertools
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from moot.core.errors import LogError, StorageFull, Unusable

if TYPE_CHECKING:
    import asyncpg

logger = logging.getLogger(__name__)

CONNECT_S = 10.0
RETRY_S = (0.05, 0.1, 0.25, 0.5, 1.0)  # between attempts to connect; the last one again and again
PEER_SILENT_MS = 10_000  # until a connection whose other end answers nothing is given up
IDLE_IN_TRANSACTION_MS = 2_000  # a node that is stopped must not hold a session longer
_SETTINGS = {
    "application_name": "moot",
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": str(IDLE_IN_TRANSACTION_MS),
    "synchronous_commit": "on",
    "tcp_user_timeout": str(PEER_SILENT_MS),
}
# An append has many parts: PostgreSQL would plan it anew each time, which takes longer than to carry it out. A plan
# that is kept must hold for tables of any size, so it finds rows by indexes alone.
_PLANNED_ONCE = {**_SETTINGS, "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off"}
_NEEDED = {"fsync": ("on",), "full_page_writes": ("on",), "synchronous_commit": ("on", "remote_apply")}
# Of classes 08 (connection), 57P (the server goes down or comes up) and 25P (the transaction timed out); 40001 is a
# standby that gives up a query because the server has removed rows which it reads.
_BROKEN = ("08", "57P", "25P03", "40001")


class BrokenLink(LogError):
    """The connection broke; whether the statement took effect is not known."""


class Address(Struct, frozen=True):
    """The address of the server. `shown` is the URL without its password."""

    url: str
    shown: str
    is_pooled: bool = False  # through a pooler in transaction mode: no settings and no statements of a connection


def translate(error: BaseException, address: Address) -> LogError:
    """Translate an error of the driver to one of the log."""
    import asyncpg

    if isinstance(error, asyncpg.PostgresError):
        code = error.sqlstate or ""
        if code.startswith(_BROKEN):
            return BrokenLink(f"{address.shown} closed the connection ({error})")
        if code in {"53100", "25006"}:  # disk full, read only
            return StorageFull(f"{address.shown} takes nothing now ({error}); what is there can be read")
        if code in {"28P01", "28000", "3D000", "42501"}:
            return Unusable(f"{address.shown} refuses the connection ({error}); check user, password and database")
        if code in {"42P01", "3F000"}:
            return Unusable(f"{address.shown} has no tables of Moot; run `moot db init --store URL` once")
        return LogError(f"{address.shown} refused a statement ({error})")
    if isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError | TypeError):
        return LogError(f"a value cannot be stored ({error})")
    if isinstance(error, UnicodeError):
        return LogError(f"a text cannot be stored ({error})")
    return BrokenLink(f"the connection to {address.shown} broke ({type(error).__name__}: {error})")


class Link:
    """One connection, used by one statement at a time.

    Args:
        checks_durability: refuse a server that does not keep what it has confirmed.
        plans_once: have the server keep the plans of statements, whatever their values are.
    """

    def __init__(self, address: Address, *, checks_durability: bool = False, plans_once: bool = False) -> None:
        self.address = address
        self._plans_once = plans_once
        self._checks_durability = checks_durability
        self._connection: asyncpg.Connection | None = None
        self._lock = asyncio.Lock()
        self._is_closed = False

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["asyncpg.Connection"]:
        """The connection, for the body of the block alone. Errors of the driver become errors of the log."""
        async with self._lock:
            try:
                yield await self._connect()
            except LogError as error:
                if isinstance(error, BrokenLink):
                    self.cut()
                raise
            except asyncio.CancelledError:
                self.cut()  # in whatever state it is
                raise
            except Exception as error:
                translated = translate(error, self.address)
                if isinstance(translated, BrokenLink) or (self._connection and self._connection.is_in_transaction()):
                    self.cut()
                raise translated from error

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        async with self.connected() as connection:
            return list(await connection.fetch(statement, *values))

    def cut(self) -> None:
        """Abort the connection without telling the server. A caller that waits for an answer gets BrokenLink."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def close(self) -> None:
        """Close the connection properly if no statement runs, else abort it."""
        self._is_closed = True
        connection = self._connection
        if connection is not None and not self._lock.locked() and not connection.is_closed():
            with suppress(Exception):
                await connection.close(timeout=1.0)
        self.cut()

    async def _connect(self) -> "asyncpg.Connection":
        connection = self._connection
        if connection is not None and not connection.is_closed():
            return connection
        if self._is_closed:
            raise LogError(f"{self.address.shown} is closed")
        self._connection = await connect(self.address, plans_once=self._plans_once)
        if self._checks_durability:
            await check_durability(self._connection, self.address)
        return self._connection


async def connect(address: Address, *, plans_once: bool = False) -> "asyncpg.Connection":
    """Open a connection. Raises BrokenLink if the server cannot be reached, Unusable if it refuses the connection."""
    import asyncpg

    try:
        if address.is_pooled:
            connection = await asyncpg.connect(address.url, timeout=CONNECT_S, statement_cache_size=0)
        else:
            settings = _PLANNED_ONCE if plans_once else _SETTINGS
            connection = await asyncpg.connect(address.url, timeout=CONNECT_S, server_settings=settings)
    except (ValueError, asyncpg.InterfaceError) as error:
        if isinstance(error, asyncpg.InterfaceError) and "target_session_attrs" in str(error):
            raise BrokenLink(f"no server of {address.shown} takes writes now") from error
        raise Unusable(f"{address.shown} is no address of PostgreSQL ({error})") from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BrokenLink(f"{address.shown} cannot be reached ({why}); is the server running there?") from error
    except Exception as error:
        raise translate(error, address) from error
    _give_up_silent_peers(connection)
    return connection


async def check_durability(connection: "asyncpg.Connection", address: Address) -> None:
    """Raise Unusable if the server does not keep what it has confirmed, or is too old."""
    if connection.get_server_version().major < 14:
        raise Unusable(f"{address.shown} is PostgreSQL {connection.get_server_version().major}; Moot needs 14 or newer")
    for name, wanted in _NEEDED.items():
        is_set = await connection.fetchval("SELECT current_setting($1)", name)
        if is_set not in wanted:
            raise Unusable(
                f"{address.shown} has {name} = {is_set}: it could lose what it has confirmed; set it to {wanted[0]}"
            )


def _give_up_silent_peers(connection: "asyncpg.Connection") -> None:
    """Have the kernel end a connection whose other end acknowledges nothing, where it can."""
    option: Literal[18] | int | None = getattr(socket, "TCP_USER_TIMEOUT", None)
    transport = getattr(connection, "_transport", None)  # there is no public way to the socket
    sock = transport.get_extra_info("socket") if transport is not None else None
    if option is not None and sock is not None and sock.family in {socket.AF_INET, socket.AF_INET6}:
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, option, PEER_SILENT_MS)


async def _answered(link: Link, patience_s: float, statement: str, *values: object) -> list[Any]:
    """Run a query; if there is no answer in time, cut the connection and raise BrokenLink."""
    task = asyncio.ensure_future(link.fetch(statement, *values))
    try:
        done, _ = await asyncio.wait([task], timeout=max(patience_s, 0.01))
    except asyncio.CancelledError:
        task.cancel()
        raise
    if done:
        return task.result()
    link.cut()
    task.cancel()  # it may still be connecting
    await asyncio.wait([task])
    if not task.cancelled() and task.exception() is None:
        return task.result()
    raise BrokenLink(f"{link.address.shown} does not answer")


class Pool:
    """A few links, shared by callers that wait for a free one.

    Args:
        patience_s: how long a query waits for a server that cannot be reached.
    """

    def __init__(self, address: Address, size: int, patience_s: float) -> None:
        self._patience_s = patience_s
        self._links = [Link(address) for _ in range(size)]
        self._free = asyncio.Semaphore(size)
        self._idle = list(self._links)
        self._is_closed = False

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Link]:
        async with self._free:
            link = self._idle.pop()
            try:
                yield link
            finally:
                self._idle.append(link)

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        """Run a query. One that met a broken connection is run again on a new one, until patience ends."""
        async with self.taken() as link:
            return await self.insist(link, statement, *values)

    async def insist(self, link: Link, statement: str, *values: object) -> list[Any]:
        """Run a query, and retry it on a new connection each time the connection breaks."""
        until = time.monotonic() + self._patience_s
        for tries in itertools.count():
            try:
                return await _answered(link, until - time.monotonic(), statement, *values)
            except BrokenLink:
                if time.monotonic() >= until or self._is_closed:
                    raise
                await asyncio.sleep(RETRY_S[min(tries, len(RETRY_S) - 1)] if tries else 0)
        raise AssertionError

    def cut(self) -> None:
        for link in self._links:
            link.cut()

    async def close(self) -> None:
        self._is_closed = True
        for link in self._links:
            await link.close()
