"""`make bench-cluster`: what PostgreSQL costs, as ratios to floors of the same run, and how it grows with nodes.

Each measure is the median of rounds that alternate with their floor. The floors write the same bytes with the bare
driver, or are the log on SQLite.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import asyncpg

from bench.cluster_nodes import compare_nodes
from moot.core.codec import Head
from moot.runtime.ports import Log
from moot.runtime.stores.postgres.nodes import Pace
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import PostgresStore, read_address
from moot.runtime.stores.rows import pack
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import SUMMARY, make_events
from tests.postgres.pg_server import INSTALL, pg_server, usable_binaries
from tests.postgres.test_pg_writes import joined

ROUNDS, APPENDS, SESSIONS, RATE_S = 7, 60, 64, 1.5
WORDS = [f"{random.Random(n).getrandbits(32):x}" for n in range(2_000)]
NODES = (1, 2, 4)


def write_text() -> str:
    """About 100 words, so that their size on disk is that of real messages."""
    return " ".join(random.choices(WORDS, k=100))


async def open_pg(url: str, name: str = "bench") -> PgLog:
    return await PgLog.open(read_address(url), read_address(url), name)


@asynccontextmanager
async def alone(url: str) -> AsyncIterator[PgLog]:
    """The log of a server without others: it knows that nobody listens, and tells nobody of its appends."""
    async with joined(url, "bench", Pace()) as (log, _):
        yield log


async def time_appends(log: Log, session_id: str) -> float:
    """Seconds of the middle append of a session that nobody else writes."""
    head, took_s = Head(), list[float]()
    for _ in range(APPENDS):
        events = make_events(session_id, head, 3, write_text())
        began = time.perf_counter()
        await log.append(session_id, head, events, summary=None if head.seq else SUMMARY)
        took_s.append(time.perf_counter() - began)
        head = events[-1].head
    return median(took_s)


async def time_rows(connection: asyncpg.Connection, *, in_transaction: bool) -> float:
    """Seconds of the middle INSERT of the same bytes."""
    took_s: list[float] = []
    for _ in range(APPENDS):
        hashes, data = pack(make_events("floor", Head(), 3, write_text()))
        began = time.perf_counter()
        if in_transaction:
            async with connection.transaction():
                await connection.execute("INSERT INTO floor (hashes, data) VALUES ($1, $2)", hashes, data)
        else:
            await connection.execute("INSERT INTO floor (hashes, data) VALUES ($1, $2)", hashes, data)
        took_s.append(time.perf_counter() - began)
    return median(took_s)


async def rate_of(write: Callable[[int], Awaitable[None]], writers: int = SESSIONS) -> float:
    """How many writes a second so many writers make."""
    until, count = time.perf_counter() + RATE_S, 0

    async def keep_writing(number: int) -> None:
        nonlocal count
        while time.perf_counter() < until:
            await write(number)
            count += 1

    began = time.perf_counter()
    await asyncio.gather(*[keep_writing(number) for number in range(writers)])
    return count / (time.perf_counter() - began)


def appending(log: Log, prefix: str) -> Callable[[int], Awaitable[None]]:
    heads: dict[int, Head] = {}

    async def write(number: int) -> None:
        head = heads.get(number, Head())
        events = make_events(f"{prefix}{number}", head, 3, write_text())
        await log.append(f"{prefix}{number}", head, events, summary=None if head.seq else SUMMARY)
        heads[number] = events[-1].head

    return write


async def raw_rate(url: str) -> float:
    connections = await asyncio.gather(*[asyncpg.connect(url) for _ in range(SESSIONS)])

    async def write(number: int) -> None:
        hashes, data = pack(make_events(f"floor{number}", Head(), 3, write_text()))
        await connections[number].execute("INSERT INTO floor (hashes, data) VALUES ($1, $2)", hashes, data)

    try:
        return await rate_of(write)
    finally:
        await asyncio.gather(*[connection.close() for connection in connections])


async def compare(url: str, folder: Path) -> list[tuple[str, float, str, bool]]:
    """The bars of one node: what, ratio, bar, whether it holds."""
    sqlite = await SqliteLog.open(folder / "moot.db")
    floor = await asyncpg.connect(url)
    await floor.execute("CREATE TABLE floor (id bigserial PRIMARY KEY, hashes bytea, data bytea)")
    ratios: dict[str, list[float]] = {"insert": [], "transaction": [], "sqlite": [], "64 sqlite": [], "64 raw": []}
    try:
        async with alone(url) as pg:
            for number in range(ROUNDS):
                ours = await time_appends(pg, f"p{number}")
                ratios["insert"].append(ours / await time_rows(floor, in_transaction=False))
                ratios["transaction"].append(ours / await time_rows(floor, in_transaction=True))
                ratios["sqlite"].append(ours / await time_appends(sqlite, f"p{number}"))
            for number in range(3):
                ours = await rate_of(appending(pg, f"r{number}n"))
                ratios["64 sqlite"].append(ours / await rate_of(appending(sqlite, f"r{number}n")))
                ratios["64 raw"].append(ours / await raw_rate(url))
    finally:
        await sqlite.close()
        await floor.close()
    bars = {
        "insert": ("append p50 / raw INSERT, autocommit", 1.8, True),
        "transaction": ("append p50 / raw BEGIN, INSERT, COMMIT", 1.3, True),
        "sqlite": ("append p50 / SqliteLog append p50", 2.0, True),
        "64 sqlite": ("64 sessions, appends/s / SqliteLog", 0.5, False),
        "64 raw": ("64 sessions, appends/s / 64 raw connections", 1.5, False),
    }
    rows = []
    for key, (what, bar, is_most) in bars.items():
        ratio = median(ratios[key])
        rows.append((what, ratio, f"{'≤' if is_most else '≥'} {bar}", ratio <= bar if is_most else ratio >= bar))
    return rows


async def measure_size(url: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(
            "SELECT (SELECT sum(seq) FROM moot.heads) AS events, (SELECT count(*) FROM moot.heads) AS sessions,"
            " (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits"
            " WHERE inhparent = 'moot.appends'::regclass) AS appends,"
            " (SELECT sum(length(data)) FROM moot.appends) AS json,"
            " pg_total_relation_size('moot.heads') + pg_total_relation_size('moot.sessions') AS per_session"
        )
    finally:
        await connection.close()
    return {
        "bytes on disk / byte of JSON": float(row["appends"] / row["json"]),
        "bytes on disk / event": float(row["appends"] / row["events"]),
        "bytes of JSON / event": float(row["json"] / row["events"]),
        "bytes on disk / session": float(row["per_session"] / row["sessions"]),
    }


async def run_node(url: str, number: int) -> None:
    """One node of the growth measure: prints how many appends a second it made."""
    log = await open_pg(url, f"n{number}")
    if os.environ.get("WAKES") == "0":
        log._teller.tell_head = lambda *_: None  # type: ignore[method-assign]
    try:
        print(await rate_of(appending(log, f"g{os.getpid()}n")))
    finally:
        await log.close()


def measure_growth(url: str) -> dict[int, float]:
    """Appends a second of so many processes, each with 64 sessions of its own."""
    rates: dict[int, float] = {}
    for nodes in NODES:
        command = [sys.executable, "-m", "bench.cluster", "node", url]
        started = [
            subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) for number in range(nodes)
        ]
        rates[nodes] = sum(float(process.communicate()[0]) for process in started)
    return rates


def main() -> int:
    if sys.argv[1:2] == ["node"]:
        asyncio.run(run_node(sys.argv[2], int(sys.argv[3])))
        return 0
    binaries = usable_binaries()
    if not binaries:
        print(INSTALL, file=sys.stderr)
        return 1
    with (
        pg_server(next(iter(binaries.values()))) as server,
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name,
    ):
        asyncio.run(PostgresStore(server.url).initialise())
        rows = asyncio.run(compare(server.url, Path(name)))
        rows += compare_nodes(server.url, next(iter(binaries.values())), Path(name))
        growth = measure_growth(server.url)
        sizes = asyncio.run(measure_size(server.url))
    for what, ratio, bar, holds in rows:
        print(f"{what:48}{ratio:8.2f}  {bar:8}{'ok' if holds else 'MISSED'}")
    for nodes, rate in growth.items():
        print(f"{nodes} nodes, 64 sessions each, appends/s / 1 node{rate / growth[1]:10.2f}")
    for what, size in sizes.items():
        print(f"{what:48}{size:8.2f}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    found = {"bars": {what: ratio for what, ratio, _, _ in rows}, "growth": growth, "sizes": sizes}
    (results / "cluster.json").write_text(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
