"""Opening a session for `moot chat`, in this process or on a server."""

from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from moot.app import open_app
from moot.cli.data import data_folder, find_sessions
from moot.cli.run import find_session_id, pick_session_id
from moot.cli.trusting import folder_of, load_trusted
from moot.core.codec import Event
from moot.core.session.commands import HumanCommand
from moot.core.view import View
from moot.tui.hosts import Host, LocalHost

FOUND_FILE = "moot.yaml"
FALLBACK_TEAM = "chat-demo"


class Accepted(Protocol):
    @property
    def seq(self) -> int: ...


class LineSession(Protocol):
    """What line mode needs of a session, here or on a server."""

    id: str

    async def view(self) -> View: ...

    def history(self, after: int = 0) -> AsyncGenerator[Event, None]: ...

    async def submit(self, command: HumanCommand) -> Accepted: ...

    def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]: ...


@asynccontextmanager
async def opened(options: Namespace) -> AsyncIterator[tuple[Host, LineSession, bool]]:
    """Yield the host of the sessions, the session to show, and whether it is new."""
    if options.connect:
        from moot.cli.remote import connected, team_name  # only now: without --connect nothing of it is needed
        from moot.tui.remote_host import RemoteHost

        async with connected(options) as client:
            host = RemoteHost(client, team_name(options.file) if options.file else None, options.title)
            if options.session is None:
                yield host, await host.create(), True
                return
            ids = [listed["session_id"] for listed in await client.sessions()]
            yield host, await host.open(pick_session_id(ids, options.session)), False
        return
    file, store = options.file or find_team(), find_sessions(options)
    team = load_trusted(file)
    folders = {team.name: folder_of(file)}
    async with open_app(team, data=data_folder(options), store=store, folders=folders) as app:
        known = options.session and await find_session_id(app, options.session)
        yield LocalHost(app, options.title), await app.session(known, title=options.title), not known


def find_team() -> str:
    return FOUND_FILE if Path(FOUND_FILE).exists() else FALLBACK_TEAM
