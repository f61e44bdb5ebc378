"""`moot doctor`: checks the machine, the data folder and the sessions, and says how to fix what is wrong."""

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
from moot.agents.cli.discovery import FoundCli, find_clis
from moot.agents.member_sockets import has_library
from moot.agents.sandbox import find_bubblewrap
from moot.cli import exits
from moot.cli.checks import Check
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.parser import read_port
from moot.cli.progress import Progress
from moot.cli.repair import repair
from moot.cli.storage_checks import check_folder, check_sessions, check_sqlite
from moot.cli.tree_checks import check_trees
from moot.cli.wording import say
from moot.config.agent_specs import list_agent_types
from moot.config.loading import load_team
from moot.config.own_folders import find_settings_file, find_trees_folder
from moot.core.errors import ConfigError
from moot.gateway.settings import GatewaySettings

OLDEST = (3, 11)
KEYS = (  # variables that models and CLIs read; only their names are ever printed
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "MOOT_TOKEN"),
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repair",
        action="store_true",
        help=say("help.doctor.repair"),
    )
    parser.add_argument("--prune", action="store_true", help=say("help.doctor.prune"))
    parser.add_argument(
        "--notify",
        action="store_true",
        help=say("help.doctor.notify"),
    )
    parser.add_argument("--json", action="store_true", help=say("help.json_lines"))
    parser.add_argument(
        "--port",
        type=read_port,
        default=GatewaySettings().port,
        help=say("help.doctor.port"),
    )
    add_store_arguments(parser)


async def run(options: Namespace) -> int:
    """Print every check. Return 6 if stored data is damaged, else 1 if a check fails."""
    failed = []
    async for check in examine(options):
        print(check.format(as_json=options.json), flush=True)
        if check.status == "fail":
            failed.append(check)
    if any(check.is_damage for check in failed):
        return exits.INTEGRITY
    return exits.FAILED if failed else exits.OK


async def examine(options: Namespace) -> AsyncIterator[Check]:
    if options.notify:
        yield await check_notify()
        return
    data, store = data_folder(options), find_sessions(options)
    yield check_python()
    yield check_sqlite()
    for check in check_folder(data):
        yield check
    async for check in check_sessions(store):
        yield check
    if options.repair:
        async for check in repair(store, data):
            yield check
    trees = find_trees_folder()
    async for check in check_trees(store, trees, does_repair=options.repair, does_prune=options.prune):
        yield check
    if options.repair or options.prune:
        return
    yield check_port(options.port)
    with Progress("asking the agents' programs for their versions"):
        clis = await find_clis()
    for check in (*map(describe_cli, clis), check_sandbox(), check_keys(), *check_extras(), check_member_tools()):
        yield check
    for check in check_costs(Path("moot.yaml")):
        yield check


def check_costs(file: Path) -> Iterator[Check]:
    """Name the limits in USD of the team file in this folder that cannot work."""
    from moot.cli.readiness import list_uncounted

    try:
        team = load_team(str(file)) if file.is_file() else None
    except ConfigError:  # `moot validate` says what is wrong with it
        return
    for path, says, fix in list_uncounted(team) if team else ():
        yield Check(name="budget", status="note", says=f"{file}: {'.'.join(map(str, path))}: {says}", fix=fix)


async def check_notify() -> Check:
    """Send a notification as a session would."""
    from moot.cli.notifying import Need, NotSent, send
    from moot.cli.user_settings import read_settings

    notify, path = read_settings().notify, find_settings_file()
    if not notify.command and not notify.url:
        fix = f"write `notify: [notify-send, Moot, '{{title}}: {{question}}']` into {path}, or `notify: URL`"
        return Check(name="notify", status="note", says="no command and no URL is set", fix=fix)
    question = "This is a test: you would be told like this that somebody waits for you."
    try:
        await send(Need(session="s_test", title="Moot", kind="question", question=question), notify)
    except NotSent as error:
        return Check(name="notify", status="fail", says=str(error), fix=f"see notify: in {path}")
    told = [*notify.command[:1], *(["the URL"] if notify.url else [])]
    return Check(name="notify", status="ok", says=f"sent to {' and '.join(told)}")


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


def describe_cli(cli: FoundCli) -> Check:
    if not cli.path:
        return Check(name=cli.name, status="note", says="not installed", fix=cli.fix)
    if cli.problem:
        return Check(name=cli.name, status="fail", says=cli.problem, fix=cli.fix)
    tested_with = cli.preset.tested_with
    tested = "" if cli.version == tested_with else f" (Moot was tested with {tested_with})"
    login = f"logged in ({cli.login})" if cli.login else "not logged in"
    status: Literal["ok", "note"] = "ok" if cli.login else "note"
    return Check(name=cli.name, status=status, says=f"{cli.version}{tested}, {login}", fix=cli.fix)


def check_sandbox() -> Check:
    """Whether agents' programs can be kept from Moot's own files."""
    path, problem = find_bubblewrap()
    if path:
        return Check(
            name="sandbox", status="ok", says="bubblewrap keeps agents' programs from your tokens and sessions"
        )
    problem, _, fix = problem.partition("; ")
    return Check(name="sandbox", status="note", says=f"none, agents' programs can read your tokens: {problem}", fix=fix)


def check_keys() -> Check:
    """Say which keys are set, without their values."""
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
    """Whether the optional dependencies of the agent types are installed."""
    for name, kind in list_agent_types().items():
        if kind.extra is None:
            continue
        extra, use = kind.extra.name, f"members of type {name}"
        if importlib.util.find_spec(kind.extra.module):
            yield Check(name=extra, status="ok", says=f"installed, for {use}")
        else:
            yield Check(name=extra, status="note", says=f"not installed, for {use}", fix=f"pip install 'moot[{extra}]'")


def check_member_tools() -> Check:
    """Whether CLI and ACP members have Moot's own tools."""
    if has_library():
        return Check(name="mcp", status="ok", says="CLI and ACP members can ask people and team-mates during a turn")
    says = "not installed: CLI and ACP members cannot ask people or team-mates during a turn"
    return Check(name="mcp", status="note", says=says, fix="pip install 'moot[mcp]'")
