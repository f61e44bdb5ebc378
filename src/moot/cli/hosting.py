"""Opening a session for `moot chat`, in this process or on a server."""

from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from moot.app import App, open_app
from moot.cli.data import data_folder, find_sessions
from moot.cli.projects import Project
from moot.cli.run import find_own_session, pick_session_id
from moot.cli.trusting import folder_of, load_trusted
from moot.cli.usage import UsageError
from moot.core.codec import Event
from moot.core.session.commands import HumanCommand
from moot.core.view import View
from moot.tui.hosts import Host, LocalHost, Talk

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
    if options.go_on and (options.session or options.connect):
        raise UsageError("--continue finds the session by its team file here; leave out --session and --connect")
    if options.connect:
        from moot.cli.remote import connected, team_name  # only now: without --connect nothing of it is needed
        from moot.tui.remote_host import RemoteHost

        async with connected(options) as client:
            remote_host = RemoteHost(client, team_name(options.file) if options.file else None, options.title)
            if options.session is None:
                yield remote_host, await remote_host.create(), True
                return
            ids = [listed["session_id"] for listed in await client.sessions()]
            yield remote_host, await remote_host.open(pick_session_id(ids, options.session)), False
        return
    file, store, data = options.file or find_team(), find_sessions(options), data_folder(options)
    team = load_trusted(file)
    folders = {team.name: folder_of(file)}
    project = Project(file, team.name, data)
    async with open_app(team, data=data, store=store, folders=folders) as app:
        host = ProjectHost(app, project, options.title)
        if options.go_on:
            yield host, await app.session(project.find_last(await app.log.sessions())), False
        elif options.session:
            yield host, await app.session(await find_own_session(app, options.session, project)), False
        else:
            session = await app.session(title=options.title)
            project.remember(session.id)
            yield host, session, True


class ProjectHost(LocalHost):
    """The sessions of this process. New ones belong to the project."""

    def __init__(self, app: App, project: Project, title: str) -> None:
        super().__init__(app, title)
        self._project = project

    async def create(self) -> Talk:
        talk = await super().create()
        self._project.remember(talk.id)
        return talk


def find_team() -> str:
    return FOUND_FILE if Path(FOUND_FILE).exists() else FALLBACK_TEAM
