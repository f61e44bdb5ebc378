"""A standby becomes the server: with a synchronous one nothing is lost; with another one every loss is told."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from moot.core.codec import Head
from moot.core.errors import ConfigError, Conflict, Diverged, LogError, Unusable
from moot.runtime.stores.postgres.statements import COUNT_STANDBYS
from moot.runtime.stores.postgres.store import PostgresStore
from tests.contract.logs import append, closing, make_events, verify
from tests.postgres.fixtures import Servers
from tests.postgres.pg_server import PgServer
from tests.postgres.test_pg_writes import opened
from tests.runtime.apps import run

SESSIONS = 8


@contextmanager
def with_standby(servers: Servers) -> Iterator[tuple[PgServer, PgServer]]:
    """A server of the test's own, and its standby."""
    with servers.fresh() as primary:
        standby = primary.copy_to(primary.folder.parent / "standby")
        standby.start()
        try:
            yield primary, standby
        finally:
            standby.stop(signal.SIGQUIT)


def both(primary: PgServer, standby: PgServer) -> str:
    places = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    return f"postgresql://moot@{places}/postgres?target_session_attrs=read-write"


async def fail_over(primary: PgServer, standby: PgServer) -> None:
    """The server is gone as by a power cut, and the standby takes its place."""
    await asyncio.to_thread(primary.stop, signal.SIGKILL)
    await standby.execute("SELECT pg_promote()")


def test_a_synchronous_standby_has_everything_that_was_acknowledged(pg_servers: Servers) -> None:
    """Every head that an append confirmed is there after the failover, and the log goes on."""
    with with_standby(pg_servers) as (primary, standby):

        @run
        async def play() -> None:
            await primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            await primary.execute("SELECT pg_reload_conf()")
            async with opened(both(primary, standby)) as log:
                heads: dict[str, Head] = {}

                async def write(session_id: str) -> None:
                    for _ in range(10):
                        heads[session_id] = (await append(log, session_id))[-1].head

                await asyncio.gather(*[write(f"s{number}") for number in range(SESSIONS)])
                await fail_over(primary, standby)
                for session_id, head in heads.items():
                    assert await verify(log, session_id) == head
                await standby.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
                await standby.execute("SELECT pg_reload_conf()")
                for session_id in heads:
                    await append(log, session_id)

        play()


def test_what_another_standby_lost_is_told(pg_servers: Servers) -> None:
    """Nobody appends behind an event that is gone: whoever saw more than the new server has is told so."""
    with with_standby(pg_servers) as (primary, standby):

        @run
        async def play() -> None:
            async with opened(both(primary, standby)) as log:
                kept = (await append(log, "a"))[-1].head
                await until_replayed(primary, standby)
                await standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
                await standby.execute("SELECT pg_reload_conf()")
                await until_cut(primary)
                lost = (await append(log, "a"))[-1].head  # acknowledged, and on one machine only
                await fail_over(primary, standby)
                assert await log.head("a") == kept
                with pytest.raises(Conflict):
                    await log.append("a", lost, make_events("a", lost))
                await append(log, "a", text="another history")  # with the same seqs
                assert (await log.head("a")).seq == lost.seq
                with pytest.raises(Conflict):
                    await log.append("a", lost, make_events("a", lost))
                with pytest.raises(Diverged):
                    await log.cluster.catch_up("a", lost)

        play()


def test_a_server_that_needs_a_standby_does_not_start_without(
    pg_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With MOOT_DURABILITY=replicated it refuses to start, and is not ready when the standby has gone."""
    with with_standby(pg_servers) as (primary, standby):

        @run
        async def play() -> None:
            assert not PostgresStore(primary.url).needs_standby
            monkeypatch.setenv("MOOT_DURABILITY", "replicated")
            store = PostgresStore(primary.url)
            with pytest.raises(Unusable, match="no synchronous standby"):
                await store.open()
            async with closing(await store.open(read_only=True)):
                pass  # reading needs no standby
            await primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            await primary.execute("SELECT pg_reload_conf()")
            await until_synchronous(primary, 1)
            async with closing(await store.open()) as log:
                await log.cluster.check_ready()
                await asyncio.to_thread(standby.stop, signal.SIGQUIT)
                await until_synchronous(primary, 0)
                with pytest.raises(LogError, match="no synchronous standby"):
                    await log.cluster.check_ready()

        play()
    monkeypatch.setenv("MOOT_DURABILITY", "twice")
    with pytest.raises(ConfigError, match="local or replicated"):
        PostgresStore("postgresql://moot@localhost/moot")


async def until_synchronous(primary: PgServer, count: int) -> None:
    while await primary.execute(COUNT_STANDBYS) != count:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def until_replayed(primary: PgServer, standby: PgServer) -> None:
    at = await primary.execute("SELECT pg_current_wal_lsn()::text")

    async def is_there() -> bool:
        return bool(await standby.execute(f"SELECT pg_last_wal_replay_lsn() >= '{at}'"))

    while not await is_there():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def until_cut(primary: PgServer) -> None:
    while await primary.execute("SELECT count(*) FROM pg_stat_replication"):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
