"""What else happens to nodes: races, links that an administrator ends, wrong clocks, listeners that are stopped."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.core.codec import Head, chain
from moot.core.errors import Newer
from moot.core.session.events import MessagePosted
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import SUMMARY, append, make_events, verify
from tests.postgres.cluster import node
from tests.postgres.fixtures import Servers
from tests.postgres.servers import MOOT
from tests.postgres.test_nodes import post
from tests.postgres.test_pg_writes import opened
from tests.runtime.apps import facts, read, run

ROOT = Path(__file__).parents[2]
PROCESSES, APPENDS = 4, 60
YEAR_S = 365 * 86_400
FILL = "SELECT count(pg_notify('moot', repeat('x', 7000) || n)) FROM generate_series(1, 500) n"
LISTEN = """
import asyncio, asyncpg, sys

async def listen():
    connection = await asyncpg.connect(sys.argv[1], server_settings={"tcp_user_timeout": "2000"})
    await connection.add_listener("moot", lambda *_: None)
    print(await connection.fetchval("SELECT pg_backend_pid()"), flush=True)
    await asyncio.Event().wait()

asyncio.run(listen())
"""


@pytest.mark.slow
def test_processes_that_race_fork_nothing(pg_url: str) -> None:
    """Four processes append to one session as fast as they can: each append is there once, in one chain."""

    async def begin() -> None:
        async with opened(pg_url) as log:
            await append(log, "raced")

    asyncio.run(begin())
    command = [sys.executable, "-m", "tests.postgres.racer", pg_url, "raced"]
    racers = [
        subprocess.Popen([*command, f"p{number}", str(APPENDS)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for number in range(PROCESSES)
    ]
    counts = [[int(part) for part in racer.communicate(timeout=120)[0].split()] for racer in racers]

    async def check() -> None:
        async with opened(pg_url) as log:
            head = await verify(log, "raced")
            assert head.seq == 1 + PROCESSES * APPENDS
            said = [json.loads(event.data)["content"] for event in await log.read("raced", 1)]
            assert sorted(said) == sorted(f"p{p}-{n} 0" for p in range(PROCESSES) for n in range(APPENDS))

    asyncio.run(check())
    assert [done for done, _ in counts] == [APPENDS] * PROCESSES
    assert sum(refused for _, refused in counts)  # they did get in each other's way


@run
async def test_links_that_the_server_ends_are_made_anew(pg_url: str, pg_servers: Servers) -> None:
    """Every connection of a node is ended, one after the other, while people speak: each message is there once."""
    server = pg_servers.find()
    async with node(pg_url, "a") as a:
        session = await a.app.session()
        for number in range(12):
            saying = asyncio.create_task(session.submit(post(f"n{number}")))
            await server.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE"  # noqa: S608
                f" application_name = 'moot' ORDER BY pid OFFSET {number % 6} LIMIT 1) x"
            )
            await saying
        said = Counter(fact.text for fact in await facts(a.app, session, MessagePosted))
        assert said == Counter(f"n{number}" for number in range(12))


@pytest.mark.parametrize("wrong_s", [YEAR_S, -YEAR_S])
def test_the_clock_of_a_node_does_not_count(pg_url: str, monkeypatch: pytest.MonkeyPatch, wrong_s: int) -> None:
    """A node whose clock is wrong by a year stamps events with the store's time, and keeps its lease."""
    real, real_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: real() + wrong_s)
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + wrong_s * 1_000_000_000)

    @run
    async def play() -> None:
        async with node(pg_url, "a") as a:
            assert abs(a.log.cluster.offset_s + wrong_s) < 60
            session = await a.app.session()
            await session.submit(post("hello"))
            for event in await read(a.app, session):
                at = datetime.fromisoformat(event.timestamp)
                assert abs((at - datetime.fromtimestamp(real(), UTC)).total_seconds()) < 60
            assert a.log.node.lease_left_s > 0

    play()


@pytest.mark.slow
def test_a_listener_that_is_stopped_does_not_fill_the_queue(pg_servers: Servers) -> None:
    """The server gives up a listener that takes nothing: the queue of wake-ups is empty again, and nodes go on."""
    url, server = pg_servers.database(), pg_servers.find()
    stopped = subprocess.Popen([sys.executable, "-c", LISTEN, url], stdout=subprocess.PIPE, text=True)
    assert stopped.stdout is not None
    pid = int(stopped.stdout.readline())
    stopped.send_signal(signal.SIGSTOP)

    async def play() -> None:
        async def is_there() -> bool:
            return bool(await server.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))  # noqa: S608

        while await is_there():
            await server.execute(
                "SELECT count(pg_notify('moot', repeat('x', 7000) || n)) FROM generate_series(1, 500) n"
            )
        async with opened(url) as log:
            await append(log, "a")
            assert (await log.cluster.read_status()).notify_queue_usage < 0.01

    try:
        asyncio.run(asyncio.wait_for(play(), 90))
    finally:
        stopped.kill()
        stopped.communicate()


@pytest.mark.slow
def test_a_copy_that_was_killed_goes_on(pg_url: str, tmp_path: Path) -> None:
    """SQLite to PostgreSQL, killed on the way, again, and back to SQLite: every event has the same bytes."""
    sessions = [f"s{number:03}" for number in range(60)]

    async def fill() -> None:
        sqlite = await SqliteLog.open(tmp_path / "one" / "moot.db")
        for session_id in sessions:
            head = Head()
            for _ in range(5):
                events = make_events(session_id, head, 40, f"of {session_id}")
                await sqlite.append(session_id, head, events, summary=None if head.seq else SUMMARY)
                head = events[-1].head
        await sqlite.close()

    (tmp_path / "one").mkdir()
    asyncio.run(fill())
    command = [*MOOT, "db", "copy"]
    first = subprocess.Popen([*command, str(tmp_path / "one"), pg_url], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    for _ in range(5):
        assert first.stdout.readline()
    first.kill()
    first.communicate()
    for source, target in ((str(tmp_path / "one"), pg_url), (pg_url, str(tmp_path / "two"))):
        subprocess.run([*command, source, target], check=True, capture_output=True)

    async def read_all(folder: Path) -> dict[str, list[tuple[bytes, str]]]:
        log = await SqliteLog.open(folder / "moot.db")
        try:
            return {each: [(event.data, event.hash) for event in await log.read(each)] for each in sessions}
        finally:
            await log.close()

    assert asyncio.run(read_all(tmp_path / "one")) == asyncio.run(read_all(tmp_path / "two"))


@run
async def test_an_event_of_a_newer_version_is_no_damage(pg_url: str, pg_servers: Servers) -> None:
    """What is before it can be read; the sentence says to update, and nobody is told of damage."""
    async with opened(pg_url) as log:
        head = (await append(log, "a"))[-1].head
        await _append_unknown(log, head)
        assert len(await log.read("a", 0, 1)) == 1
        with pytest.raises(Newer, match="update this one to read on from seq 2") as raised:
            await log.read("a")
        assert "damaged" not in str(raised.value)


async def _append_unknown(log: PgLog, head: Head) -> None:
    """Append an event of a kind that this version does not have."""
    [event] = make_events("a", head)
    data = event.data.replace(event.name.encode(), b"session.levitated", 1)
    await log.append("a", head, [replace(event, data=data, hash=chain(head.hash, data))])
