"""Delivery: events to many sockets, from an append to a client, replays, what idle connections and sessions cost.

A server and its clients, each in a process with a core of its own; the floor is a bare uvicorn with the same bytes.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from bench.delivery_server import make_events
from bench.turns import SAID
from moot.core.codec import Head

EVENTS = {1: 20_000, 100: 2_000, 1_000: 300}
BURST = 5  # events of a turn, which are one append
BATCH = 32
REPLAYED = 10_000
LATENCIES = 300
CONNECTIONS = 1_000
STALLED = 190
ROUNDS = range(2)


class Process:
    """Does what it is told, one order at a time."""

    def __init__(self, module: str, *arguments: str, core: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        os.sched_setaffinity(self._process.pid, {core})

    def tell(self, name: str, *arguments: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the process has ended"
        return json.loads(line)

    def ask(self, name: str, *arguments: Any) -> Any:
        self.tell(name, *arguments)
        return self.answer()

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Pair(NamedTuple):
    """Ours and the floor."""

    ours: float
    floor: float


class Bench:
    def __init__(self, folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._folder = folder
        self._server_core, self._client_core = cores[0], cores[-1]
        self.clients = Process("bench.delivery_client", core=self._client_core)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clients.end()

    @contextmanager
    def serving(self, kind: str, log: str = "durable") -> Iterator[tuple[Process, int]]:
        folder = self._folder / f"{kind}-{time.monotonic_ns()}"
        folder.mkdir()
        server = Process("bench.delivery_server", kind, str(folder), log, core=self._server_core)
        try:
            yield server, server.answer()
        finally:
            server.end()

    def rates(self, connections: int, *, batched: bool) -> Pair:
        """Frames per second, all connections together; the best of a few rounds, in turn."""
        rounds = [(self._rate("moot", connections, batched), self._rate("bare", connections, batched)) for _ in ROUNDS]
        return Pair(max(ours for ours, _ in rounds), max(floor for _, floor in rounds))

    def _rate(self, kind: str, connections: int, batched: bool) -> float:
        events = EVENTS[connections] * (4 if batched else 1)
        with self.serving(kind, "memory") as (server, port):
            session_id = server.ask("begin") if kind == "moot" else ""
            self.clients.ask("connect", port, connections, "&batch=1" if batched else "", session_id)
            self.clients.tell("wait_for_end", events)
            server.tell("broadcast", events, BATCH if batched else BURST, batched)
            took: float = self.clients.answer()
            server.answer()
            self.clients.ask("close")
        return connections * events / took

    def replays(self, *, batched: bool) -> Pair:
        """Events per second to one socket, from the file."""
        return Pair(self._replay("moot", batched), self._replay("bare", batched))

    def _replay(self, kind: str, batched: bool) -> float:
        with self.serving(kind) as (server, port):
            session_id = server.ask("fill", REPLAYED)
            took: list[float] = []
            for _ in range(3):
                self.clients.ask("connect", port, 1, "&batch=1" if batched else "", "")
                took.append(self.clients.ask("replay", session_id, REPLAYED - (kind == "moot")))
                self.clients.ask("close")
        return REPLAYED / min(took)

    def latency(self) -> tuple[Pair, Pair]:
        """Seconds from append to client, p50 and p99, against a raw commit and an echo, in turn: disks drift."""
        ours: list[int] = []
        floor: list[int] = []
        for _ in range(3):
            ours += self._append_times(LATENCIES)
            commits = raw_commit_times(self._folder, LATENCIES)
            floor += [commit + echo for commit, echo in zip(commits, self._echo_times(LATENCIES), strict=True)]
        ours.sort()
        floor.sort()
        half, most = len(ours) // 2, len(ours) * 99 // 100
        return Pair(ours[half] / 1e9, floor[half] / 1e9), Pair(ours[most] / 1e9, floor[most] / 1e9)

    def stalled(self) -> Pair:
        """Seconds from append to a client that reads, p99, beside clients that do not; the floor is without them."""
        ours: list[int] = []
        floor: list[int] = []
        for _ in range(3):
            floor += self._append_times(LATENCIES)
            ours += self._append_times(LATENCIES, stalled=STALLED)
        at = len(ours) * 99 // 100
        return Pair(sorted(ours)[at] / 1e9, sorted(floor)[at] / 1e9)

    def _append_times(self, count: int, stalled: int = 0) -> list[int]:
        with self.serving("moot") as (server, port):
            session_id = server.ask("begin")
            self.clients.ask("connect", port, 1 + stalled, "", session_id)
            self.clients.ask("stall")
            server.tell("tell_times", count)
            times: list[int] = self.clients.ask("take_latencies", count)
            server.answer()
            self.clients.ask("close")
        return times

    def _echo_times(self, count: int) -> list[int]:
        with self.serving("bare") as (_, port):
            self.clients.ask("connect", port, 1, "", "")
            size = len(make_events("s_bare", Head(), [SAID])[0].data)
            times: list[int] = self.clients.ask("echo", count, size)
            self.clients.ask("close")
        return times

    def idle_bytes(self) -> tuple[float, float, float]:
        """Of a connection, of an open session, of one that was evicted."""
        with self.serving("moot") as (server, port):
            self.clients.ask("connect", port, 50, "", "")  # what is needed once
            before = server.ask("rss")
            self.clients.ask("connect", port, CONNECTIONS, "", "")
            connection = (server.ask("rss") - before) / CONNECTIONS
            self.clients.ask("close")
        with self.serving("moot") as (server, _):
            server.ask("open_sessions", 6)
            before = server.ask("rss")
            server.ask("open_sessions", 250)
            opened = server.ask("rss")
            server.ask("open_sessions", 1_000)  # each evicts one
            settled = server.ask("rss")
            server.ask("open_sessions", 4_000)
            return connection, (opened - before) / 250, (server.ask("rss") - settled) / 4_000


def raw_commit_times(folder: Path, count: int) -> list[int]:
    """Nanoseconds of one WAL commit, synchronous=FULL, of one event."""
    connection = sqlite3.connect(folder / "commits.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB)")
    [event] = make_events("s_bare", Head(), [SAID])
    times = []
    for _ in range(count):
        time.sleep(0.002)  # as often as ours
        start = time.monotonic_ns()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (data) VALUES (?)", (event.data,))
        connection.execute("COMMIT")
        times.append(time.monotonic_ns() - start)
    connection.close()
    return times
