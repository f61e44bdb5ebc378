"""Sessions that have been idle for long are archived; whoever reads or writes them sees no difference."""

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from moot.core.codec import Event, Head
from moot.core.errors import Corrupt, Diverged, NotFound
from moot.core.search_words import read_query
from moot.runtime.cluster import Upkeep
from moot.runtime.stores.postgres import archive, tables
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import PostgresStore
from tests.cli.command import CHAT, Moot
from tests.contract.logs import append, run, verify
from tests.postgres.fixtures import Servers
from tests.postgres.test_operating import moot, talk
from tests.postgres.test_pg_writes import opened

__all__ = ["moot"]  # a fixture
TODAY = "9999-01-01T00:00:00.000Z"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def count(url: str, table: str) -> int:
    async with connected(url) as connection:
        rows: int = await connection.fetchval(f"SELECT count(*) FROM moot.{table}")  # noqa: S608 - it is our own
        return rows


async def maintain(url: str) -> Upkeep:
    return await PostgresStore(url).maintain()


async def fill(log: PgLog, session_id: str = "a", appends: int = 200) -> list[Event]:
    """A session of appends of many sizes."""
    chance, events = random.Random(1), list[Event]()  # noqa: S311
    for _ in range(appends):
        events += await append(log, session_id, chance.choice((1, 1, 2, 7)), "x" * chance.choice((1, 10, 2_000)))
    return events


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of a few appends."""
    monkeypatch.setattr(archive, "SEGMENT_BYTES", 20_000)


@pytest.mark.usefixtures("small")
@run
async def test_what_is_archived_is_read_as_before(pg_url: str) -> None:
    """From any event on, in pages of any size; a node that knows an event learns what came after it."""
    async with opened(pg_url) as log:
        events = await fill(log)
        assert (await maintain(pg_url)).archived == 1
        assert await count(pg_url, "appends") == 0
        assert await count(pg_url, "segments") > 5
        more = await append(log, "a", 3)
        events += more
        chance = random.Random(2)  # noqa: S311
        for after in [0, len(events) - 4, len(events) - 3, len(events) - 1, *chance.sample(range(len(events)), 30)]:
            for limit in (1, 2, 100, 100_000):
                assert await log.read("a", after, limit) == events[after : after + limit]
            head = events[after - 1].head if after else Head()
            assert (await log.cluster.catch_up("a", head)).events == events[after : after + 1_000]
            if after:
                with pytest.raises(Diverged):
                    await log.cluster.catch_up("a", Head(after, "0" * 64))
        assert await log.head("a") == more[-1].head


@pytest.mark.usefixtures("small")
@run
async def test_it_goes_on_and_is_archived_again(pg_url: str) -> None:
    """Appends come behind the segments, and followers get both; the next time they become segments, too."""
    async with opened(pg_url) as log:
        events = await fill(log, appends=40)
        for _ in range(3):
            await maintain(pg_url)
            assert await count(pg_url, "appends") == 0
            events += await append(log, "a", 5)
        followed: list[Event] = []
        async for batch in log.follow("a"):
            followed += batch
            if len(followed) == len(events):
                break
        assert followed == events
        assert await verify(log, "a") == events[-1].head


@run
async def test_words_of_the_archive_are_found(pg_url: str) -> None:
    """Search takes in what it has not seen, archived or not."""
    async with opened(pg_url) as log:
        await append(log, "a", 2, "quince")
        await maintain(pg_url)
        await append(log, "a", 2, "medlar")
        for word in ("quince", "medlar"):
            assert len(await log.search(read_query(word))) == 2


@pytest.mark.usefixtures("small")
@run
async def test_what_is_in_use_stays(pg_url: str) -> None:
    """A session that was spoken to lately, in which work is due, that is in the trash, or is damaged."""
    async with opened(pg_url) as log:
        for name in ("fresh", "due", "trash", "damaged", "idle"):
            await append(log, name, 3)
        await append(log, "fresh", at=TODAY)
        await log.remove("trash", TODAY)
        async with connected(pg_url) as connection:
            key = "(SELECT key FROM moot.sessions WHERE id = 'due')"
            await connection.execute(f"UPDATE moot.heads SET due = true WHERE session = {key}")  # noqa: S608
            key = "(SELECT key FROM moot.sessions WHERE id = 'damaged')"
            await connection.execute(f"UPDATE moot.appends SET data = ' ' || data WHERE session = {key}")  # noqa: S608
            done = await maintain(pg_url)
            assert (done.archived, done.waits_for) == (1, "")
            ids = await connection.fetch(
                "SELECT DISTINCT s.id FROM moot.appends a JOIN moot.sessions s ON s.key = a.session ORDER BY s.id"
            )
            assert [row["id"] for row in ids] == ["damaged", "due", "fresh", "trash"]


@run
async def test_a_damaged_segment_is_told(pg_url: str) -> None:
    """What is before it can be read; the session is damaged from its first event on."""
    async with opened(pg_url) as log:
        await append(log, "a", 3)
        await maintain(pg_url)
        await append(log, "a", 2)
        await maintain(pg_url)
        async with connected(pg_url) as connection:
            await connection.execute("UPDATE moot.segments SET bytes = 'x' || bytes WHERE from_seq = 4")
        assert len(await log.read("a", 0, 3)) == 3
        with pytest.raises(Corrupt, match="seq 4"):
            await log.read("a", 3)


@run
async def test_a_session_is_deleted_with_its_archive(pg_url: str) -> None:
    """Nothing of it is left."""
    async with opened(pg_url) as log:
        await append(log, "a", 3)
        await maintain(pg_url)
        await log.delete("a")
        with pytest.raises(NotFound):
            await log.read("a")
        assert await count(pg_url, "segments") == 0


@run
async def test_nothing_is_archived_that_a_node_could_not_read(pg_url: str) -> None:
    """An older server on the database keeps it waiting; once something is archived no older one starts."""
    async with opened(pg_url) as log, connected(pg_url) as connection:
        await append(log, "a", 3)
        await connection.execute(
            "INSERT INTO moot.nodes (name, version, teams, lease_until, log_version)"
            " VALUES ('old', '', '{}', clock_timestamp(), 1)"
        )
        done = await maintain(pg_url)
        assert (done.archived, done.waits_for) == (0, "servers of a newer Moot instead of old")
        await connection.execute("DELETE FROM moot.nodes")
        assert (await maintain(pg_url)).archived == 1
        assert await connection.fetchval("SELECT min_version FROM moot.meta") == 7


@run
async def test_who_appends_meanwhile_loses_nothing(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that wakes up while it is archived stays as it is from there on."""
    monkeypatch.setattr(archive, "SEGMENT_BYTES", 4_000)
    async with opened(pg_url) as log:
        events = await fill(log, appends=100)
        archiving = asyncio.create_task(maintain(pg_url))
        while not await count(pg_url, "segments"):
            assert not archiving.done()
        events += await append(log, "a", 1, at=TODAY)
        assert (await archiving).archived == 0
        assert await count(pg_url, "appends") > 1
        assert await log.read("a", 0, 10_000) == events


@pytest.mark.slow
def test_kill_9_loses_nothing(pg_url: str) -> None:
    """Whenever the archiving is killed, every event is there once, and the next run goes on."""
    code = (
        "import asyncio, sys; from moot.runtime.stores.postgres import archive, store;"
        "archive.SEGMENT_BYTES = 2_000;"
        "asyncio.run(store.PostgresStore(sys.argv[1]).maintain())"
    )

    @run
    async def play() -> None:
        async with opened(pg_url) as log:
            events = await fill(log, appends=400)
            for kills in range(1, 6):
                process = subprocess.Popen([sys.executable, "-c", code, pg_url])  # noqa: ASYNC220
                while await count(pg_url, "segments") < 20 * kills and process.poll() is None:
                    assert await log.read("a", 0, 10_000) == events  # while it is at it, too
                process.send_signal(signal.SIGKILL)
                process.wait()
                assert await log.read("a", 0, 10_000) == events
            assert await count(pg_url, "appends") > 0
            assert (await maintain(pg_url)).archived == 1
            assert await count(pg_url, "appends") == 0
            assert await log.read("a", 0, 10_000) == events

    play()


def test_a_partition_whose_sessions_are_archived_is_emptied(
    pg_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its space is given back the next time, unless somebody reads it; its sessions can go on."""
    monkeypatch.setattr(tables, "PARTITION_SESSIONS", 3)
    monkeypatch.setattr(tables, "LOCK_WAIT_MS", 20)
    server = pg_servers.find()
    server.run_sql("CREATE DATABASE parts")
    url = server.url.replace("/postgres", "/parts")

    @run
    async def play() -> None:
        await PostgresStore(url).initialise()
        async with opened(url) as log, connected(url) as connection, connected(url) as backup:
            for number in range(7):
                await append(log, f"s{number}")
            done = await maintain(url)
            assert (done.archived, done.emptied) == (7, 0)
            await backup.execute("BEGIN; SELECT count(*) FROM moot.appends_0")
            assert (await maintain(url)).emptied == 1  # the second one; the third is the newest
            await backup.execute("COMMIT")
            assert (await maintain(url)).emptied == 1
            for number in range(2):
                assert await connection.fetchval("SELECT pg_relation_size($1::regclass)", f"moot.appends_{number}") == 0
            assert (await maintain(url)).emptied == 0
            await append(log, "s0", 2)
            assert len(await log.read("s0")) == 3

    play()


def test_the_commands_see_no_difference(moot: Moot, pg_url: str, pg_servers: Servers, tmp_path: Path) -> None:
    """`moot db verify` and `copy`, `sessions export` and `fork`, and saying something more."""
    session_id = talk(moot, pg_url)
    exported = moot("sessions", "export", session_id, "--store", pg_url).out
    pg_servers.find().run_sql("UPDATE moot.heads SET at = '2025-01-01T00:00:00.000Z'")
    said = moot("db", "maintain", "--store", pg_url)
    assert "archived 1 idle sessions" in said.err
    assert asyncio.run(count(pg_url, "appends")) == 0
    assert moot("sessions", "export", session_id, "--store", pg_url).out == exported
    assert moot("db", "verify", "--store", pg_url).code == 0
    assert moot("db", "copy", pg_url, str(tmp_path / "copy")).code == 0
    assert moot("sessions", "export", session_id, "--data", str(tmp_path / "copy")).out == exported
    forked = moot("sessions", "fork", session_id, "--store", pg_url)
    assert forked.code == 0, forked.err
    said = moot("run", CHAT, "--session", session_id, "--store", pg_url, "--json", "--say", "alice: still here")
    assert said.code == 0, said.err
    assert moot("sessions", "export", session_id, "--store", pg_url).out.startswith(exported)
    assert moot("db", "verify", "--store", pg_url).code == 0
