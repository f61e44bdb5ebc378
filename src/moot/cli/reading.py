"""Reading sessions from a store, also while a server is running on it, or with --connect from a server."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from moot.cli.data import find_sessions
from moot.cli.progress import Progress
from moot.cli.run import pick_session_id
from moot.core.codec import Event
from moot.core.errors import Corrupt, NotFound
from moot.runtime.ports import Listing, Store
from moot.runtime.snapshots import READ_EVENTS


class Readable(Protocol):
    """The part of a log that reading needs."""

    async def sessions(self, *, removed: bool = False) -> list[Listing]: ...

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]: ...


class ReadableWithFiles(Readable, Protocol):
    """The same, with what was attached."""

    async def get_file(self, session_id: str, sha256: str) -> bytes | None: ...


@asynccontextmanager
async def reading(options: Namespace) -> AsyncIterator[ReadableWithFiles]:
    """Open the sessions that the options name. Raises NotFound if the store is still empty."""
    if options.connect:
        from moot.cli.remote import reading_from  # here, because only --connect needs it

        async with reading_from(options) as remote_log:
            yield remote_log
        return
    log = await find_existing(options).open(read_only=True)
    try:
        yield log
    finally:
        await log.close()


def find_existing(options: Namespace) -> Store:
    """Return the store of the sessions. Raises NotFound if it is still empty."""
    store = find_sessions(options)
    if not store.exists():
        raise NotFound(f"there are no sessions in {store} yet; `moot chat` starts one, --data names another folder")
    return store


async def find(log: Readable, prefix: str, *, removed: bool = False) -> Listing:
    with Progress("looking for the session"):
        listings = {listing.session_id: listing for listing in await log.sessions(removed=removed)}
    return listings[pick_session_id(list(listings), prefix)]


async def every_event(log: Readable, session_id: str) -> AsyncIterator[Event]:
    """Yield all events of a session. If one is damaged, yield those before it and raise Corrupt."""
    after, damage = 0, None
    while damage is None:
        try:
            events = await log.read(session_id, after, READ_EVENTS)
        except Corrupt as error:
            damage = error
            events = await log.read(session_id, after, error.seq - 1 - after) if error.seq - 1 > after else []
        for event in events:
            yield event
        if not events:
            break
        after = events[-1].seq
    if damage:
        raise damage
