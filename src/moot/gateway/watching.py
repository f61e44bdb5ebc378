"""`user.watch`: connections that are told when the list of sessions changes."""

import asyncio
import logging

from moot.app import App
from moot.core.errors import LogError
from moot.core.session.principal import Principal
from moot.gateway.documents import SessionEntry, describe_listing
from moot.gateway.outbox import Outbox
from moot.gateway.rest import LISTED
from moot.protocol.frames import unlogged
from moot.runtime.ports import Clock, Listing

logger = logging.getLogger(__name__)

LOOK_S = 0.5  # between two looks at the list, one for all who watch: other processes may write to the same store


class Watcher:
    """A connection that watches, and the rows that it has."""

    def __init__(self, principal: Principal, outbox: Outbox, clock: Clock) -> None:
        self._principal = principal
        self._outbox = outbox
        self._clock = clock
        self._rows: dict[str, SessionEntry] | None = None

    def tell(self, listings: list[Listing]) -> None:
        """Send what has changed since the last time, and at first everything.

        A client that has not yet taken what it was sent is left alone: the next look tells it all at once.
        """
        if self._rows is not None and self._outbox.owes_replies:
            return
        readable = [listing for listing in listings if self._principal.may_read(listing.session_id)]
        page = sorted(readable, key=lambda listing: listing.place, reverse=True)[:LISTED]
        rows = {listing.session_id: describe_listing(listing, self._principal) for listing in page}
        known = self._rows or {}
        metadata = {
            "full": self._rows is None,
            "sessions": [row for session_id, row in rows.items() if known.get(session_id) != row],
            "removed": [session_id for session_id in known if session_id not in rows],
        }
        self._rows = rows
        if any(metadata.values()):
            self._outbox.answer(unlogged("system.sessions", self._clock.now(), metadata=metadata))


class SessionsWatch:
    """Everybody who watches the list of sessions. While nobody does, nothing is read."""

    def __init__(self, app: App, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self._watchers: dict[Outbox, Watcher] = {}
        self._looking: asyncio.Task[None] | None = None

    async def start(self, principal: Principal, outbox: Outbox) -> None:
        """Send the list, then its changes. Somebody who watches already is sent the whole list again."""
        listings = await self._app.sessions.listings()
        watcher = self._watchers[outbox] = Watcher(principal, outbox, self._clock)
        watcher.tell(listings)
        if self._looking is None:
            self._looking = self._app.spawn(self._look())

    def stop(self, outbox: Outbox) -> None:
        """Stop sending changes. No effect on a connection that does not watch."""
        self._watchers.pop(outbox, None)
        if not self._watchers and self._looking:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        while True:
            await self._clock.sleep(LOOK_S)
            try:
                listings = await self._app.sessions.listings()
            except LogError as error:
                logger.warning("the list of sessions could not be read: %s", error)
                continue
            for watcher in self._watchers.values():
                watcher.tell(listings)
