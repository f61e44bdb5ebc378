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
from moot.cli.parser import read_port
from moot.cli.progress import Progress
from moot.cli.trusting import folder_of, load_trusted
from moot.config.loading import list_built_in_teams, load_team
from moot.config.team_file import TeamFile
from moot.config.trust import NotTrusted
from moot.core.errors import ConfigError
from moot.core.team import Flow
from moot.gateway.app import Gateway
from moot.gateway.auth import TOKEN_VARIABLE, Tokens
from moot.gateway.hosts import allow_hosts, make_url
from moot.gateway.metrics import Metrics
from moot.gateway.opening import open_page
from moot.gateway.serving import PortInUse, bind, check_exposure, serve
from moot.gateway.settings import GatewaySettings
from moot.gateway.signals import stopping
from moot.gateway.ws import WebSocketEndpoint

FOUND_FILE = Path("moot.yaml")
STOP_S = 9.5  # at the latest; what is told to clients and agents takes its part of it


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
    data = data_folder(options)
    teams = choose_teams(options.files)
    folders = {team.name: folder_of(file) for file, team in teams}
    with stopping(STOP_S) as stop, bind(options.host, options.port) as bound:
        settings = GatewaySettings(host=options.host, port=bound.getsockname()[1])
        async with open_app(*(team for _, team in teams), data=data, folders=folders) as app:
            tokens, metrics = Tokens(data, owner_token=os.environ.get(TOKEN_VARIABLE)), Metrics()
            gateway = Gateway(
                app,
                tokens,
                settings,
                metrics,
                sockets=WebSocketEndpoint(app, tokens, settings, metrics),
                hosts=allow_hosts(settings.host, settings.port, options.allow_host),
            )
            await app.sessions.empty_trash()
            with Progress("going on with what was running"):
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


def choose_teams(files: list[str]) -> list[tuple[str, TeamFile]]:
    """Files or names, and their teams: the named files, else ./moot.yaml, else the built-in teams, chat first.

    Whatever starts programs must be trusted, also when it is named: the person may not know what is in it.
    """
    if files:
        return check_names([(file, load_trusted(file)) for file in files])
    if FOUND_FILE.exists():
        try:
            return [(str(FOUND_FILE), load_trusted(str(FOUND_FILE)))]
        except NotTrusted as error:
            print(f"moot: {error}\nmoot: offering the built-in teams instead", file=sys.stderr)
    order = list(Flow)
    built_in = [(name, load_team(name)) for name in list_built_in_teams()]
    return sorted(built_in, key=lambda each: order.index(each[1].flow))


def check_names(teams: list[tuple[str, TeamFile]]) -> list[tuple[str, TeamFile]]:
    """A session is started by its team's name, so it must mean one team."""
    names = [team.name for _, team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{names.count(name)} of the files are a team named {name!r}; give each its own name")
    return teams
