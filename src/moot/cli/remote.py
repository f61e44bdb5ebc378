"""`--connect URL`: the same commands on a server's sessions."""

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
from moot.core.codec import Event, Head, decode
from moot.core.errors import ConfigError, Corrupt
from moot.protocol.following import Following, Placed, Verdict
from moot.runtime.ports import Listing, Summary

_placed_decoder = msgspec.json.Decoder(Placed)


def address_of(options: Namespace) -> Address:
    """A token in the URL counts more than the one of the environment. Without one no server would answer."""
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
    """A server's team goes by its name; a team file stands for the team that it names."""
    return load_team(file).name if Path(file).is_file() else file


class RemoteLog:
    """As much of a log as reading needs."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._heads: dict[str, Head] = {}

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        return [_read_listing(entry) for entry in await self._rest.sessions(removed=removed)]

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Raises NotFound, or Corrupt at the first event whose hash does not follow."""
        known = self._heads.get(session_id, Head())
        following = Following(session_id, known if known.seq == after else Head(after))
        events = []
        for frame in await self._rest.events(session_id, after, limit):
            verdict, data = following.judge(_placed_decoder.decode(frame), frame)
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
    )
