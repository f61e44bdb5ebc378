"""`make soak`: a server under load for a long time. What it holds must not grow: memory, files, threads.

Clients talk in their sessions, lose their links, come back, and exchange old sessions for new ones. The processes are
real; SECONDS=n says how long (ten minutes by default). Needs Linux, for /proc.
"""

import asyncio
import os
import sys
import tempfile
import time
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import moot

CLIENTS = 6
SAYS_PER_LINK = 5
LINKS_PER_SESSION = 4
SAMPLES = 20
TOKEN = "token-of-the-soak"  # noqa: S105
TEAM = """\
moot: 1
name: soak
language: en
chat: {default: bob}
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [{steps: [{thought: hm}], text: "so it is [NEXT: carol]"}]}}
  - {id: carol, kind: ai, agent: {type: script, replies: ["it is"]}}
"""


class Sample(NamedTuple):
    """What the server held at a moment, and what it had done by then."""

    seconds: float
    memory_mib: float
    files: int
    threads: int
    events: int


class Counts:
    """What the clients have done so far. They stop when `is_over` is set."""

    def __init__(self) -> None:
        self.events = self.links = self.sessions = 0
        self.has_begun = asyncio.Event()
        self.is_over = False


class Server:
    """`moot serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = ""

    async def __aenter__(self) -> "Server":
        team = self._folder / "team.yaml"
        team.write_text(TEAM, encoding="utf-8")
        serve = ["serve", str(team), "--port", "0", "--data", str(self._folder / "data")]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "moot", *serve),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "MOOT_TOKEN": TOKEN},
        )
        assert self._process.stdout
        self.url = (await self._process.stdout.readline()).decode().strip()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await self._process.wait()

    def sample(self, seconds: float, events: int) -> Sample:
        proc = Path(f"/proc/{self._process.pid}")
        status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
        memory_kib, threads = status["VmRSS"].split()[0], status["Threads"]
        return Sample(seconds, int(memory_kib) / 1024, len(list((proc / "fd").iterdir())), int(threads), events)


async def talk(url: str, counts: Counts) -> None:
    """Talk in one session after the other, each over several links."""
    while not counts.is_over:
        session_id: str | None = None
        for _ in range(LINKS_PER_SESSION):
            async with moot.connect(url, token=TOKEN) as client:
                session = await client.session(session_id)
                session_id = session.id
                counts.links += 1
                for _ in range(SAYS_PER_LINK):
                    async for _event in session.say("how is it?"):
                        counts.events += 1
                        counts.has_begun.set()
                    if counts.is_over:
                        return
        counts.sessions += 1
        await asyncio.to_thread(remove, url, session_id)


def remove(url: str, session_id: str | None) -> None:
    """Remove a session, later if the server says so: the clients share one token, and its rate."""
    request = Request(  # noqa: S310 - the server of this run
        f"{url.rstrip('/')}/api/sessions/{session_id}?forever=1",
        method="DELETE",
        headers={"Authorization": f"Bearer {TOKEN}"},
    )
    try:
        with urlopen(request) as answer:  # noqa: S310
            assert answer.status < 300
    except HTTPError as error:
        if error.code != HTTPStatus.TOO_MANY_REQUESTS:
            raise
        time.sleep(int(error.headers["Retry-After"]))
        remove(url, session_id)


async def soak(seconds: float, folder: Path) -> tuple[list[Sample], Counts]:
    """Load a server for so long. Returns what it held now and then."""
    counts, samples = Counts(), []
    async with Server(folder) as server, asyncio.TaskGroup() as tasks:
        for _ in range(CLIENTS):
            tasks.create_task(talk(server.url, counts))
        await counts.has_begun.wait()
        began = time.monotonic()
        for number in range(1, SAMPLES + 1):
            await asyncio.sleep(max(0.0, began + number * seconds / SAMPLES - time.monotonic()))
            samples.append(server.sample(time.monotonic() - began, counts.events))
        counts.is_over = True
    return samples, counts


def find_growth(samples: list[Sample]) -> list[str]:
    """What grew between the second quarter of the run and the last one; the first quarter warms up."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    growth = []
    memory = [max(sample.memory_mib for sample in part) for part in (early, late)]
    if memory[1] > 1.1 * memory[0] + 4:
        growth.append(f"memory grew from {memory[0]:.0f} to {memory[1]:.0f} MiB")
    for what in ("files", "threads"):
        most = [max(getattr(sample, what) for sample in part) for part in (early, late)]
        if most[1] > most[0] + CLIENTS:
            growth.append(f"{what} grew from {most[0]} to {most[1]}")
    return growth


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="moot-soak-") as folder:
        samples, counts = asyncio.run(soak(float(os.environ.get("SECONDS", "600")), Path(folder)))
    for sample in samples:
        print(
            f"{sample.seconds:7.0f} s {sample.memory_mib:8.1f} MiB {sample.files:5} files {sample.threads:4} threads "
            f"{sample.events:9,} events"
        )
    print(f"{counts.events:,} events, {counts.links} links, {counts.sessions} sessions")
    growth = find_growth(samples)
    print("\n".join(growth) or "nothing grew")
    return int(bool(growth))


if __name__ == "__main__":
    sys.exit(main())
