"""Migrations of the tables, while others use them."""

import asyncio
import logging

import asyncpg
import pytest

from moot.core.errors import LogError, Unusable
from moot.runtime.stores.postgres import tables
from moot.runtime.stores.postgres.store import PostgresStore
from tests.postgres.fixtures import Servers
from tests.runtime.apps import run


def empty(pg_servers: Servers, name: str) -> str:
    """The URL of a database without tables."""
    server = pg_servers.find()
    server.run_sql(f"CREATE DATABASE {name}")
    return server.url.replace("/postgres", f"/{name}")


def test_step_by_step(pg_servers: Servers) -> None:
    """`--to` stops at a version; servers of this Moot start with its own; there is no way back, and none beyond."""
    store = PostgresStore(empty(pg_servers, "steps"))

    @run
    async def play() -> None:
        assert await store.initialise(to=3) == 0
        with pytest.raises(Unusable, match=f"version 3, this Moot needs {tables.VERSION}; run `moot db migrate`"):
            await store.open()
        assert await store.initialise(to=4) == 3
        for wrong in (2, tables.VERSION + 1):
            with pytest.raises(Unusable, match="tables of version 4; this Moot can take them up to"):
                await store.initialise(to=wrong)
        assert await store.initialise() == 4
        assert await store.initialise() == tables.VERSION
        await (await store.open()).close()

    play()


def test_many_at_once(pg_servers: Servers) -> None:
    """Servers that are installed at the same time may all do it."""
    store = PostgresStore(empty(pg_servers, "crowd"))

    @run
    async def play() -> None:
        await asyncio.gather(*[store.initialise() for _ in range(5)])
        assert (await store.read_status()).version == tables.VERSION

    play()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LOCK_WAIT_MS", 20)
    monkeypatch.setattr(tables, "LOCK_PAUSE_S", 0.01)


async def lock(url: str) -> asyncpg.Connection:
    """Read a table in a transaction that stays open."""
    reading = await asyncpg.connect(url)
    await reading.execute("BEGIN; SELECT count(*) FROM moot.nodes")
    return reading


@pytest.mark.usefixtures("quick")
def test_a_table_that_is_in_use_is_tried_again(
    pg_servers: Servers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It waits for no lock for long, because others would wait behind it, and goes on when the table is free."""
    monkeypatch.setattr(tables, "LOCK_TRIES", 1_000_000)
    url = empty(pg_servers, "busy")
    store = PostgresStore(url)

    @run
    async def play() -> None:
        await store.initialise(to=5)
        reading = await lock(url)
        with caplog.at_level(logging.WARNING):
            migrating = asyncio.create_task(store.initialise())
            while "a table is in use by others" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        other = await asyncpg.connect(url)
        await other.fetch("SELECT count(*) FROM moot.nodes")  # is not kept waiting
        assert not migrating.done()
        await reading.execute("COMMIT")
        assert await migrating == 5
        assert (await store.read_status()).version == tables.VERSION
        await other.close()
        await reading.close()

    play()


@pytest.mark.usefixtures("quick")
def test_a_table_that_stays_in_use_is_told(pg_servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some tries it gives up; the steps before stay done, and a later call goes on."""
    monkeypatch.setattr(tables, "LOCK_TRIES", 3)
    url = empty(pg_servers, "taken")
    store = PostgresStore(url)

    @run
    async def play() -> None:
        await store.initialise(to=4)
        reading = await lock(url)
        with pytest.raises(LogError, match="in use by others"):
            await store.initialise()
        await reading.close()
        assert await store.initialise() == 4

    play()


def test_a_new_partition_waits_for_no_reader(pg_servers: Servers) -> None:
    """A backup reads every table for hours; meanwhile sessions get their partitions, and appends go on."""
    url = empty(pg_servers, "dumped")

    @run
    async def play() -> None:
        await PostgresStore(url).initialise()
        reading, writing = await asyncpg.connect(url), await asyncpg.connect(url)
        await reading.execute("BEGIN; SELECT count(*) FROM moot.appends")
        newest = 3 * tables.PARTITION_SESSIONS
        await writing.execute(
            "INSERT INTO moot.sessions (key, id, team, created_at, summary, listed) OVERRIDING SYSTEM VALUE"
            " VALUES ($1, 's', 't', '', '', 1)",
            newest,
        )
        await writing.execute("SET lock_timeout = 1000")
        await tables.add_partitions(writing)
        await writing.execute("INSERT INTO moot.appends VALUES ($1, 1, '', 0, 0, '', '')", newest)
        await reading.close()
        await writing.close()

    play()
