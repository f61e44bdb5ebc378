"""Servers that tests of one process share, and databases of their own for each test."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from moot.runtime.stores.postgres.store import PostgresStore
from tests.postgres.pg_server import INSTALL, PgServer, has_pgbouncer, pg_server, pgbouncer, usable_binaries

TABLES = (
    "sessions",
    "heads",
    "appends",
    "commands",
    "snapshots",
    "doomed",
    "nodes",
    "documents",
    "workers",
    "jobs",
    "played",
    "segments",
)


class Servers:
    """Each server is started when a test asks for it first."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._servers: dict[str, PgServer] = {}
        self._poolers: dict[str, int] = {}

    def find(self, version: str = "") -> PgServer:
        """A server of this version, or of the one that $MOOT_TEST_PG names ("16", "18", "Debian 15"), or of any."""
        binaries = _binaries()
        version = version or os.environ.get("MOOT_TEST_PG") or next(iter(binaries), "")
        if version not in binaries:
            pytest.skip(INSTALL)
        if version not in self._servers:
            server = self._servers[version] = self._stack.enter_context(pg_server(binaries[version]))
            asyncio.run(PostgresStore(server.url).initialise())
        return self._servers[version]

    def database(self, version: str = "") -> str:
        """The URL of a database with empty tables of Moot. There is one: a new one would take half a second."""
        server = self.find(version)
        server.run_sql("; ".join(f"DELETE FROM moot.{table}" for table in TABLES))  # noqa: S608
        return server.url

    @contextmanager
    def fresh(self) -> Iterator[PgServer]:
        """A server of a test's own, with tables."""
        binaries = _binaries()
        if not binaries:
            pytest.skip(INSTALL)
        with pg_server(next(iter(binaries.values()))) as server:
            asyncio.run(PostgresStore(server.url).initialise())
            yield server

    def pooled(self, url: str) -> str:
        """The URL of the same database through PgBouncer in transaction mode."""
        if not has_pgbouncer():
            pytest.skip("install PgBouncer for this test: apt-get install pgbouncer")
        server = self.find()
        if "" not in self._poolers:
            self._poolers[""] = self._stack.enter_context(pgbouncer(server))
        return url.replace(f":{server.port}/", f":{self._poolers['']}/")


@cache
def _binaries() -> dict[str, Path]:
    return usable_binaries()


@pytest.fixture(scope="session")
def pg_servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


@pytest.fixture
def pg_url(pg_servers: Servers) -> str:
    return pg_servers.database()
