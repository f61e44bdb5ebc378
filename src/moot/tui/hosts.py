"""What the screen needs of sessions, whether they run in this process or on a server (remote_host.py)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from moot.app import App, Session
from moot.core.codec import Event
from moot.core.codec import frame as encode_frame
from moot.core.errors import NotFound
from moot.core.evolve import evolve
from moot.core.session.attachments import Attachment
from moot.core.session.commands import HumanCommand
from moot.core.session.events import Option
from moot.core.session.state import State
from moot.core.session.workspace_view import Changes, FileDiff
from moot.core.view import project
from moot.protocol.happenings import Moved, view_frame

Frame = dict[str, Any]


class Entry(Struct, frozen=True, kw_only=True):
    """A session in the list. `needs` says what it needs of people: question, plan, permission, your_turn …"""

    session_id: str
    title: str
    team: str
    status: str
    waiting_for: str | None
    updated_at: str
    last: str = ""  # beginning of the last message
    needs: str | None = None
    file: str = ""  # of its team, or the name of a built-in team; empty if unknown
    folder: str = ""  # of that file; empty for a built-in team, or if it is unknown

    @property
    def is_new(self) -> bool:
        """Whether nothing was said in it yet."""
        return not self.last and self.waiting_for is None and self.status != "completed"


class Waiting(Struct, frozen=True, kw_only=True):
    """Something that waits for people: an open question, or a session whose floor is theirs (it has no `step_id`)."""

    session_id: str
    title: str
    kind: str
    since: str
    step_id: str | None = None
    question: str | None = None
    options: tuple[Option, ...] = ()


class Talk(Protocol):
    """A session: its frames from the first one on, and commands. `submit` raises Refused if a command is refused."""

    @property
    def id(self) -> str: ...

    def frames(self) -> AsyncGenerator[Frame, None]: ...

    async def submit(self, command: HumanCommand) -> object: ...

    async def attach(self, data: bytes, name: str) -> Attachment: ...

    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes: ...

    async def diff(
        self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0
    ) -> FileDiff: ...


class Host(Protocol):
    def moves(self) -> AsyncIterator[Moved]:
        """Yield the changes of the link to the sessions."""

    @property
    def url(self) -> str | None:
        """Address of the server; None if the sessions run in this process."""

    async def sessions(self) -> list[Entry]: ...

    async def inbox(self) -> list[Waiting]:
        """List what waits for people in all sessions, oldest first."""

    async def scripted_teams(self) -> frozenset[str]:
        """Return the names of the teams whose AIs all play a script."""

    async def open(self, session_id: str) -> Talk:
        """Open a session. Raises ConfigError if its team cannot be used here."""

    async def create(self) -> Talk:
        """Return a new session, or the one that was created last if nobody has used it."""


class Unused:
    """The session that a window has created and that nobody has used: opening a window says nothing."""

    def __init__(
        self, read: Callable[[str, int], Awaitable[list[Event]]], delete: Callable[[str], Awaitable[None]]
    ) -> None:
        self._read, self._delete = read, delete
        self._created: tuple[str, int] | None = None  # its id and its last seq

    async def add(self, session_id: str) -> None:
        events = await self._read(session_id, 0)
        self._created = session_id, events[-1].seq

    async def find(self) -> str | None:
        """Return its id, None if there is none."""
        if self._created:
            session_id, seq = self._created
            with suppress(NotFound):  # somebody has removed it
                if not await self._read(session_id, seq):
                    return session_id
        self._created = None
        return None

    async def drop(self) -> None:
        if session_id := await self.find():
            await self._delete(session_id)


class LocalTalk:
    def __init__(self, session: Session, app: App) -> None:
        self.id = session.id
        self._session, self._app = session, app
        self.changes, self.diff = session.changes, session.diff

    async def submit(self, command: HumanCommand) -> object:
        return await self._session.submit(command)

    async def attach(self, data: bytes, name: str) -> Attachment:
        return await self._session.attach(data, name)

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield logged frames in the language the session had then, the view after each batch, and streamed text."""
        arrived: asyncio.Queue[Frame | BaseException] = asyncio.Queue()

        def hear(session_id: str, event: str, metadata: Frame) -> None:
            if session_id == self.id:
                arrived.put_nowait({"event": event, "session_id": session_id, "metadata": metadata})

        self._app.streams.listeners.add(hear)
        pump = asyncio.create_task(self._pump(arrived))
        try:
            while True:
                frame = await arrived.get()
                if isinstance(frame, BaseException):
                    raise frame
                yield frame
        finally:
            self._app.streams.listeners.discard(hear)
            pump.cancel()

    async def _pump(self, arrived: "asyncio.Queue[Frame | BaseException]") -> None:
        state: State | None = None
        try:
            arrived.put_nowait(view_frame(self.id, await self._session.view()))
            async for events in self._session.follow():
                for event in events:
                    state = evolve(state, event.fact)
                    arrived.put_nowait(msgspec.json.decode(encode_frame(event, state.language)))
                if state:
                    arrived.put_nowait(view_frame(self.id, project(state)))
        except Exception as error:  # raised again in frames()
            arrived.put_nowait(error)


class LocalHost:
    """The sessions of this process. New sessions use the first team of the app.

    Args:
        prepare: called before a session is opened, to have its team taken in. Raises ConfigError.
    """

    url = None

    def __init__(self, app: App, title: str = "", prepare: Callable[[str], Awaitable[None]] | None = None) -> None:
        self._app = app
        self._title = title
        self._prepare = prepare
        self.unused = Unused(app.log.read, app.sessions.delete)

    async def moves(self) -> AsyncGenerator[Moved, None]:
        """Yield nothing: there is no link that could break."""
        return
        yield

    async def sessions(self) -> list[Entry]:
        return [
            Entry(
                session_id=session.session_id,
                title=session.summary.title,
                team=session.summary.team,
                status=session.summary.status,
                waiting_for=session.summary.waiting_for,
                updated_at=session.updated_at,
                last=f"{session.summary.last.by}: {session.summary.last.text}" if session.summary.last else "",
                needs=self._app.find_need(session),
                **(msgspec.structs.asdict(session.project) if session.project else {}),
            )
            for session in await self._app.log.sessions()
        ]

    async def inbox(self) -> list[Waiting]:
        items = await self._app.list_waiting()
        return [msgspec.convert(item, Waiting, from_attributes=True) for item in items]

    async def scripted_teams(self) -> frozenset[str]:
        return frozenset(team.name for team in self._app.teams if team.is_scripted)

    async def open(self, session_id: str) -> Talk:
        if self._prepare:
            await self._prepare(session_id)
        return LocalTalk(await self._app.session(session_id), self._app)

    async def create(self) -> Talk:
        if session_id := await self.unused.find():
            return await self.open(session_id)
        session = await self._app.session(title=self._title)
        await self.unused.add(session.id)
        return LocalTalk(session, self._app)
