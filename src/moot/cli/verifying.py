"""Verifying sessions: the hash chain is checked and the state folded again, from the first event."""

from collections.abc import AsyncIterator, Sequence

from msgspec import Struct

from moot.cli.progress import Progress
from moot.cli.reading import Readable, every_event
from moot.core.codec import Event, Head
from moot.core.errors import Corrupt, Newer, NotFound
from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.runtime.ports import Listing


class Verdict(Struct, frozen=True, kw_only=True):
    """The result for one session. `head` is the last intact event; `problem` says why the next cannot be read."""

    session_id: str
    head: Head
    problem: Corrupt | None = None

    @property
    def is_damaged(self) -> bool:
        """Whether events were changed or lost. One that a newer Moot has continued is sound."""
        return self.problem is not None and not isinstance(self.problem, Newer)


async def verify(log: Readable, listings: Sequence[Listing], progress: Progress) -> AsyncIterator[Verdict]:
    """Check sessions up to their heads, or further. Those that were removed meanwhile are passed over."""
    for listing in listings:
        head, problem = Head(), None
        state: State | None = None
        try:
            async for event in _up_to_the_head(log, listing):
                state, head = evolve(state, event.fact), event.head
                progress.advance()
        except NotFound:
            continue
        except Corrupt as error:
            problem = error
        yield Verdict(session_id=listing.session_id, head=head, problem=problem)


async def _up_to_the_head(log: Readable, listing: Listing) -> AsyncIterator[Event]:
    """Yield all events. Raises Corrupt also if they do not lead to the head that the store lists, or over it."""
    seq = 0
    async for event in every_event(log, listing.session_id):
        seq = event.seq
        if seq == listing.head.seq and event.head != listing.head:
            raise Corrupt(listing.session_id, seq, "its hash is not that of the session's head")
        yield event
    if seq < listing.head.seq:
        raise Corrupt(listing.session_id, seq + 1, "it is missing")


def report(verdict: Verdict) -> dict[str, object]:
    """Return a verdict for `--json`."""
    result: dict[str, object] = {"session_id": verdict.session_id, "ok": not verdict.is_damaged}
    if verdict.head.seq:
        result |= {"seq": verdict.head.seq, "hash": verdict.head.hash}
    if verdict.problem:
        result |= {"damaged_at": verdict.problem.seq} if verdict.is_damaged else {}
        result["error"] = str(verdict.problem)
    return result


def tell(verdict: Verdict) -> str:
    return f"{verdict.session_id}: {verdict.problem or f'ok, {verdict.head.seq} events'}"
