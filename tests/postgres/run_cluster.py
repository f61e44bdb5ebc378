"""`make run-cluster`: PostgreSQL, three servers behind one address and a worker on this machine. Kill one and watch.

The team is one of people and two scripted members, one of them on the worker. Ctrl-C ends everything.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from moot.runtime.stores.postgres.store import PostgresStore
from tests.postgres.balancer import balance
from tests.postgres.pg_server import INSTALL, free_port, pg_server, usable_binaries
from tests.postgres.servers import MOOT, Server, server, worker

TEAM = """\
moot: 1
name: cluster
flow: chat
language: en
description: bob is played by the servers, wu by a worker
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [{text: "bob, on a server", delay_s: 5}]}}
  - {id: wu, kind: ai, runs_on: far, agent: {type: script, replies: [{text: "wu, on a worker", delay_s: 5}]}}
"""
NAMES = ("one", "two", "three")


def start(stack: ExitStack, root: Path, database: str) -> tuple[int, list[Server]]:
    """Start servers and a worker; return the port of the one address, and the servers."""
    team, front = root / "team.yaml", free_port()
    team.write_text(TEAM)
    ports = [free_port() for _ in NAMES]
    servers = [
        stack.enter_context(
            server(database, root / name, team, "--allow-host", f"127.0.0.1:{front}", lease_s=6, port=port)
        )
        for name, port in zip(NAMES, ports, strict=True)
    ]
    command = [*MOOT, "token", "create", "--role", "worker", "--pool", "far", "--store", database]
    environment = {**os.environ, "MOOT_DATA": str(root / "own")}
    token = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout.strip()
    urls = [f"http://127.0.0.1:{port}/#token={token}" for port in ports]
    far = stack.enter_context(worker(urls, root / "far", "far", team))
    for name, each in zip(NAMES, servers, strict=True):
        print(f"server {name}: kill -9 {each.process.pid}   or kill -STOP, kill -CONT, kill")
    print(f"worker: kill -9 {far.process.pid}   or the like")
    return front, servers


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
        await PostgresStore(database.url).initialise()
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-cluster-")))
        front, servers = await asyncio.to_thread(start, stack, root, database.url)
        targets = [int(each.url.rstrip("/").rpartition(":")[2]) for each in servers]
        async with await balance(front, targets):
            print(f"moot db status --store {database.url}")
            print(f"http://127.0.0.1:{front}/#token={servers[0].token}", flush=True)
            await stop.wait()
        await asyncio.to_thread(stack.close)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
