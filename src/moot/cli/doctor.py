"""`moot doctor`: what this machine has and what it lacks, each with its fix."""

import importlib.util
import os
import platform
import shutil
import socket
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from moot import __version__
from moot.agents.cli.discovery import MEASURED, FoundCli, find_clis
from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.gateway.settings import GatewaySettings

OLDEST = (3, 11)
SLOW_FSYNC_MS = 20.0
LITTLE_SPACE_MB = 200
KEYS = (  # names that models and CLIs look for; what they hold is nobody's business
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "MOOT_TOKEN"),
)
EXTRAS = {"llm": ("pydantic_ai", "members of type llm"), "acp": ("acp", "members of type acp")}
MARKS = {"ok": "✓", "note": "·", "fail": "✗"}


class Check(Struct, frozen=True, kw_only=True):
    """`note`: nothing is wrong, but something could be had."""

    name: str
    status: Literal["ok", "note", "fail"]
    says: str
    fix: str = ""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON Lines")
    parser.add_argument("--port", type=int, default=GatewaySettings().port, help="the one that `moot serve` would take")
    add_data_argument(parser)


async def run(options: Namespace) -> int:
    checks = [check_python(), *check_storage(data_folder(options)), check_port(options.port)]
    checks += [describe_cli(found) for found in await find_clis()]
    checks += [check_keys(), *check_extras()]
    for check in checks:
        if options.json:
            print(msgspec.json.encode(check).decode())
        else:
            print(f"{MARKS[check.status]} {check.name}: {check.says}" + (f"\n    → {check.fix}" if check.fix else ""))
    return exits.FAILED if any(check.status == "fail" for check in checks) else exits.OK


def check_python() -> Check:
    says = f"{platform.python_version()}, Moot {__version__}"
    if sys.version_info < OLDEST:
        return Check(name="python", status="fail", says=says, fix="install Python 3.11 or newer")
    return Check(name="python", status="ok", says=says)


def check_storage(data: Path) -> Iterator[Check]:
    place = next(folder for folder in (data, *data.absolute().parents) if folder.is_dir())
    try:
        taken_ms = measure_fsync_ms(place)
    except OSError as error:
        fix = "make it writable, or use --data DIR"
        yield Check(name="storage", status="fail", says=f"{data} cannot be written ({error.strerror})", fix=fix)
        return
    says = f"{data}, {taken_ms:.2f} ms for an fsync"
    slow = taken_ms > SLOW_FSYNC_MS
    fix = "every turn waits for one: a local disk is faster than a network folder" if slow else ""
    yield Check(name="storage", status="note" if slow else "ok", says=says, fix=fix)
    free_mb = shutil.disk_usage(place).free // 1_000_000
    little = free_mb < LITTLE_SPACE_MB
    fix = "make room, or use --data DIR" if little else ""
    yield Check(name="space", status="fail" if little else "ok", says=f"{free_mb:,} MB free", fix=fix)


def measure_fsync_ms(folder: Path, times: int = 11) -> float:
    """The usual time of one, as a commit of the log pays it."""
    taken: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(times):
            file.write(b"x" * 4_096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - began) * 1_000)
    return statistics.median(taken)


def check_port(port: int) -> Check:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            fix = "if that is not `moot serve` itself, use another: moot serve --port 0"
            return Check(name="port", status="note", says=f"{port} is taken", fix=fix)
    return Check(name="port", status="ok", says=f"{port} is free")


def describe_cli(found: FoundCli) -> Check:
    if not found.path:
        return Check(name=found.name, status="note", says="not installed", fix=found.fix)
    if found.problem:
        return Check(name=found.name, status="fail", says=found.problem, fix=found.fix)
    measured = "" if found.version == MEASURED[found.name] else f" (Moot was tested with {MEASURED[found.name]})"
    login = f"logged in ({found.login})" if found.login else "not logged in"
    status: Literal["ok", "note"] = "ok" if found.login else "note"
    return Check(name=found.name, status=status, says=f"{found.version}{measured}, {login}", fix=found.fix)


def check_keys() -> Check:
    """Which are set. Never what they are."""
    present = [name for name in KEYS if os.environ.get(name)]
    if not present:
        return Check(
            name="keys", status="note", says="none set", fix="members of type llm need one, such as OPENAI_API_KEY"
        )
    return Check(name="keys", status="ok", says=", ".join(present))


def check_extras() -> Iterator[Check]:
    for extra, (module, use) in EXTRAS.items():
        if importlib.util.find_spec(module):
            yield Check(name=extra, status="ok", says=f"installed, for {use}")
        else:
            yield Check(name=extra, status="note", says=f"not installed, for {use}", fix=f"pip install 'moot[{extra}]'")
