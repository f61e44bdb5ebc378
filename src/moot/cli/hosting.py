"""Opening a session for `moot chat`, in this process or on a server."""

import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Protocol

from moot.cli.attaching import Attached, open_or_attach
from moot.cli.changing import HeldSessions
from moot.cli.data import data_folder, find_sessions
from moot.cli.holding import HeldData, shared
from moot.cli.notifying import start_notifying
from moot.cli.projects import OwnTeam, belongs_elsewhere, find_file, find_here, load_own
from moot.cli.run import open_own, pick_own_session, pick_session_id
from moot.cli.usage import UsageError
from moot.cli.user_settings import read_settings
from moot.core.codec import Event
from moot.core.errors import ConfigError, MootError
from moot.core.session.attachments import Attachment
from moot.core.session.commands import HumanCommand
from moot.core.view import View
from moot.runtime.ports import Listing
from moot.tui.hosts import Host, LocalHost, Unused

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

    async def attach(self, data: bytes, name: str) -> Attachment: ...

    def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]: ...


@asynccontextmanager
async def opened(options: Namespace) -> AsyncIterator[tuple[Host, LineSession, bool]]:
    """Yield the host of the sessions, the session to show, and whether it is new."""
    if options.go_on and (options.session or options.connect):
        raise UsageError("--continue finds the session by its team file here; leave out --session and --connect")
    if options.connect:
        from moot.cli.remote import RemoteLog, address_of, connected, team_name  # only --connect needs these
        from moot.client.rest import Rest
        from moot.tui.remote_host import RemoteHost

        async with connected(options) as client, AsyncExitStack() as stack:
            rest = Rest(address_of(options))

            async def delete(session_id: str) -> None:
                with suppress(MootError):  # not every token may
                    await rest.ask("DELETE", f"/api/sessions/{session_id}?forever=1")

            unused = Unused(RemoteLog(rest).read, delete)
            stack.push_async_callback(unused.drop)
            team = team_name(options.file) if options.file else None
            remote_host = RemoteHost(client, team, options.title, unused=unused)
            if options.session is None:
                yield remote_host, await remote_host.create(), True
                return
            ids = [listed["session_id"] for listed in await client.sessions()]
            yield remote_host, await remote_host.open(pick_session_id(ids, options.session)), False
        return
    notify = read_settings().notify  # before anything is opened: raises ConfigError
    own, store, data = load_own(options.file or find_team()), find_sessions(options), data_folder(options)
    async with AsyncExitStack() as stack:
        app = await open_or_attach(stack, lambda: open_own(own, data, store), data, store)
        if isinstance(app, Attached):
            yield await stack.enter_async_context(attached(options, app, own))
            return
        await stack.enter_async_context(shared(app, store, data, "chat"))
        if notifying := start_notifying(app, notify):
            stack.callback(notifying.cancel)
        held = HeldData(app, store, "chat")

        async def offer(file: str) -> object:
            return held.offer(file)

        host = LocalHost(app, options.title, taking_in(own, app.log.sessions, offer))
        stack.push_async_callback(host.unused.drop)
        if wanted := find_wanted(options, await app.log.sessions(), own):
            yield host, await app.session(wanted), False
            return
        session = await app.session((await host.create()).id)
        yield host, session, True


@asynccontextmanager
async def attached(options: Namespace, holder: Attached, own: OwnTeam) -> AsyncIterator[tuple[Host, LineSession, bool]]:
    """The same in the process that holds the data, with the team of this window."""
    from moot.client.client import open_client
    from moot.tui.remote_host import RemoteHost

    name = await holder.offer(own.project.file)
    held = HeldSessions(holder)
    unused = Unused(held.read, held.delete)
    wanted = find_wanted(options, await held.sessions(), own)
    async with open_client(holder.address) as client, AsyncExitStack() as stack:
        stack.push_async_callback(unused.drop)
        host = RemoteHost(
            client, name, options.title, unused=unused, prepare=taking_in(own, held.sessions, holder.offer)
        )
        if wanted:
            yield host, await host.open(wanted), False
            return
        yield host, await host.create(), True


def taking_in(
    own: OwnTeam, sessions: Callable[[], Awaitable[Sequence[Listing]]], offer: Callable[[str], Awaitable[object]]
) -> Callable[[str], Awaitable[None]]:
    """Return what has the team of a session taken in before the session is opened: else its members could not act."""

    async def prepare(session_id: str) -> None:
        for session in await sessions():
            file = find_file(session)
            if session.session_id == session_id and file and file != own.project.file:
                try:
                    await offer(file)
                except ConfigError:
                    raise belongs_elsewhere(session_id, file) from None

    return prepare


async def check_speaker(session: LineSession, speaks_as: str | None) -> None:
    """Raises UsageError if --as names nobody who can speak for a person in this session."""
    humans = [member.id for member in (await session.view()).members if member.is_human]
    if speaks_as and speaks_as not in humans:
        raise UsageError(f"--as {speaks_as!r}: this team has no such human; humans: {', '.join(humans)}")


def find_wanted(options: Namespace, sessions: Sequence[Listing], own: OwnTeam) -> str | None:
    """Return the session that the options name; None for a new one. Raises NotFound or ConfigError."""
    if options.go_on:
        return own.find_last(sessions)
    return pick_own_session(sessions, options.session, own) if options.session else None


def find_team() -> str:
    """Return the team file of the current folder, else a built-in team, which is said."""
    try:
        return find_here()
    except UsageError as error:
        says, _, hint = str(error).removeprefix("name a team file: ").partition("; ")
        print(f"{says}, so this is the built-in team {FALLBACK_TEAM}; {hint}", file=sys.stderr)
        return FALLBACK_TEAM
