"""Encode facts as stored bytes, and decode them. An event is encoded once: log, hash and clients share the bytes.

stored = {"event", "session_id", "seq", "event_id", "timestamp", "step_id"?, "source", "timeline"?, "content"?,
          "metadata"}
hash   = sha256(previous hash as hex, empty for seq 1 ‖ stored), lower-case hex
frame  = stored with "content"? (the tasks of a plan), "show_content"? and "hash" added at its end
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.envelope import Envelope, find_source, read_declared
from moot.core.facts import Fact
from moot.core.flows.registry import FACTS, show
from moot.core.session.team import Language, Team


class Head(Struct, frozen=True, gc=False):
    """The end of a log: the seq and hash of its last event. An empty log has seq 0."""

    seq: int = 0
    hash: str = ""


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """A fact with its position in the log. `data` holds the stored bytes."""

    session_id: str
    seq: int
    timestamp: str
    fact: Fact
    data: bytes
    hash: str

    def __repr__(self) -> str:
        return f"<event {self.seq} {self.timestamp} {self.fact!r}>"

    @property
    def name(self) -> str:
        return self.fact.event

    @property
    def head(self) -> Head:
        return Head(self.seq, self.hash)


class _Stored(Struct, frozen=True):
    """The part of a stored event that reading needs."""

    event: str
    session_id: str
    seq: int
    timestamp: str
    metadata: msgspec.Raw


class Placed(Struct, frozen=True):
    """The part of a frame that says where it belongs in a log, and what `frame` added to the stored bytes."""

    event: str
    session_id: str | None = None
    seq: int | None = None
    hash: str | None = None
    show_content: str | None = None
    content: msgspec.Raw = msgspec.Raw()


_TAIL = b',"hash":"%b"}'
_TAIL_BYTES = len(_TAIL) - len(b"%b") + 64
_SHOWN = b',"show_content":"'  # quotes inside strings are escaped, so this is never part of one

_encode = msgspec.json.Encoder().encode
_placed_decoder = msgspec.json.Decoder(Placed)
_stored_decoder = msgspec.json.Decoder(_Stored)
_fact_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    fact_type.event: msgspec.json.Decoder(fact_type) for fact_type in FACTS
}


class UnknownEvent(ValueError):
    """An event of a type that this version does not have."""


def stamp(
    team: Team, session_id: str, head: Head, facts: Iterable[Fact], at: str, tokens: Mapping[int, str] | None = None
) -> list[Event]:
    """Turn facts into the events that follow `head`.

    `tokens` are the ids of the tokens with which people caused some of the facts, by the position of the fact.
    """
    seq, previous, named = head.seq, head.hash, f"{session_id}-"
    events: list[Event] = []
    for position, fact in enumerate(facts):
        seq += 1
        event, author, content, timeline, has_step = read_declared(type(fact))
        data = _encode(
            Envelope(
                event=event,
                session_id=session_id,
                seq=seq,
                event_id=f"{named}{seq}",
                timestamp=at,
                step_id=getattr(fact, "step_id") if has_step else None,  # noqa: B009 - not every fact has it
                source=find_source(team, fact, author, tokens.get(position, "") if tokens else ""),
                timeline=timeline if timeline and fact.is_on_timeline else None,
                content=getattr(fact, content) if content else None,
                metadata=fact,
            )
        )
        previous = chain(previous, data)
        events.append(Event(session_id=session_id, seq=seq, timestamp=at, fact=fact, data=data, hash=previous))
    return events


def chain(previous: str, data: bytes) -> str:
    """Return the hash of an event whose predecessor has the hash `previous`."""
    return sha256(previous.encode() + data).hexdigest()


def decode(data: bytes, hash_: str) -> Event:
    """Decode one stored event.

    Raises ValueError if the bytes are not a valid event, UnknownEvent if a newer version wrote it.
    """
    stored = _stored_decoder.decode(data)
    decoder = _fact_decoders.get(stored.event)
    if decoder is None:
        raise UnknownEvent(f"unknown event {stored.event!r}: was it written by a newer version?")
    return Event(
        session_id=stored.session_id,
        seq=stored.seq,
        timestamp=stored.timestamp,
        fact=decoder.decode(stored.metadata),
        data=data,
        hash=hash_,
    )


def frame(event: Event, language: Language) -> bytes:
    """Return what a client is sent: the stored bytes, the text for people in its language, and the hash.

    Some clients look for a plan's tasks in `content` too. Frames repeat them there; the log stores
    them once, in the metadata.
    """
    shown = show(event.fact, language)
    content = event.fact.frame_content()
    if shown is None and content is None:
        return event.data[:-1] + _TAIL % event.hash.encode()
    added = b"" if content is None else b',"content":' + _encode(content)
    if shown is not None:
        added += b',"show_content":' + _encode(shown)
    return event.data[:-1] + added + _TAIL % event.hash.encode()


def place(frame_bytes: bytes) -> Placed:
    """Read the place of a frame. Raises msgspec.DecodeError if it is no frame."""
    return _placed_decoder.decode(frame_bytes)


def stored_bytes(frame_bytes: bytes, placed: Placed) -> bytes | None:
    """Undo `frame`: return the stored bytes of a logged frame, or None if it does not end as `frame` ends it."""
    body, tail = frame_bytes[:-_TAIL_BYTES], frame_bytes[-_TAIL_BYTES:]
    if tail != _TAIL % (placed.hash or "").encode():
        return None
    if placed.show_content is not None:
        body, shown, _ = body.rpartition(_SHOWN)
        if not shown:
            return None
    # only content that `frame` added stands at the end: stored content comes before the metadata
    return body.removesuffix(b',"content":%b' % bytes(placed.content)) + b"}"
