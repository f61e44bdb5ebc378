"""`make upgrade-cluster FROM=revision`: three servers of an older revision become those of this one, under load.

The tables are migrated while the old servers run; then one server after the other is stopped in order and started
anew. At the end everything that was accepted is in the log once, and every turn has ended once.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from tests.postgres.chaos_cluster import CLIENTS, NODES, Verdict, talk
from tests.postgres.pg_server import INSTALL, pg_server, usable_binaries
from tests.postgres.servers import MOOT, Server, eventually, server

ROOT = Path(__file__).parents[2]
TEAM = """\
moot: 1
name: talk
flow: chat
language: en
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [{text: done, delay_s: 0.3}]}}
  - {id: cat, kind: ai, agent: {type: script, replies: [{text: done, delay_s: 1}]}}
  - {id: dan, kind: ai, agent: {type: script, replies: [{text: done, delay_s: 2}]}}
"""
PAUSE_S = 5.0  # between two steps of the upgrade
SESSIONS = 8


class Rolling:
    """Three servers of an old or of this revision."""

    def __init__(self, store: str, root: Path, old: Path) -> None:
        self._store = store
        self._root = root
        self._old = str(old)
        self._team = root / "team.yaml"
        self._team.write_text(TEAM)
        self._stacks: dict[int, ExitStack] = {}
        self.servers: dict[int, Server] = {}

    def start(self, slot: int, *, is_old: bool) -> None:
        stack = ExitStack()
        source = self._old if is_old else str(ROOT / "src")
        self.servers[slot] = stack.enter_context(
            server(self._store, self._root / f"node{slot}", self._team, PYTHONPATH=source)
        )
        self._stacks[slot] = stack

    def stop(self, slot: int) -> None:
        self.servers.pop(slot, None)
        self._stacks.pop(slot, ExitStack()).close()

    def pick(self, chance: random.Random) -> Server | None:
        servers = list(self.servers.values())
        return chance.choice(servers) if servers else None

    def run(self, *arguments: str, is_old: bool) -> str:
        environment = {**os.environ, "PYTHONPATH": self._old if is_old else str(ROOT / "src")}
        command = [*MOOT, *arguments, "--store", self._store]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return done.stderr.strip()


def upgrade(rolling: Rolling) -> None:
    time.sleep(PAUSE_S)
    print(rolling.run("db", "migrate", is_old=False))
    for slot in range(NODES):
        time.sleep(PAUSE_S)
        rolling.stop(slot)
        rolling.start(slot, is_old=False)
        print(f"server {slot} is of this revision", flush=True)
    time.sleep(PAUSE_S)


def main() -> int:
    binaries, revision = usable_binaries(), os.environ.get("FROM", "")
    if not binaries or not revision:
        print(INSTALL if not binaries else "say which revision to come from: FROM=revision", file=sys.stderr)
        return 1
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-upgrade-")))
        archive = subprocess.run(["git", "archive", revision, "src"], check=True, capture_output=True, cwd=ROOT).stdout
        subprocess.run(["tar", "-x"], input=archive, check=True, cwd=root)
        database = stack.enter_context(pg_server(next(iter(binaries.values()))))
        rolling = Rolling(database.url, root, root / "src")
        print(rolling.run("db", "init", is_old=True))
        for slot in range(NODES):
            rolling.start(slot, is_old=True)
            stack.callback(rolling.stop, slot)
        made = [rolling.servers[0].call("POST", "/api/sessions", {}) for _ in range(SESSIONS)]
        sessions = {each["session_id"]: "talk" for each in made}
        accepted: list[tuple[str, str]] = []
        until = time.monotonic() + 3600
        clients = [
            threading.Thread(target=talk, args=(rolling, number, sessions, lambda: until, accepted))
            for number in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        upgrade(rolling)
        until = 0.0
        for client in clients:
            client.join()
        verdict = Verdict()

        def is_settled() -> bool:
            verdict.__init__()  # type: ignore[misc]
            asyncio.run(verdict.judge(database.url, sessions, accepted))
            return not verdict.wrong

        eventually(is_settled)
        turns = verdict.counts["turn.completed"]
        print(f"{len(accepted)} messages accepted, {turns} turns completed, 0 things wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
