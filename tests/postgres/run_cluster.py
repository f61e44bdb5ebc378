"""`make run-cluster`: PostgreSQL, three servers behind one address and a worker on this machine. Kill one and watch.

The team has two scripted members, one of them on the worker. It prints what to do, and then who acts. Ctrl-C ends
everything.
"""

import asyncio
import signal
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from moot.runtime.cluster import ClusterStatus
from moot.runtime.stores.postgres.store import PostgresStore
from tests.postgres.balancer import balance
from tests.postgres.pg_server import INSTALL, free_port, pg_server, usable_binaries
from tests.postgres.servers import Server, make_worker_token, server, worker

TEAM = """\
moot: 1
name: cluster
flow: chat
language: en
description: bob is played by the servers, wu by a worker
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [{text: "bob, on a server", delay_s: 15}]}}
  - {id: wu, kind: ai, runs_on: far, agent: {type: script, replies: [{text: "wu, on a worker", delay_s: 15}]}}
"""
LEASE_S, SILENT_S = 6.0, 2.0
NAMES = ("one", "two", "three")
TOLD = """\
Three servers share one PostgreSQL; this address leads to any of them:

  {url}

Open it, begin a session and write "[NEXT: bob] hello": bob is played by a server and takes 15 s. End that server
meanwhile: another one takes over and bob answers. "[NEXT: wu] hello" is played by the worker, whichever server dies.
kill -9 is a crash, kill -STOP a pause (kill -CONT ends it), kill alone hands over.

{processes}

What the servers write: {root}/*.log. What the database knows: {moot} db status --store {database}
Ctrl-C ends everything. Who acts:
"""


def start(stack: ExitStack, root: Path, database: str) -> tuple[int, list[Server], str]:
    """Start servers and a worker; return the port of the one address, the servers, and how to end each process."""
    team, front = root / "team.yaml", free_port()
    team.write_text(TEAM)
    ports = [free_port() for _ in NAMES]
    servers = [
        stack.enter_context(
            server(database, root / name, team, "--allow-host", f"127.0.0.1:{front}", lease_s=LEASE_S, port=port)
        )
        for name, port in zip(NAMES, ports, strict=True)
    ]
    token = make_worker_token(database, "far", root / "own")
    urls = [f"http://127.0.0.1:{port}/#token={token}" for port in ports]
    far = stack.enter_context(worker(urls, root / "far", "far", team))
    pids = {f"server {name}": each.process.pid for name, each in zip(NAMES, servers, strict=True)}
    lines = [f"  {name:<12} kill -9 {pid}" for name, pid in {**pids, "worker": far.process.pid}.items()]
    return front, servers, "\n".join(lines)


def describe(status: ClusterStatus) -> dict[str, str]:
    """What a watcher wants to know about each server and worker."""
    told = {f"server {name}": "has left" for name in NAMES} | {"worker": "has left"}
    names = {node.id: node.name for node in status.nodes}
    for node in status.nodes:
        does = f"acts for {node.owned} sessions" if node.owned else "is there"
        told[f"server {node.name}"] = does if node.lease_left_s > LEASE_S - SILENT_S else "is silent"
    for far in status.workers:
        told["worker"] = f"has {far.jobs} jobs, is connected to server {names.get(far.host or 0, '?')}"
    return told


async def watch(store: PostgresStore) -> None:
    """Print what changes."""
    before: dict[str, str] = {}
    while True:
        told = describe(await store.read_status())
        for name, does in told.items():
            if before.get(name) != does:
                print(f"{datetime.now(UTC):%H:%M:%S} {name} {does}", flush=True)
        before = told
        await asyncio.sleep(0.3)


async def main() -> int:
    binaries = usable_binaries()
    if not binaries:
        print(INSTALL, file=sys.stderr)
        return 1
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    with ExitStack() as stack:
        database = stack.enter_context(pg_server(next(iter(binaries.values()))))
        store = PostgresStore(database.url)
        await store.initialise()
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-cluster-")))
        front, servers, processes = await asyncio.to_thread(start, stack, root, database.url)
        targets = [int(each.url.rstrip("/").rpartition(":")[2]) for each in servers]
        async with await balance(front, targets):
            url = f"http://127.0.0.1:{front}/#token={servers[0].token}"
            moot = Path(sys.executable).with_name("moot")
            print(TOLD.format(url=url, processes=processes, root=root, moot=moot, database=database.url), flush=True)
            watching = asyncio.create_task(watch(store))
            await stop.wait()
            watching.cancel()
        await asyncio.to_thread(stack.close)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
