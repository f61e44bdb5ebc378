"""`make bench-peers`: other libraries and Moot side by side, doing the same work. Writes docs/peers.md.

Each peer has a script in this folder and a virtual environment of its own, which is made here. The scripts run in
turns, several times, so that a slow minute of the machine slows all of them; the best run of each counts.
"""

import json
import os
import platform
import subprocess
import sys
import venv
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv" / "peers"
PAGE = ROOT / "docs" / "peers.md"
RESULTS = ROOT / "bench" / "results" / "peers.json"
PASSES = 2
TIMEOUT_S = 900


class Peer(NamedTuple):
    """`script` is a file of this folder, `packages` what pip installs for it; Moot itself needs none."""

    name: str
    script: str
    packages: tuple[str, ...] = ()


PEERS = (
    Peer("Moot", "moot_sessions.py"),
    Peer("AG2 classic", "ag2_classic.py", ("ag2>=0.14,<0.15",)),
    Peer("LangGraph", "langgraph_graphs.py", ("langgraph", "langgraph-checkpoint-sqlite", "aiosqlite")),
    Peer("Agent Framework", "agent_framework_workflows.py", ("agent-framework-core",)),
    Peer("AutoGen", "autogen_teams.py", ("autogen-agentchat",)),
)
COLUMNS = ("turn", "turn, durable", "round", "round, durable", "task", "task, durable")


class Result(NamedTuple):
    version: str
    costs: dict[str, float]  # microseconds by measure
    problem: str = ""


def prepare(peer: Peer) -> Path:
    """Make the environment of a peer, unless it is there. Returns its interpreter. Raises CalledProcessError."""
    if not peer.packages:
        return Path(sys.executable)
    folder = ENVIRONMENTS / peer.script.removesuffix(".py")
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *peer.packages]
        subprocess.run(install, check=True, capture_output=True, text=True)
        (folder / ".installed").touch()
    return python


def measure(peer: Peer, python: Path) -> Result:
    ran = subprocess.run(
        [python, HERE / peer.script],
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=ROOT,  # the disk that the others write to
    )
    found = json.loads(ran.stdout.strip().splitlines()[-1])
    return Result(found["version"], found["costs"])


def run_all() -> dict[str, Result]:
    """Measure every peer. One that cannot be installed or run says why."""
    results: dict[str, Result] = {}
    for _ in range(PASSES):
        for peer in PEERS:
            before = results.get(peer.name)
            if before and before.problem:
                continue
            try:
                now = measure(peer, prepare(peer))
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                results[peer.name] = Result("", {}, _shorten(error))
                continue
            costs = {name: min(cost, before.costs[name]) if before else cost for name, cost in now.costs.items()}
            results[peer.name] = Result(now.version, costs)
            print(peer.name, now.version, {name: round(cost) for name, cost in costs.items()}, flush=True)
    return results


def _shorten(error: Exception) -> str:
    stderr = getattr(error, "stderr", None) or str(error)
    return (str(stderr).strip().splitlines() or ["it failed"])[-1][:100]


def write_page(results: dict[str, Result]) -> str:
    """Return the page with the table of results."""
    rows = []
    for name, result in results.items():
        cells = [f"{result.costs[column]:,.0f}" if column in result.costs else "–" for column in COLUMNS]
        rows.append(f"| {name} | {result.version or result.problem} | {' | '.join(cells)} |")
    measured = f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} processors"
    return _PAGE.format(measured=measured, rows="\n".join(rows))


_PAGE = """\
# Moot beside other libraries

<!-- `make bench-peers` writes this page -->

`make bench-peers` installs each library into an environment of its own and has all of them do the same work, with
members that answer at once, so that only the library's own cost is left ([bench/peers](../bench/peers)). Microseconds,
the best of several runs. Measured: {measured}.

| | version | chat turn | durable | supervisor round | durable | task of a plan | durable |
|---|---|---|---|---|---|---|---|
{rows}

- **Chat turn**: two members name each other. The message is read, the next speaker found, and its turn begins.
- **Supervisor round**: a supervisor decides in JSON, the member it names acts, and the supervisor is next.
- **Task of a plan**: one of 50 tasks, ten at once. Every fifth fails once and is retried.
- **Durable**: the work survives the process. Moot: fsync before anything is visible. LangGraph: a checkpoint in SQLite
  before the next step (`durability="sync"`). Agent Framework: one file per step.
- Costs without a disk are time of the processor, costs with one are time of the clock. Other programs on the machine
  make both larger: compare the rows of one run.
- Moot types, hashes and logs all of its events in every column. AG2 classic, a group chat whose speaker a function
  chooses, keeps a list of messages.
- A dash: not measured, because the library has no such thing or its script does not use it.
- **Delivery and resume after a drop** have no columns: these libraries run inside a program and have no server. Other
  products deliver what they do. LangGraph's Agent Server is a part of LangSmith; its clients can reconnect with the id
  of the last event. The package `agent-framework-ag-ui` streams one run as the response to one request. A column would
  measure servers that were written for this page. `make bench` compares Moot's delivery, and its replay after a drop,
  with a bare server that sends the same bytes.
"""


def main() -> int:
    results = run_all()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({name: result._asdict() for name, result in results.items()}, indent=2))
    PAGE.write_text(write_page(results), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
