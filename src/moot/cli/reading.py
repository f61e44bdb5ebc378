"""Reading sessions: in the data folder, also while a server runs on it, or with --connect on a server."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from moot.app import DATABASE
from moot.cli.data import data_folder
from moot.cli.progress import Progress
from moot.cli.run import pick_session_id
from moot.core.codec import Event
from moot.core.errors import Corrupt, NotFound
from moot.runtime.ports import Listing
from moot.runtime.snapshots import READ_EVENTS
from moot.runtime.stores.sqlite import SqliteLog


class Readable(Protocol):
    """As much of a log as is read here."""

    async def sessions(self, *, removed: bool = False) -> list[Listing]: ...

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]: ...


@asynccontextmanager
async def reading(options: Namespace) -> AsyncIterator[Readable]:
    """Raises NotFound where nothing is kept."""
    if options.connect:
        from moot.cli.remote import reading_from  # only now: without --connect nothing of it is needed

        async with reading_from(options) as there:
            yield there
        return
    log = await SqliteLog.open(database(options), read_only=True)
    try:
        yield log
    finally:
        await log.close()


def database(options: Namespace) -> Path:
    path = data_folder(options) / DATABASE
    if not path.exists():
        raise NotFound(
            f"there are no sessions in {path.parent} yet; `moot chat` starts one, --data names another folder"
        )
    return path


async def find(log: Readable, prefix: str, *, removed: bool = False) -> Listing:
    with Progress("looking for the session"):
        listings = {listing.session_id: listing for listing in await log.sessions(removed=removed)}
    return listings[pick_session_id(list(listings), prefix)]


async def every_event(log: Readable, session_id: str) -> AsyncIterator[Event]:
    """From the first to the last; of a damaged session what is good, then Corrupt."""
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
