"""Where the sessions of `moot chat` are, in this process or on a server, and the one to show."""

from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from moot.app import open_app
from moot.cli.data import data_folder
from moot.cli.run import find_session_id, pick_session_id
from moot.cli.trusting import folder_of, load_trusted
from moot.core.codec import Event
from moot.core.commands import HumanCommand
from moot.core.state import State
from moot.tui.hosts import Here, Host

FOUND_FILE = "moot.yaml"
FALLBACK_TEAM = "chat-demo"


class Accepted(Protocol):
    @property
    def seq(self) -> int: ...


class LineSession(Protocol):
    """What line mode needs of a session, here or on a server."""

    id: str

    async def state(self) -> State: ...

    async def submit(self, command: HumanCommand) -> Accepted: ...

    def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]: ...


@asynccontextmanager
async def opened(options: Namespace) -> AsyncIterator[tuple[Host, LineSession, bool]]:
    """Where the sessions are, the one to show, and whether it is a new one."""
    if options.connect:
        from moot.cli.remote import connected, team_name  # only now: without --connect nothing of it is needed
        from moot.tui.remote_host import There

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
