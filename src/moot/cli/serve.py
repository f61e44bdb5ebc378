"""`moot serve`: the gateway and the web page, on this machine unless told otherwise."""

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from moot.app import open_app
from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.config.agent_specs import AgentSpec, LlmAgent, ScriptAgent
from moot.config.loading import list_built_in_teams, load_team
from moot.config.team_file import TeamFile
from moot.core.errors import ConfigError, MootError
from moot.core.team import Flow
from moot.gateway.app import Gateway
from moot.gateway.auth import Tokens
from moot.gateway.hosts import allow_hosts, make_url
from moot.gateway.metrics import Metrics
from moot.gateway.opening import open_page
from moot.gateway.serving import PortInUse, bind, check_exposure, serve
from moot.gateway.settings import GatewaySettings
from moot.gateway.signals import stopping
from moot.gateway.ws import WebSocketEndpoint

FOUND_FILE = Path("moot.yaml")
MAX_PORT = 65_535
STOP_S = 9.5  # at the latest; what is told to clients and agents takes its part of it
TOKEN_VARIABLE = "MOOT_TOKEN"  # noqa: S105 - its name, not its value


def add_arguments(parser: ArgumentParser) -> None:
    defaults = GatewaySettings()
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="team files or built-in teams; the first is the default"
    )
    parser.add_argument("--host", default=defaults.host, help=f"address to listen on (default: {defaults.host})")
    parser.add_argument(
        "--port", type=read_port, default=defaults.port, help=f"0 takes any that is free (default: {defaults.port})"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME[:PORT]",
        help="a name that a proxy in front is called by",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--insecure", action="store_true", help="listen beyond this machine without TLS")
    add_data_argument(parser)


def read_port(written: str) -> int:
    port = int(written)
    if not 0 <= port <= MAX_PORT:
        raise ValueError(written)
    return port


def run(options: Namespace) -> int:
    with asyncio.Runner(loop_factory=find_loop()) as runner:
        try:
            return runner.run(run_server(options))
        except PortInUse as error:
            print(f"moot: {error}", file=sys.stderr)
            return exits.BUSY


def find_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's, where there is one."""
    try:
        import uvloop
    except ImportError:  # not on every platform
        return asyncio.new_event_loop
    return uvloop.new_event_loop


async def run_server(options: Namespace) -> int:
    check_exposure(options.host, insecure=options.insecure)
    teams = choose_teams(options.files)
    data = data_folder(options)
    with stopping(STOP_S) as stop, bind(options.host, options.port) as bound:
        settings = GatewaySettings(host=options.host, port=bound.getsockname()[1])
        async with open_app(*teams, data=data) as app:
            tokens, metrics = Tokens(data, owner_token=os.environ.get(TOKEN_VARIABLE)), Metrics()
            gateway = Gateway(
                app,
                tokens,
                settings,
                metrics,
                sockets=WebSocketEndpoint(app, tokens, settings, metrics),
                hosts=allow_hosts(settings.host, settings.port, options.allow_host),
            )
            await app.recover()
            say = announcement(settings, tokens, data if options.open else None)
            await serve(gateway, settings, metrics, bound=bound, stop=stop, announce=say)
    return exits.OK


def announcement(settings: GatewaySettings, tokens: Tokens, open_in: Path | None) -> Callable[[], None]:
    """One line on stdout. A token that came from the environment is known already and stays out of it."""
    url = make_url(settings.host, settings.port)
    full_url = f"{url}#token={quote(tokens.owner_token, safe='')}"

    def announce() -> None:
        print(url if tokens.owner_is_given else full_url, flush=True)
        print("Ctrl-C stops the server; sessions go on where they were at the next start.", file=sys.stderr)
        if open_in:
            open_page(open_in, full_url)

    return announce


def choose_teams(files: list[str]) -> list[TeamFile]:
    """The named files, else ./moot.yaml if it starts no program, else the built-in teams, chat first."""
    if files:
        return check_names([load_team(file) for file in files])
    if FOUND_FILE.exists():
        team = load_team(FOUND_FILE)
        refuse_programs(team)
        return [team]
    order = list(Flow)
    return sorted((load_team(name) for name in list_built_in_teams()), key=lambda team: order.index(team.flow))


def check_names(teams: list[TeamFile]) -> list[TeamFile]:
    """A session is started by its team's name, so it must mean one team."""
    names = [team.name for team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{names.count(name)} of the files are a team named {name!r}; give each its own name")
    return teams


def refuse_programs(team: TeamFile) -> None:
    """A file that merely lies in the current folder may not start anything: the person may not know what it does."""
    wanted = [f"{member}: {started}" for member, spec in team.agents().items() if (started := what_starts(spec))]
    if wanted:
        raise MootError(
            f"./{FOUND_FILE} would start programs ({'; '.join(wanted)}); if you trust it, name it: "
            f"moot serve {FOUND_FILE}"
        )


def what_starts(spec: AgentSpec) -> str | None:
    """The program or code that an agent would run on this machine."""
    match spec:
        case ScriptAgent():
            return None
        case LlmAgent(tools=tools, mcp=mcp):
            commands = [" ".join(server.command) for server in mcp if server.command]
            return ", ".join([*tools, *commands]) or None
        case _:
            named = getattr(spec, "command", None) or getattr(spec, "call", None) or getattr(spec, "preset", None)
            return " ".join(named) if isinstance(named, tuple) else str(named)
