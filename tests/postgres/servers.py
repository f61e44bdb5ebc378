"""`moot serve` processes on one database, as an operator runs them."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MOOT = [sys.executable, "-m", "moot.cli.main"]


def write_pair(agent: str) -> str:
    """The team file `slow`: ann and bob, whom this agent plays."""
    return f"""\
moot: 1
name: slow
flow: chat
language: en
members:
  - {{id: ann, kind: human}}
  - {{id: bob, kind: ai, agent: {agent}}}
"""


SLOW_TEAM = write_pair("{type: script, replies: [{text: done, delay_s: 1.5}]}")


def trust(file: Path, own: Path) -> None:
    """Trust a team file as the person whose own folder this is."""
    subprocess.run(
        [*MOOT, "trust", str(file), "--yes"],
        check=True,
        env={**os.environ, "MOOT_DATA": str(own)},
        capture_output=True,
    )


def make_worker_token(store: str, pool: str, own: Path) -> str:
    """A token for the workers of a pool."""
    command = [*MOOT, "token", "create", "--role", "worker", "--pool", pool, "--store", store]
    environment = {**os.environ, "MOOT_DATA": str(own)}
    return subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout.strip()


class Server:
    """A process, with its URL and the owner's token that it printed."""

    def __init__(self, process: "subprocess.Popen[str]", data: Path) -> None:
        self.process = process
        self.data = data
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        self.url, _, self.token = line.partition("#token=")
        if not self.token:
            raise RuntimeError(f"no server: {line!r}")

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        """The answer; raises HTTPError or OSError."""
        request = urllib.request.Request(  # noqa: S310 - it is our own
            self.url.rstrip("/") + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"authorization": f"Bearer {token or self.token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
            data = response.read()
            return json.loads(data) if data else None

    def read(self, path: str) -> str:
        request = urllib.request.Request(  # noqa: S310 - it is our own
            self.url.rstrip("/") + path, headers={"authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
            text: str = response.read().decode()
            return text

    def say(self, session_id: str, text: str, command_id: str = "") -> None:
        frame = {"event": "user.message", "metadata": {"text": text}}
        if command_id:
            frame["command_id"] = command_id
        self.call("POST", f"/api/sessions/{session_id}/commands", frame)

    def events(self, session_id: str) -> list[dict[str, Any]]:
        frames: list[dict[str, Any]] = []
        while page := self.call("GET", f"/api/sessions/{session_id}/events?after={len(frames)}"):
            frames += page
        return frames

    def count(self, session_id: str, event: str) -> int:
        return sum(frame["event"] == event for frame in self.events(session_id))

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(how)


@contextmanager
def server(
    store: str, data: Path, *arguments: Path | str, lease_s: float = 3.0, port: int = 0, **environment: str
) -> Iterator[Server]:
    command = [*MOOT, "serve", *map(str, arguments), "--store", store, "--data", str(data), "--port", str(port)]
    names = {"MOOT_NODE": data.name, "MOOT_LEASE_S": str(lease_s)}  # not options: an older revision may not have them
    settings = {**os.environ, **names, **environment}
    with _started(command, data, settings) as process:
        yield Server(process, data)


class WorkerProcess:
    """A `moot worker` that is connected."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout is not None
        if "is ready" not in process.stdout.readline():
            raise RuntimeError("no worker")


@contextmanager
def worker(urls: Sequence[str], data: Path, pool: str, *teams: Path, **environment: str) -> Iterator[WorkerProcess]:
    """A worker of a pool that connects to any of the servers; their URLs have its token."""
    connect = [part for url in urls for part in ("--connect", url)]
    command = [*MOOT, "worker", *map(str, teams), *connect, "--pool", pool, "--data", str(data), "--name", data.name]
    with _started(command, data, {**os.environ, **environment}) as process:
        yield WorkerProcess(process)


@contextmanager
def _started(command: list[str], data: Path, environment: dict[str, str]) -> "Iterator[subprocess.Popen[str]]":
    with (data.parent / f"{data.name}.log").open("a") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def eventually(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until it is so, whatever the servers answer meanwhile."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(OSError, urllib.error.HTTPError):
            if result := condition():
                return result
        time.sleep(0.05)
    raise AssertionError("it did not become so")
