"""Searching what was said in all sessions, or in one."""

from collections.abc import Mapping

from msgspec import Struct

from moot.core import limits
from moot.core.errors import Corrupt, NotFound
from moot.core.flows.registry import FLOWS, find_said
from moot.core.search_words import Term, read_query, show_found
from moot.core.session.events import SessionCreated
from moot.runtime.ports import Listing, Log, Place


class Found(Struct, frozen=True, kw_only=True):
    """Something that was said. `text` is the part of it with the words, `marks` are their places in it, from [start to
    end).

    `member` is empty, and `by` too, for what nobody said: a title, a question of Moot.
    """

    session_id: str
    title: str
    team: str
    seq: int
    at: str
    member: str
    by: str
    text: str
    marks: tuple[tuple[int, int], ...]


async def search(log: Log, query: str, *, session_id: str | None = None, limit: int = limits.FOUND) -> list[Found]:
    """Find what was said with all words of a query, the newest first; nothing if it has no word."""
    terms = read_query(query)
    if not terms:
        return []
    places = await log.search(terms, session_id=session_id, limit=limit)
    listings = {listing.session_id: listing for listing in await log.sessions()} if places else {}
    names: dict[str, Mapping[str, str]] = {}
    found: list[Found] = []
    for place in places:
        listing = listings.get(place.session_id)
        if listing is None:
            continue  # it was removed meanwhile
        try:
            if place.session_id not in names:
                names[place.session_id] = await _read_names(log, place.session_id)
            hit = await _read(log, place, listing, terms, names[place.session_id])
        except (NotFound, Corrupt):  # reading the session tells what is wrong with it
            continue
        if hit:
            found.append(hit)
    return found


async def _read(
    log: Log, place: Place, listing: Listing, terms: tuple[Term, ...], names: Mapping[str, str]
) -> Found | None:
    events = await log.read(place.session_id, place.seq - 1, 1)
    summary = listing.summary
    message = find_said(summary.flow, events[0].fact) if events and summary.flow in FLOWS else None
    if message is None:
        return None
    shown = show_found(message.text, terms)
    return Found(
        session_id=place.session_id,
        title=summary.title,
        team=summary.team,
        seq=place.seq,
        at=events[0].timestamp,
        member=message.member,
        by=names.get(message.member, message.member),
        text=shown.text,
        marks=shown.marks,
    )


async def _read_names(log: Log, session_id: str) -> Mapping[str, str]:
    created = (await log.read(session_id, 0, 1))[0].fact
    members = created.members if isinstance(created, SessionCreated) else ()
    return {member.id: member.display_name for member in members}
