"""What the screen needs of sessions, whether they run in this process or on a server (remote_host.py)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from moot.app import App, Session
from moot.core.codec import frame as encode_frame
from moot.core.evolve import evolve
from moot.core.session.commands import HumanCommand
from moot.core.session.state import State
from moot.core.view import project
from moot.protocol.happenings import Moved, view_frame

Frame = dict[str, Any]


class Entry(Struct, frozen=True, kw_only=True):
    """A session in the list."""

    session_id: str
    title: str
    team: str
    status: str
    waiting_for: str | None
    updated_at: str
    last: str = ""  # beginning of the last message


class Talk(Protocol):
    """A session: its frames from the first one on, and commands. `submit` raises Refused if a command is refused."""

    @property
    def id(self) -> str: ...

    def frames(self) -> AsyncGenerator[Frame, None]: ...

    async def submit(self, command: HumanCommand) -> object: ...


class Host(Protocol):
    def moves(self) -> AsyncIterator[Moved]:
        """Yield the changes of the link to the sessions."""

    @property
    def url(self) -> str | None:
        """Address of the server; None if the sessions run in this process."""

    async def sessions(self) -> list[Entry]: ...

    async def open(self, session_id: str) -> Talk: ...

    async def create(self) -> Talk: ...


class LocalTalk:
    def __init__(self, session: Session, app: App) -> None:
        self.id = session.id
        self._session, self._app = session, app

    async def submit(self, command: HumanCommand) -> object:
        return await self._session.submit(command)

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
    """The sessions of this process. New sessions use the first team of the app."""

    url = None

    def __init__(self, app: App, title: str = "") -> None:
        self._app = app
        self._title = title

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
            )
            for session in await self._app.log.sessions()
        ]

    async def open(self, session_id: str) -> Talk:
        return LocalTalk(await self._app.session(session_id), self._app)

    async def create(self) -> Talk:
        return LocalTalk(await self._app.session(title=self._title), self._app)
