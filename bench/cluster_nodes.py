"""What several nodes cost: turns, wake-ups, followers elsewhere, what members write, and a server that is killed."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import asyncpg

from bench.turns import one_session, stored_turn
from moot.core.codec import Head
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import PostgresStore, read_address
from tests.contract.logs import SUMMARY, make_events
from tests.postgres.pg_server import pg_server
from tests.postgres.servers import Server, eventually, server, trust, write_pair

ROUNDS, TURNS, APPENDS, KILLS = 5, 40, 150, 5
NODES = 4
FLUSH = {"commit_delay": "3000", "commit_siblings": "0"}  # a flush of 3 ms, as of a cloud's disk or a standby
PIECES_S, PIECES = 0.005, 40  # 8,000 a second
BEAT_S, SUSPECT_S, LEASE_S = 1.0, 2.0, 6.0
BEACON = """\
import asyncio, time
from pathlib import Path

async def act(turn, ask):
    with Path(__file__).with_name("begun").open("a") as file:
        print(time.monotonic(), file=file)
    await asyncio.sleep(60)
"""

Row = tuple[str, float, str, bool]


def at_most(what: str, ratio: float, bar: float) -> Row:
    return what, ratio, f"≤ {bar}", ratio <= bar


def at_least(what: str, ratio: float, bar: float) -> Row:
    return what, ratio, f"≥ {bar}", ratio >= bar


async def open_log(url: str, name: str) -> PgLog:
    return await PgLog.open(read_address(url), read_address(url), name)


async def time_turns(url: str, folder: Path) -> list[Row]:
    """A turn of a chat on PostgreSQL beside one INSERT of its bytes, and beside a turn on SQLite."""
    data = b"".join(await stored_turn(folder / "turn"))
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE turn_floor (data bytea)")
    raw, sqlite = list[float](), list[float]()
    try:
        for number in range(ROUNDS):
            ours = median(await one_session(TURNS, None, store=PostgresStore(url)))
            took_s: list[float] = []
            for _ in range(TURNS):
                began = time.perf_counter()
                await connection.execute("INSERT INTO turn_floor VALUES ($1)", data)
                took_s.append(time.perf_counter() - began)
            raw.append(ours / median(took_s))
            sqlite.append(ours / median(await one_session(TURNS, folder / f"turns{number}")))
    finally:
        await connection.close()
    return [
        at_most("chat turn on PostgreSQL / raw INSERT", median(raw), 4.0),
        at_most("chat turn on PostgreSQL / on SQLite", median(sqlite), 2.5),
    ]


async def append_all(log: PgLog, session_id: str, begun: list[float] | None = None) -> float:
    """Seconds of the middle append; when each began is added to `begun`."""
    head, took_s = await log.head(session_id), list[float]()
    for _ in range(APPENDS):
        events = make_events(session_id, head, 1, "x" * 600)
        began = time.monotonic()
        await log.append(session_id, head, events)
        took_s.append(time.monotonic() - began)
        if begun is not None:
            begun.append(began)
        head = events[-1].head
        await asyncio.sleep(0.002)  # so that nothing piles up
    return median(took_s)


async def follow_and_tell(url: str, session_id: str) -> None:
    """The other process: print when each event of a session was seen."""
    log = await open_log(url, "follower")
    print("ready", flush=True)
    try:
        seen = 0
        async for batch in log.follow(session_id, 1):
            now = time.monotonic()  # of the machine, not of the process
            seen += len(batch)
            print(*[now] * len(batch), sep="\n", flush=True)
            if seen >= APPENDS:
                return
    finally:
        await log.close()


async def time_follower(url: str) -> Row:
    """From the beginning of an append until another process has its event, beside the append."""
    log = await open_log(url, "writer")
    try:
        ratios: list[float] = []
        for number in range(ROUNDS):
            session_id = f"follow{number}"
            await log.append(session_id, Head(), make_events(session_id), summary=SUMMARY)
            command = [sys.executable, "-m", "bench.cluster_nodes", "follow", url, session_id]
            follower = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220 - it is quick
            assert follower.stdout is not None
            await asyncio.to_thread(follower.stdout.readline)
            begun: list[float] = []
            took_s = await append_all(log, session_id, begun)
            out, _ = await asyncio.to_thread(follower.communicate, timeout=60)
            seen = [float(line) for line in out.split()]
            ratios.append(median(at - began for at, began in zip(seen, begun, strict=True)) / took_s)
    finally:
        await log.close()
    return at_most("another process has it / append p50", median(ratios), 3.0)


async def time_pieces(url: str) -> Row:
    """Appends while members write 8,000 pieces a second for another node, beside appends without."""
    log = await open_log(url, "writer")
    try:
        await log.append("pieces", Head(), make_events("pieces"), summary=SUMMARY)

        async def write() -> None:
            while True:
                log.pieces.hear_wanted("elsewhere")
                for _ in range(PIECES):
                    log.pieces.show("elsewhere", "turn.delta", "t1", "some words of it, ")
                await asyncio.sleep(PIECES_S)

        ratios: list[float] = []
        for _ in range(ROUNDS):
            alone = await append_all(log, "pieces")
            writing = asyncio.create_task(write())
            ratios.append(await append_all(log, "pieces") / alone)
            writing.cancel()
    finally:
        await log.close()
    return at_most("append p50 with pieces / without", median(ratios), 1.1)


def time_wake_ups(binaries: Path) -> Row:
    """Appends a second of four processes with wake-ups, beside the same without, on a disk that takes 3 ms."""

    def rate(url: str, wakes: str) -> float:
        command = [sys.executable, "-m", "bench.cluster", "node", url]
        started = [
            subprocess.Popen(
                [*command, str(number)], stdout=subprocess.PIPE, text=True, env={**os.environ, "WAKES": wakes}
            )
            for number in range(NODES)
        ]
        return sum(float(process.communicate()[0]) for process in started)

    with pg_server(binaries, FLUSH) as slow:
        asyncio.run(PostgresStore(slow.url).initialise())
        ratios = [rate(slow.url, "1") / rate(slow.url, "0") for _ in range(3)]
    return at_least(f"{NODES} nodes, 3 ms flush, with wake-ups / without", median(ratios), 0.9)


def time_kills(url: str) -> Row:
    """From kill -9 of a server until its agent runs on another one, in seconds."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-kills-")))
        team, own, begun = root / "team.yaml", root / "own", root / "begun"
        team.write_text(write_pair('{type: python, call: "beacon:act"}'))
        (root / "beacon.py").write_text(BEACON)
        trust(team, own)
        took_s = []
        stack.enter_context(server(url, root / "last", team, lease_s=LEASE_S, MOOT_DATA=str(own)))
        for number in range(KILLS):
            with server(url, root / f"n{number}", team, lease_s=LEASE_S, MOOT_DATA=str(own)) as victim:
                begun.unlink(missing_ok=True)
                took_s.append(_kill(victim, begun))
    bar = SUSPECT_S + 2 * BEAT_S
    return at_most("kill -9 → its agent runs elsewhere, seconds", median(took_s), bar)


def _kill(victim: Server, begun: Path) -> float:
    def count() -> int:
        return len(begun.read_text().split()) if begun.exists() else 0

    session_id = victim.call("POST", "/api/sessions", {"team": "slow"})["session_id"]
    victim.say(session_id, "[NEXT: bob] go")
    eventually(lambda: count() == 1)
    time.sleep(BEAT_S)  # it has beaten since
    victim.kill(signal.SIGKILL)
    killed_at = time.monotonic()
    eventually(lambda: count() == 2)
    return float(begun.read_text().split()[1]) - killed_at


def compare_nodes(url: str, binaries: Path, folder: Path) -> list[Row]:
    """The bars of several nodes."""

    async def run() -> list[Row]:
        return [*await time_turns(url, folder), await time_follower(url), await time_pieces(url)]

    return [*asyncio.run(run()), time_wake_ups(binaries), time_kills(url)]


if __name__ == "__main__":
    asyncio.run(follow_and_tell(*sys.argv[2:4]))
