"""`moot serve`: the gateway and the web page, on this machine unless told otherwise."""

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from moot.app import open_app
from moot.cli import exits
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.holding import HeldData
from moot.cli.notifying import start_notifying
from moot.cli.parser import read_name, read_port
from moot.cli.progress import Progress
from moot.cli.projects import find_project
from moot.cli.trusting import folder_of, load_trusted
from moot.cli.usage import UsageError
from moot.cli.user_settings import read_kept_programs, read_settings
from moot.cli.wording import say
from moot.config.loading import list_built_in_teams, load_team
from moot.config.private_files import TOKEN_VARIABLE, restrict
from moot.config.team_file import TeamFile
from moot.config.trust import NotTrusted
from moot.core.errors import ConfigError
from moot.core.flows.registry import FLOWS
from moot.gateway.auth import Tokens
from moot.gateway.hosts import make_url
from moot.gateway.opening import open_page
from moot.gateway.serving import PortInUse, bind, build_server, check_exposure
from moot.gateway.settings import GatewaySettings
from moot.gateway.shared_credentials import SharedCredentials
from moot.gateway.signals import stopping
from moot.runtime import private_socket
from moot.runtime.cluster import SharedStore, cluster_of
from moot.runtime.ports import Log, Store

FOUND_FILE = Path("moot.yaml")
DEMO = "-demo"  # how the names of the built-in teams end that are played by scripts
STOP_S = 9.5  # the whole time to stop, in which clients and agents are closed


def add_arguments(parser: ArgumentParser) -> None:
    defaults = GatewaySettings()
    parser.add_argument("files", metavar="FILE", nargs="*", help=say("help.serve.files"))
    parser.add_argument("--host", default=defaults.host, help=say("help.serve.host", default=defaults.host))
    parser.add_argument(
        "--port", type=read_port, default=defaults.port, help=say("help.serve.port", default=defaults.port)
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME[:PORT]",
        help=say("help.serve.allow_host"),
    )
    parser.add_argument("--background", action="store_true", help=say("help.serve.background"))
    parser.add_argument("--open", action="store_true", help=say("help.serve.open"))
    parser.add_argument("--no-agents", action="store_true", help=say("help.serve.no_agents"))
    parser.add_argument(
        "--node",
        type=read_name,
        metavar="NAME",
        help=say("help.serve.node"),
    )
    parser.add_argument("--insecure", action="store_true", help=say("help.serve.insecure"))
    add_store_arguments(parser)


async def run(options: Namespace) -> int:
    if options.background:
        from moot.cli.background import start_background  # here, because a server in a terminal needs none of it

        choose_teams(options.files)  # asks for trust, which the server could not
        return await start_background(options)
    try:
        return await run_server(options)
    except PortInUse as error:
        print(f"moot: {error}", file=sys.stderr)
        return exits.BUSY


async def run_server(options: Namespace) -> int:
    try:
        check_exposure(options.host, insecure=options.insecure)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    notify = read_settings().notify  # before anything is opened: raises ConfigError
    data, store = data_folder(options), find_sessions(options)
    if options.node:
        name_node(store, options.node)
    teams = choose_teams(options.files)
    folders = {team.name: folder_of(file) for file, team in teams}
    projects = {team.name: find_project(file) for file, team in teams}
    with stopping(STOP_S) as stop, bind(options.host, options.port) as bound:
        settings = GatewaySettings(host=options.host, port=bound.getsockname()[1])
        loaded, kept = [team for _, team in teams], read_kept_programs()
        places: Any = {"data": data, "store": store, "folders": folders, "projects": projects}
        async with open_app(*loaded, **places, **kept, acts=not options.no_agents) as app:
            given = os.environ.get(TOKEN_VARIABLE)
            sharing = await share_credentials(app.log, data, has_owner_file=not given)
            tokens = Tokens(data, owner_token=given)
            holder = HeldData(app, store, "serve", url=make_url(settings.host, settings.port), stop=stop.set)
            server = build_server(app, tokens, settings, names=options.allow_host, holder=holder)
            await app.sessions.empty_trash()
            with Progress("going on with what was running"):
                await app.recover()
            announce = announcement(server.url, tokens, data if options.open else None)
            notifying = start_notifying(app, notify, lambda session_id: f"{server.url}s/{session_id}")
            private = private_socket.listen(data)
            try:
                await server.serve([bound, *([private] if private else [])], stop, announce)
            finally:
                private_socket.remove(data)
                for task in (notifying, sharing):
                    if task:
                        task.cancel()
    print("stopped; sessions go on where they were at the next start", file=sys.stderr)
    return exits.OK


def name_node(store: Store, name: str) -> None:
    """Name this server among those on its store. Raises UsageError if no others can be there."""
    if not isinstance(store, SharedStore):
        raise UsageError(
            f"--node names a server among others, but {store} is this one's alone; add --store postgresql://…"
        )
    store.node_name = name


async def share_credentials(log: Log, data: Path, *, has_owner_file: bool) -> "asyncio.Task[None] | None":
    """Have the tokens of all servers on a store that they share; none if this process has it to itself."""
    cluster = cluster_of(log)
    if cluster is None:
        return None
    credentials = SharedCredentials(data, cluster.documents, has_owner_file=has_owner_file)
    await credentials.start()
    return asyncio.create_task(credentials.run(), name="moot-credentials")


def announcement(url: str, tokens: Tokens, open_in: Path | None) -> Callable[[], None]:
    """Return a function that prints the URL on stdout, with the token unless that came from the environment."""
    full_url = f"{url}#token={quote(tokens.owner_token, safe='')}"

    def announce() -> None:
        if not tokens.owner_is_given:
            restrict(sys.stdout)
        print(url if tokens.owner_is_given else full_url, flush=True)
        print(
            "Moot is ready: open this address in a browser. Ctrl-C stops the server; sessions go on where they were.",
            file=sys.stderr,
        )
        if open_in:
            open_page(open_in, full_url)

    return announce


def choose_teams(files: list[str]) -> list[tuple[str, TeamFile]]:
    """Return the teams to offer, each with its file or name: the named ones, else ./moot.yaml, else the built-in demos.

    A team that starts programs must be trusted even if it is named, as its user may not know what is in it.
    """
    if files:
        return check_names([(file, load_trusted(file)) for file in files])
    if FOUND_FILE.exists():
        try:
            return [(str(FOUND_FILE), load_trusted(str(FOUND_FILE)))]
        except NotTrusted as error:
            print(f"moot: {error}\nmoot: offering the built-in teams instead", file=sys.stderr)
    order = list(FLOWS)
    demos = [(name, load_team(name)) for name in list_built_in_teams() if name.endswith(DEMO)]  # they need no key
    return sorted(demos, key=lambda entry: order.index(entry[1].flow))


def check_names(teams: list[tuple[str, TeamFile]]) -> list[tuple[str, TeamFile]]:
    """Raise ConfigError if two teams have the same name: sessions are started by the name of their team."""
    names = [team.name for _, team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{names.count(name)} of the files are a team named {name!r}; give each its own name")
    return teams
