"""Sessions on a server."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import msgspec

from moot.client.client import Client
from moot.client.session import RemoteSession
from moot.protocol.happenings import Moved
from moot.tui.hosts import Entry, Unused, Waiting


def _read_entry(document: dict[str, Any]) -> Entry:
    last, project = document.get("last"), document.get("project")
    shown = {"last": f"{last['by']}: {last['text']}" if last else ""}
    return msgspec.convert({**document, **(project or {}), **shown}, Entry)


class RemoteHost:
    """The sessions of a server. New sessions use `team`, or the first team of the server if it is None.

    Args:
        unused: remembers the session that nobody has used; without it every new one is kept.
        prepare: called before a session is opened, to have its team taken in. Raises ConfigError.
    """

    def __init__(
        self,
        client: Client,
        team: str | None,
        title: str = "",
        *,
        unused: Unused | None = None,
        prepare: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._client, self._team, self._title = client, team, title
        self._unused, self._prepare = unused, prepare

    @property
    def url(self) -> str:
        """Return the server's address; nothing for a window on this machine."""
        address = self._client.address
        return "" if address.folder else str(address)

    def moves(self) -> AsyncGenerator[Moved, None]:
        return self._client.moves()

    async def sessions(self) -> list[Entry]:
        return [_read_entry(document) for document in await self._client.sessions()]

    async def inbox(self) -> list[Waiting]:
        return [msgspec.convert(item, Waiting) for item in await self._client.inbox()]

    async def scripted_teams(self) -> frozenset[str]:
        return frozenset(str(team["name"]) for team in await self._client.teams() if team.get("scripted"))

    async def open(self, session_id: str) -> RemoteSession:
        if self._prepare:
            await self._prepare(session_id)
        return await self._client.session(session_id)

    async def create(self) -> RemoteSession:
        if self._unused and (session_id := await self._unused.find()):
            return await self.open(session_id)
        session = await self._client.session(team=self._team, title=self._title)
        if self._unused:
            await self._unused.add(session.id)
        return session
