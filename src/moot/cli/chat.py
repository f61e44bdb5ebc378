"""`moot chat`: the terminal UI, or line by line where there is no room or no terminal for it."""

from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from moot.app import open_app
from moot.cli.data import add_data_argument, data_folder
from moot.cli.line_mode import LineMode, LineSession
from moot.cli.run import find_session_id, pick_session_id
from moot.cli.terminal import has_screen
from moot.cli.trusting import folder_of, load_trusted
from moot.tui.hosts import Here, Host, There

FOUND_FILE = "moot.yaml"
FALLBACK_TEAM = "chat-demo"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a team file or a built-in team (default: ./moot.yaml, else chat-demo)"
    )
    parser.add_argument("--session", metavar="ID", help="go on with this session instead of a new one")
    parser.add_argument("--title", default="", help="of a new session")
    parser.add_argument("--as", dest="speaks_as", metavar="MEMBER", help="which human you are, if there are several")
    parser.add_argument("--plain", action="store_true", help="line by line: for screen readers, logs and pipes")
    add_data_argument(parser)
    parser.add_argument(
        "--connect", metavar="URL", help="as `moot serve` printed it, instead of --data; FILE is then a team it offers"
    )


async def run(options: Namespace) -> int:
    async with opened(options) as (host, session, is_new):
        if options.plain or not has_screen():
            return await LineMode(session, options.speaks_as).run(is_new=is_new)
        from moot.cli.screen import show_session  # only now: a screen takes a while to load

        return await show_session(host, session.id, options)


@asynccontextmanager
async def opened(options: Namespace) -> AsyncIterator[tuple[Host, LineSession, bool]]:
    """Where the sessions are, the one to show, and whether it is a new one."""
    if options.connect:
        from moot.cli.remote import connected, team_name  # only now: without --connect nothing of it is needed

        async with connected(options) as client:
            there = There(client, team_name(options.file) if options.file else None, options.title)
            if options.session is None:
                yield there, await there.create(), True
                return
            ids = [listed["session_id"] for listed in await client.sessions()]
            yield there, await there.open(pick_session_id(ids, options.session)), False
        return
    file, data = options.file or find_team(), data_folder(options)
    team = load_trusted(file)
    async with open_app(team, data=data, folders={team.name: folder_of(file)}) as app:
        known = options.session and await find_session_id(app, options.session)
        yield Here(app, options.title), await app.session(known, title=options.title), not known


def find_team() -> str:
    return FOUND_FILE if Path(FOUND_FILE).exists() else FALLBACK_TEAM
