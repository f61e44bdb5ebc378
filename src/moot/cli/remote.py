"""`--connect URL`: access to the sessions of a server."""

import os
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from moot.cli.progress import Progress
from moot.cli.usage import UsageError
from moot.client.address import Address, read_address
from moot.client.client import Client, connect
from moot.client.rest import Rest
from moot.config.loading import load_team
from moot.core.codec import Event, Head, decode, place
from moot.core.errors import ConfigError, Corrupt, NotFound
from moot.protocol.following import Following, Verdict
from moot.runtime.ports import Listing, Project, Summary
from moot.runtime.searching import Found


def address_of(options: Namespace) -> Address:
    """Return the address with its token: that of the URL, else $MOOT_TOKEN. Raises UsageError if there is neither."""
    try:
        address = read_address(options.connect)
        address = address if address.token else read_address(options.connect, os.environ.get("MOOT_TOKEN") or None)
    except ConfigError as error:
        raise UsageError(f"--connect: {error}") from None
    if not address.token:
        raise UsageError(
            f"--connect needs a token for {address}: use the URL as `moot serve` printed it, or put one of"
            " `moot token create` into MOOT_TOKEN"
        )
    return address


@asynccontextmanager
async def connected(options: Namespace) -> AsyncIterator[Client]:
    address = address_of(options)
    async with AsyncExitStack() as stack:
        with Progress(f"connecting to {address}"):
            client = await stack.enter_async_context(connect(str(address), address.token))
        yield client


@asynccontextmanager
async def reading_from(options: Namespace) -> AsyncIterator["RemoteLog"]:
    yield RemoteLog(Rest(address_of(options)))


def team_name(file: str) -> str:
    """Return the name of the team in a team file; anything else is taken as a name itself."""
    return load_team(file).name if Path(file).is_file() else file


class RemoteLog:
    """The log of a server, as far as reading needs it. It checks the hash chain."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._heads: dict[str, Head] = {}

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        return [_read_listing(entry) for entry in await self._rest.sessions(removed=removed)]

    async def find_said(self, query: str, session_id: str | None) -> list[Found]:
        return msgspec.convert(await self._rest.search(query, session_id), list[Found])

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        try:
            return await self._rest.read_file(session_id, sha256)
        except NotFound:
            return None

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events after seq `after`. Raises NotFound, or Corrupt if the hash of an event does not match."""
        known = self._heads.get(session_id, Head())
        following = Following(session_id, known if known.seq == after else Head(after))
        events = []
        for frame in await self._rest.events(session_id, after, limit):
            verdict, data = following.judge(place(frame), frame)
            if verdict is not Verdict.NEXT:
                raise Corrupt(session_id, following.head.seq + 1, f"what the server sent is {verdict}")
            events.append(decode(data, following.head.hash))
        self._heads[session_id] = following.head
        return events


def _read_listing(entry: dict[str, object]) -> Listing:
    return Listing(
        session_id=str(entry["session_id"]),
        created_at=str(entry["created_at"]),
        updated_at=str(entry["updated_at"]),
        head=msgspec.convert(entry, Head),
        summary=msgspec.convert(entry, Summary),
        removed_at=msgspec.convert(entry.get("removed_at"), str | None),
        project=msgspec.convert(entry.get("project"), Project | None),
    )
