"""Where the sessions are: in this process, or on a server (remote_host.py). A screen needs no more than this."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from moot.app import App, Session
from moot.core.codec import frame as encode_frame
from moot.core.commands import HumanCommand
from moot.core.evolve import evolve
from moot.core.state import State
from moot.protocol.happenings import Moved

Frame = dict[str, Any]


class Entry(Struct, frozen=True, kw_only=True):
    """A session in the list."""

    session_id: str
    title: str
    team: str
    status: str
    waiting_for: str | None
    updated_at: str
    last: str = ""  # how the last message begins


class Talk(Protocol):
    """A session: frames to fold, from the first, and commands. Raises Refused when one is refused."""

    @property
    def id(self) -> str: ...

    def frames(self) -> AsyncGenerator[Frame, None]: ...

    async def submit(self, command: HumanCommand) -> object: ...


class Host(Protocol):
    def moves(self) -> AsyncIterator[Moved]:
        """What becomes of the link to the sessions."""

    @property
    def url(self) -> str | None:
        """Of the server; None when the sessions are in this process."""

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
        """Logged ones, each in the language that the session spoke then, and streaming text."""
        arrived: asyncio.Queue[Frame | BaseException] = asyncio.Queue()

        def hear(session_id: str, event: str, metadata: Frame) -> None:
            if session_id == self.id:
                arrived.put_nowait({"event": event, "session_id": session_id, "metadata": metadata})

        self._app.streams.listeners.add(hear)
        pump = asyncio.create_task(self._pump(arrived))
        try:
            while True:
                each = await arrived.get()
                if isinstance(each, BaseException):
                    raise each
                yield each
        finally:
            self._app.streams.listeners.discard(hear)
            pump.cancel()

    async def _pump(self, arrived: "asyncio.Queue[Frame | BaseException]") -> None:
        state: State | None = None
        try:
            async for events in self._session.follow():
                for event in events:
                    state = evolve(state, event.fact)
                    arrived.put_nowait(msgspec.json.decode(encode_frame(event, state.language)))
        except Exception as error:  # whoever reads is told
            arrived.put_nowait(error)


class Here:
    """Sessions in this process; new ones are of the app's first team."""

    url = None

    def __init__(self, app: App, title: str = "") -> None:
        self._app = app
        self._title = title

    async def moves(self) -> AsyncGenerator[Moved, None]:
        """There is no link that could break."""
        return
        yield

    async def sessions(self) -> list[Entry]:
        return [
            Entry(
                session_id=each.session_id,
                title=each.summary.title,
                team=each.summary.team,
                status=each.summary.status,
                waiting_for=each.summary.waiting_for,
                updated_at=each.updated_at,
                last=f"{each.summary.last.by}: {each.summary.last.text}" if each.summary.last else "",
            )
            for each in await self._app.log.sessions()
        ]

    async def open(self, session_id: str) -> Talk:
        return LocalTalk(await self._app.session(session_id), self._app)

    async def create(self) -> Talk:
        return LocalTalk(await self._app.session(title=self._title), self._app)
