"""Sessions on a server."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from moot.client.client import Client
from moot.client.session import RemoteSession
from moot.protocol.happenings import Moved
from moot.tui.hosts import Entry


def _read_entry(document: dict[str, Any]) -> Entry:
    last = document.get("last")
    return msgspec.convert({**document, "last": f"{last['by']}: {last['text']}" if last else ""}, Entry)


class RemoteHost:
    """The sessions of a server. New sessions use `team`, or the first team of the server if it is None."""

    def __init__(self, client: Client, team: str | None, title: str = "") -> None:
        self._client, self._team, self._title = client, team, title

    @property
    def url(self) -> str:
        return str(self._client.address)

    def moves(self) -> AsyncGenerator[Moved, None]:
        return self._client.moves()

    async def sessions(self) -> list[Entry]:
        return [_read_entry(document) for document in await self._client.sessions()]

    async def open(self, session_id: str) -> RemoteSession:
        return await self._client.session(session_id)

    async def create(self) -> RemoteSession:
        return await self._client.session(team=self._team, title=self._title)
