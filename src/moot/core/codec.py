"""Facts to stored bytes and back. An event is encoded once; log, hash and every client get the same bytes.

stored = {"event", "session_id", "seq", "event_id", "timestamp", "step_id"?, "source", "timeline"?, "content"?,
          "metadata"}
hash   = sha256(previous hash as hex, empty for seq 1 ‖ stored), lower-case hex
frame  = stored with "content"? (the tasks of a plan), "show_content"? and "hash" added at its end
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import Struct

from moot.core import notices
from moot.core.describe import DESCRIBE, describe_own, encode_content
from moot.core.events import Fact
from moot.core.team import Language, Team


class Head(Struct, frozen=True, gc=False):
    """Where a log ends; seq 0 is the empty log."""

    seq: int = 0
    hash: str = ""


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """A fact with its place in the log; `data` are the stored bytes."""

    session_id: str
    seq: int
    timestamp: str
    fact: Fact
    data: bytes
    hash: str

    @property
    def name(self) -> str:
        return self.fact.event

    @property
    def head(self) -> Head:
        return Head(self.seq, self.hash)


class _Envelope(Struct, frozen=True):
    """The part of a stored event that reading needs."""

    event: str
    session_id: str
    seq: int
    timestamp: str
    metadata: msgspec.Raw


_encode = msgspec.json.Encoder().encode
_envelope_decoder = msgspec.json.Decoder(_Envelope)
_fact_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    fact_type.event: msgspec.json.Decoder(fact_type) for fact_type in get_args(Fact)
}


def stamp(team: Team, session_id: str, head: Head, facts: Iterable[Fact], at: str) -> list[Event]:
    """Give facts their places behind `head`.

    The envelope is written by hand: every part of it but step_id and content is plain ASCII without quotes, and this is
    the hottest code of Moot.
    """
    seq, previous = head.seq, head.hash
    place, named = f'","session_id":"{session_id}","seq":', f',"event_id":"{session_id}-'
    stamped = f'","timestamp":"{at}"'.encode()
    events = []
    for fact in facts:
        seq += 1
        opening = f'{{"event":"{fact.event}{place}{seq}{named}{seq}'.encode()
        described = DESCRIBE.get(type(fact), describe_own)(team, fact)
        data = b"".join((opening, stamped, described, b',"metadata":', _encode(fact), b"}"))
        previous = chain(previous, data)
        events.append(Event(session_id=session_id, seq=seq, timestamp=at, fact=fact, data=data, hash=previous))
    return events


def chain(previous: str, data: bytes) -> str:
    """The hash of stored bytes that follow `previous`."""
    return sha256(previous.encode() + data).hexdigest()


def decode(data: bytes, hash_: str) -> Event:
    """Stored bytes to an event; ValueError says why bytes are none."""
    envelope = _envelope_decoder.decode(data)
    decoder = _fact_decoders.get(envelope.event)
    if decoder is None:
        raise ValueError(f"unknown event {envelope.event!r}: was it written by a newer version?")
    return Event(
        session_id=envelope.session_id,
        seq=envelope.seq,
        timestamp=envelope.timestamp,
        fact=decoder.decode(envelope.metadata),
        data=data,
        hash=hash_,
    )


def frame(event: Event, language: Language) -> bytes:
    """What a client is sent: the stored bytes, the text for people in its language, the hash.

    Clients of seed 004 look for a plan's tasks in `content` too: there they stand in the frame, stored they are once.
    """
    shown = notices.show(event.fact, language)
    content = encode_content(event.fact)
    if shown is None and content is None:
        return b'%b,"hash":"%b"}' % (event.data[:-1], event.hash.encode())
    added = b"" if content is None else b',"content":' + content
    if shown is not None:
        added += b',"show_content":' + _encode(shown)
    return b'%b%b,"hash":"%b"}' % (event.data[:-1], added, event.hash.encode())
