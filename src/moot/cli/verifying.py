"""Verifying sessions: the hash chain is checked and the state folded again, from the first event."""

from collections.abc import AsyncIterator, Sequence

from msgspec import Struct

from moot.cli.progress import Progress
from moot.cli.reading import Readable, every_event
from moot.core.codec import Head
from moot.core.errors import Corrupt
from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.runtime.ports import Listing


class Verdict(Struct, frozen=True, kw_only=True):
    """The result for one session. `head` is the last intact event; `damage` says what is wrong with the next."""

    session_id: str
    head: Head
    damage: Corrupt | None = None


async def verify(log: Readable, listings: Sequence[Listing], progress: Progress) -> AsyncIterator[Verdict]:
    for listing in listings:
        head, damage = Head(), None
        state: State | None = None
        try:
            async for event in every_event(log, listing.session_id):
                state, head = evolve(state, event.fact), event.head
                progress.advance()
        except Corrupt as error:
            damage = error
        yield Verdict(session_id=listing.session_id, head=head, damage=damage)
