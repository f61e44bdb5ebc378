"""`moot doctor`: what this machine has and what it lacks, each with its fix."""

import importlib.util
import os
import platform
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

from moot import __version__
from moot.agents.cli.discovery import MEASURED, FoundCli, find_clis
from moot.cli import exits
from moot.cli.checks import Check
from moot.cli.data import add_data_argument, data_folder
from moot.cli.parser import read_port
from moot.cli.progress import Progress
from moot.cli.repair import repair
from moot.cli.storage_checks import check_folder, check_sessions
from moot.gateway.settings import GatewaySettings

OLDEST = (3, 11)
KEYS = (  # names that models and CLIs look for; what they hold is nobody's business
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "MOOT_TOKEN"),
)
EXTRAS = {"llm": ("pydantic_ai", "members of type llm"), "acp": ("acp", "members of type acp")}
DAMAGE = {"sessions", "write-ahead log", "repair"}  # names of checks


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repair", action="store_true", help="export what is intact of damaged sessions; removes nothing"
    )
    parser.add_argument("--json", action="store_true", help="JSON Lines")
    parser.add_argument(
        "--port", type=read_port, default=GatewaySettings().port, help="the one that `moot serve` would take"
    )
    add_data_argument(parser)


async def run(options: Namespace) -> int:
    """Exit 6 if a session is damaged, else 1 if something is broken."""
    failed = set()
    async for check in examine(data_folder(options), options.port, is_repairing=options.repair):
        print(check.format(as_json=options.json), flush=True)
        if check.status == "fail":
            failed.add(check.name)
    if failed & DAMAGE:
        return exits.INTEGRITY
    return exits.FAILED if failed else exits.OK


async def examine(data: Path, port: int, *, is_repairing: bool) -> AsyncIterator[Check]:
    yield check_python()
    for check in check_folder(data):
        yield check
    async for check in check_sessions(data):
        yield check
    if is_repairing:
        async for check in repair(data):
            yield check
        return
    yield check_port(port)
    with Progress("asking the agents' programs for their versions"):
        found = await find_clis()
    for check in (*map(describe_cli, found), check_keys(), *check_extras()):
        yield check


def check_python() -> Check:
    says = f"{platform.python_version()}, Moot {__version__}"
    if sys.version_info < OLDEST:
        return Check(name="python", status="fail", says=says, fix="install Python 3.11 or newer")
    return Check(name="python", status="ok", says=says)


def check_port(port: int) -> Check:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
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
            name="keys",
            status="note",
            says="none set",
            fix="members of type llm need one, such as OPENAI_API_KEY, unless their base_url is a server without",
        )
    return Check(name="keys", status="ok", says=", ".join(present))


def check_extras() -> Iterator[Check]:
    for extra, (module, use) in EXTRAS.items():
        if importlib.util.find_spec(module):
            yield Check(name=extra, status="ok", says=f"installed, for {use}")
        else:
            yield Check(name=extra, status="note", says=f"not installed, for {use}", fix=f"pip install 'moot[{extra}]'")
