"""`make chaos-cluster`: three servers and two workers on one PostgreSQL under seeded faults. SECONDS=n, SEED=n.

Servers are killed, stopped, restarted in order, cut off from the database, and have all of their connections reset;
workers are killed, stopped and restarted; PostgreSQL is restarted, also as by a crash. Clients send commands with ids
to any server until one accepts them, and answer what they are asked. Every flow takes part. At the end everything that
was accepted is in the log once, every turn has ended once, every chain of hashes holds, every server shows what the log
gives, nobody wrote under an epoch that was over, and nothing is stuck.
"""

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import msgspec

from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.core.view import project
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import PostgresStore, read_address
from tests.postgres.chaos_teams import POOL, TASKS, write_teams
from tests.postgres.pg_server import INSTALL, PgServer, free_port, pg_server, usable_binaries
from tests.postgres.proxy import Proxy, proxied
from tests.postgres.servers import Server, WorkerProcess, eventually, make_worker_token, server, trust, worker

NODES, WORKERS, CLIENTS = 3, 2, 4
SESSIONS = {"talk": 8, "build": 4, "studio": 2, "live": 2, "desk": 2, "trees": 3}
LEASE_S = 3.0
SETTLE_S = 300.0  # for what the clients still asked for
COUNTED = (
    "appends",
    "turn.completed",
    "turn.failed",
    "solver.completed",
    "notes",
    "workspace.merged",
    "workspace.taken",
    "epochs",
)
RECORDED = {"workspace.changed", "workspace.merged"}
ENDS = {"turn.completed", "turn.failed", "turn.interrupted", "turn.cancelled"}
DUE = """
SELECT h.session, s.id, s.team, h.seq, h.owner, h.epoch, n.name,
  extract(epoch FROM clock_timestamp() - h.at::timestamptz)::float8 AS idle_s
FROM moot.heads h JOIN moot.sessions s ON s.key = h.session LEFT JOIN moot.nodes n ON n.id = h.owner
WHERE h.due AND NOT h.removed
"""
FAULTS = {
    "kill": 4,
    "stop": 3,
    "term": 2,
    "partition": 3,
    "reset": 4,
    "database": 1,
    "worker kill": 3,
    "worker stop": 2,
    "worker term": 1,
}


class Proxies:
    """A proxy between each server and the database, in a thread of their own."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._stack: list[Any] = []
        self.all = [self._start(url) for _ in range(NODES)]

    def _start(self, url: str) -> Proxy:
        manager = proxied(url)
        self._stack.append(manager)
        return asyncio.run_coroutine_threadsafe(manager.__aenter__(), self._loop).result()

    def call(self, slot: int, what: str) -> None:
        """`stop_flow`, `resume` or `reset_all`."""
        self._loop.call_soon_threadsafe(getattr(self.all[slot], what))

    def close(self) -> None:
        for manager in self._stack:
            asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Cluster:
    """Servers and workers, each in a slot where it can be replaced."""

    def __init__(self, database: PgServer, root: Path, proxies: Proxies) -> None:
        self.database = database
        self.proxies = proxies
        self._root = root
        self._ports = [free_port() for _ in range(NODES)]
        self._stacks: dict[str, ExitStack] = {}
        self.servers: dict[int, Server] = {}
        self.workers: dict[int, WorkerProcess] = {}
        self.failed_starts = 0
        machines = [f"node{slot}" for slot in range(NODES)] + [f"worker{slot}" for slot in range(WORKERS)]
        self._teams = {name: write_teams(root / f"{name}-files") for name in machines}
        for file in [file for files in self._teams.values() for file in files.values()]:
            trust(file, root / "own")
        self._token = make_worker_token(database.url, POOL, root / "own")

    def start(self, slot: int) -> None:
        name = f"node{slot}"
        self.servers[slot] = self._insist(
            name,
            lambda data: server(
                self.proxies.all[slot].url,
                data,
                *self._teams[name].values(),
                lease_s=LEASE_S,
                port=self._ports[slot],
                MOOT_DATA=str(self._root / "own"),
                XDG_CACHE_HOME=str(self._root / f"{name}-cache"),
            ),
        )

    def list_trees(self, session_id: str) -> list[Path]:
        """The clones of a session on all machines."""
        return list(self._root.glob(f"node*-cache/moot/trees/{session_id}/.repository"))

    def _insist(self, name: str, make: Callable[[Path], AbstractContextManager[Any]]) -> Any:
        """Start a process until it comes up, as a supervisor of services does: the database may be away."""
        for _ in range(20):
            stack = ExitStack()
            try:
                started = stack.enter_context(make(self._root / name))
            except RuntimeError as error:
                print(f"{name}: {error}: {(self._root / f'{name}.log').read_text()[-400:]}", flush=True)
                self.failed_starts += 1
                time.sleep(0.5)
            else:
                self._stacks[name] = stack
                return started
        raise RuntimeError(f"{name} does not start")

    def stop(self, slot: int) -> None:
        self.servers.pop(slot, None)
        self._stacks.pop(f"node{slot}", ExitStack()).close()

    def start_worker(self, slot: int) -> None:
        urls = [f"http://127.0.0.1:{port}/#token={self._token}" for port in self._ports]
        own, name = str(self._root / "own"), f"worker{slot}"
        teams = [file for team, file in self._teams[name].items() if team != "trees"]  # nothing of it runs on workers
        self.workers[slot] = self._insist(name, lambda data: worker(urls, data, POOL, *teams, MOOT_DATA=own))

    def stop_worker(self, slot: int) -> None:
        self.workers.pop(slot, None)
        self._stacks.pop(f"worker{slot}", ExitStack()).close()

    def pick(self, chance: random.Random) -> Server | None:
        servers = list(self.servers.values())
        return chance.choice(servers) if servers else None


def send(cluster: "Picker", chance: random.Random, session_id: str, frame: dict[str, Any], until: float) -> bool:
    """Send a command, to one server after the other, until one accepts or refuses it."""
    while time.monotonic() < until:
        node = cluster.pick(chance)
        try:
            if node:
                node.call("POST", f"/api/sessions/{session_id}/commands", frame)
                return True
        except urllib.error.HTTPError as error:
            if error.code in {400, 403, 404, 409, 413, 422}:
                return False  # the session takes no more now
        except OSError:
            pass
        time.sleep(0.05)
    return False


class Picker(Protocol):
    """Servers of which any may be asked."""

    def pick(self, chance: random.Random) -> Server | None: ...


def talk(
    cluster: Picker,
    number: int,
    sessions: dict[str, str],
    until: Callable[[], float],
    accepted: list[tuple[str, str]],
) -> None:
    """One client of all sessions."""
    chance = random.Random(number)  # noqa: S311 - a seed
    count = 0
    while time.monotonic() < until():
        session_id = chance.choice(list(sessions))
        team, command_id = sessions[session_id], f"c{number}n{count}"
        count += 1
        frame: dict[str, Any] = {"event": "user.message", "command_id": command_id, "metadata": {"text": command_id}}
        if team == "talk" and count % 2:
            to = chance.choice(["bob", "cat", "cat", "dan"])
            frame["metadata"]["text"] = f"[NEXT: {to}] {command_id}"
        elif team == "live":
            frame["metadata"]["text"] = f"[NEXT: eve] {command_id}"
        elif team in ("build", "desk", "trees"):
            frame = {"event": "user.solve_tasks", "command_id": command_id, "metadata": {"tasks": TASKS}}
        if send(cluster, chance, session_id, frame, time.monotonic() + 60) and team in ("talk", "live"):
            accepted.append((session_id, command_id))
        time.sleep(chance.random() * 0.1)


def answer(cluster: Cluster, is_over: threading.Event, answered: Counter[str]) -> None:
    """Answer what people are asked, on any server."""
    chance = random.Random(0)  # noqa: S311
    while not is_over.is_set():
        time.sleep(0.2)
        node = cluster.pick(chance)
        try:
            items = node.call("GET", "/api/inbox")["items"] if node else []
        except (OSError, urllib.error.HTTPError):
            continue
        for item in items:
            if not item.get("step_id") or is_over.is_set():
                continue
            options = item.get("options") or []
            given = {"choice": options[0]["id"]} if options else {"answer": "beginners"}
            frame = {"event": "user.response", "metadata": {"step_id": item["step_id"], **given}}
            if send(cluster, chance, item["session_id"], frame, time.monotonic() + 5):
                answered[item["kind"]] += 1


def do_harm(cluster: Cluster, chance: random.Random, until: float) -> Counter[str]:
    done: Counter[str] = Counter()
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.5, 3))
        fault = chance.choices(list(FAULTS), list(FAULTS.values()))[0]
        done[fault] += 1
        if fault.startswith("worker"):
            harm_worker(cluster, fault, chance)
        else:
            harm_server(cluster, fault, chance)
    return done


def harm_server(cluster: Cluster, fault: str, chance: random.Random) -> None:
    slot = chance.randrange(NODES)
    node = cluster.servers[slot]
    match fault:
        case "kill":
            node.kill(signal.SIGKILL)
            cluster.stop(slot)
            cluster.start(slot)
        case "stop":
            node.kill(signal.SIGSTOP)
            time.sleep(chance.uniform(0.5, 2 * LEASE_S))
            node.kill(signal.SIGCONT)
        case "term":
            cluster.stop(slot)
            cluster.start(slot)
        case "partition":
            cluster.proxies.call(slot, "stop_flow")
            time.sleep(chance.uniform(0.5, 2 * LEASE_S))
            cluster.proxies.call(slot, "resume")
        case "reset":
            cluster.proxies.call(slot, "reset_all")
        case "database":
            cluster.database.restart(chance.choice([signal.SIGINT, signal.SIGQUIT]))


def harm_worker(cluster: Cluster, fault: str, chance: random.Random) -> None:
    slot = chance.randrange(WORKERS)
    process = cluster.workers[slot].process
    if fault == "worker stop":
        process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0.5, 2.5 * LEASE_S))
        process.send_signal(signal.SIGCONT)
        return
    if fault == "worker kill":
        process.send_signal(signal.SIGKILL)
    cluster.stop_worker(slot)
    cluster.start_worker(slot)


class Verdict:
    """What the logs say. `wrong` is empty if all is well."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.counts: Counter[str] = Counter()
        self.commits: dict[str, set[str]] = {}  # by sessions, of what members did to their trees
        self.states: dict[str, State] = {}  # by sessions, folded from the first event on

    async def judge(self, url: str, sessions: dict[str, str], accepted: list[tuple[str, str]]) -> None:
        log = await PgLog.open(read_address(url), read_address(url))
        try:
            for session_id in sessions:
                await self._judge_session(log, session_id, accepted)
            [row] = await log._pool.fetch(
                "SELECT count(*) FILTER (WHERE before > epoch) AS late, count(*) AS appends, max(epoch) AS epochs FROM"
                " (SELECT epoch, lag(epoch) OVER (PARTITION BY session ORDER BY seq) AS before FROM moot.appends) x"
            )
            self.counts.update(appends=row["appends"], epochs=row["epochs"])
            if row["late"]:
                self.wrong.append(f"{row['late']} appends under an epoch that was over")
            self.wrong += [await self._describe(log, row) for row in await log._pool.fetch(DUE)]
            jobs = await log._pool.fetch("SELECT * FROM moot.jobs")
            self.wrong += [
                f"session {job['session']}: a job is left: {job['kind']} {job['turn']} of {job['member']}, "
                f"attempt {job['attempt']}, worker {job['worker']}"
                for job in jobs
            ]
        finally:
            await log.close()

    async def _describe(self, log: PgLog, due: Any) -> str:
        """What an engineer needs to find out why a session is stuck, if it is: it may just be at work."""
        last = [f"{event.name} {event.data.decode()[:300]}" for event in await log.read(due["id"], due["seq"] - 5)]
        who = f"session {due['session']} ({due['id']}, {due['team']})"
        acts = f"node {due['owner']} {due['name'] or 'that is gone'} acts under epoch {due['epoch']}"
        return f"{who} is due, {due['idle_s']:.1f} s after #{due['seq']}; {acts}; " + "; ".join(last)

    async def _judge_session(self, log: PgLog, session_id: str, accepted: list[tuple[str, str]]) -> None:
        said: Counter[str] = Counter()
        turns: Counter[str] = Counter()
        previous, after, state = "", 0, None
        while events := await log.read(session_id, after):
            for event in events:
                previous = hashlib.sha256(previous.encode() + event.data).hexdigest()
                if previous != event.hash:
                    self.wrong.append(f"{session_id}: chain broken at {event.seq}")
                state = evolve(state, event.fact)
                fact = json.loads(event.data)["metadata"]
                if event.name == "message.posted" and fact.get("member") == "ann":
                    said[fact["text"].split("]")[-1].strip()] += 1
                elif event.name == "turn.started":
                    turns[fact["turn_id"]] += 0
                elif event.name in ENDS:
                    turns[fact["turn_id"]] += 1
                elif event.name == "solver.completed":
                    turns[fact["dispatch_id"]] += 1
                    self.counts["notes"] += fact["result"].startswith("wrote")  # in the folder of a worker's member
                elif event.name in RECORDED:
                    self.commits.setdefault(session_id, set()).add(fact["commit"])
                self.counts[event.name] += 1
            after = events[-1].seq
        if state is not None:
            self.states[session_id] = state
        ours = [text for each, text in accepted if each == session_id]
        self.wrong += [f"{session_id}: {text} is there {said[text]} times" for text in ours if said[text] != 1]
        self.wrong += [f"{session_id}: turn {turn} ended {ends} times" for turn, ends in turns.items() if ends != 1]


def find_other_states(cluster: Cluster, states: dict[str, State]) -> list[str]:
    """The sessions that a server shows otherwise than their logs say. It begins with what servers have kept of them."""
    others = []
    for session_id, state in states.items():
        view = json.loads(msgspec.json.encode(project(state)))
        for slot, node in cluster.servers.items():
            if node.call("GET", f"/api/sessions/{session_id}")["state"] != view:
                others.append(f"{session_id}: server {slot} shows another state than its log gives")
    return others


def find_lost_work(cluster: Cluster, commits: dict[str, set[str]]) -> list[str]:
    """The sessions of which some recorded work is not on the machine that has the rest of it."""
    lost = []
    for session_id, names in commits.items():
        missing = [names - _list_commits(clone) for clone in cluster.list_trees(session_id)]
        if [] not in [sorted(each) for each in missing]:
            lost.append(f"{session_id}: no machine has all of its {len(names)} commits; missing: {missing}")
    return lost


def _list_commits(clone: Path) -> set[str]:
    """The commits that a clone has."""
    command = ["git", "-C", str(clone), "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in listed.splitlines() if line.endswith(" commit")}


@contextmanager
def opened(seed: int) -> Iterator[tuple[Cluster, random.Random]]:
    binaries = usable_binaries()
    chance = random.Random(seed)  # noqa: S311
    with ExitStack() as stack:
        database = stack.enter_context(pg_server(next(iter(binaries.values()))))
        asyncio.run(PostgresStore(database.url).initialise())
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-chaos-", ignore_cleanup_errors=True)))
        proxies = Proxies(database.url)
        stack.callback(proxies.close)
        cluster = Cluster(database, root, proxies)
        for slot in range(NODES):
            cluster.start(slot)
            stack.callback(cluster.stop, slot)
        for slot in range(WORKERS):
            cluster.start_worker(slot)
            stack.callback(cluster.stop_worker, slot)
        yield cluster, chance


def run_chaos(seconds: float, seed: int) -> tuple[Verdict, str]:
    with opened(seed) as (cluster, chance):
        sessions = {
            cluster.servers[0].call("POST", "/api/sessions", {"team": team})["session_id"]: team
            for team, count in SESSIONS.items()
            for _ in range(count)
        }
        accepted: list[tuple[str, str]] = []
        answered: Counter[str] = Counter()
        is_over = threading.Event()
        until = time.monotonic() + seconds
        clients = [
            threading.Thread(target=talk, args=(cluster, number, sessions, lambda: until, accepted))
            for number in range(CLIENTS)
        ]
        answering = threading.Thread(target=answer, args=(cluster, is_over, answered))
        for client in [*clients, answering]:
            client.start()
        faults = do_harm(cluster, chance, until)
        for client in clients:
            client.join()
        verdict = Verdict()

        def is_settled() -> bool:
            verdict.__init__()  # type: ignore[misc]
            asyncio.run(verdict.judge(cluster.database.url, sessions, accepted))
            return not verdict.wrong

        try:
            eventually(is_settled, SETTLE_S)
        except AssertionError:
            pass
        finally:
            is_over.set()
            answering.join()
        verdict.wrong += find_lost_work(cluster, verdict.commits)
        if not verdict.wrong:  # else they may go on meanwhile
            verdict.wrong += find_other_states(cluster, verdict.states)
        counts = {name: verdict.counts[name] for name in COUNTED}
        told = (
            f"seed {seed}, {seconds:.0f} s, faults {dict(faults)}, {sum(faults.values())} in all: "
            f"{len(accepted)} messages accepted, questions answered {dict(answered)}, {counts}, "
            f"{cluster.failed_starts} starts in vain, {len(verdict.wrong)} things wrong"
        )
        return verdict, told


def main() -> int:
    if not usable_binaries():
        print(INSTALL, file=sys.stderr)
        return 1
    seconds, seed = float(os.environ.get("SECONDS") or 2000), int(os.environ.get("SEED") or 1)
    verdict, told = run_chaos(seconds, seed)
    print(*verdict.wrong[:50], told, sep="\n")
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
