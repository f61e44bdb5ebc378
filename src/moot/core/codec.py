"""Facts to stored bytes and back. An event is encoded once; log, hash and every client get the same bytes.

stored = {"event", "session_id", "seq", "event_id", "timestamp", "step_id"?, "source", "timeline"?, "content"?,
          "metadata"}
hash   = sha256(previous hash as hex, empty for seq 1 ‖ stored), lower-case hex
frame  = stored with "show_content"? and "hash" added at its end
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, get_args

import msgspec
from msgspec import Struct

from moot.core import notices
from moot.core.events import (
    Fact,
    MessagePosted,
    PauseRequested,
    RoutingDecided,
    StepAsked,
    StepClosed,
    TeamTaskSet,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    TurnStepped,
)
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


class Source(Struct, frozen=True, omit_defaults=True):
    loop_id: str
    role: str
    member: str | None = None


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
_ENGINE = b',"source":' + _encode(Source("moot-orchestrator", "orchestrator"))


def stamp(team: Team, session_id: str, head: Head, facts: Iterable[Fact], at: str) -> list[Event]:
    """Give facts their places behind `head`.

    The envelope is written by hand: every part of it but step_id and content is plain ASCII without quotes, and this is
    the hottest code of Moot.
    """
    seq, previous = head.seq, head.hash
    place, stamped = f'","session_id":"{session_id}","seq":', f',"timestamp":"{at}"'
    events = []
    for fact in facts:
        seq += 1
        opening = f'{{"event":"{fact.event}{place}{seq},"event_id":"{session_id}-{seq}"{stamped}'
        middle = _DESCRIBE.get(type(fact), _describe_own)(team, fact)
        data = b'%b%b,"metadata":%b}' % (opening.encode(), middle, _encode(fact))
        previous = chain(previous, data)
        events.append(Event(session_id=session_id, seq=seq, timestamp=at, fact=fact, data=data, hash=previous))
    return events


def chain(previous: str, data: bytes) -> str:
    """The hash of stored bytes that follow `previous`."""
    return hashlib.sha256(previous.encode() + data).hexdigest()


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
    """What a client is sent: the stored bytes, the text for people in its language, the hash."""
    shown = notices.show(event.fact, language)
    if shown is None:
        return b'%b,"hash":"%b"}' % (event.data[:-1], event.hash.encode())
    return b'%b,"show_content":%b,"hash":"%b"}' % (event.data[:-1], _encode(shown), event.hash.encode())


def _source(team: Team, member_id: str | None) -> bytes:
    """Who did it, as a part of the envelope: a member, or Moot itself."""
    if member_id is None:
        return _ENGINE
    member = team.member(member_id)
    return _member_source(member_id, member.is_human, member.role)


@lru_cache(maxsize=4096)
def _member_source(member_id: str, is_human: bool, role: str) -> bytes:
    if is_human:
        source = Source("moot-orchestrator", "user", member_id)
    else:
        source = Source("moot-executor", role or "executor", member_id)
    return b',"source":' + _encode(source)


def _describe_own(team: Team, fact: Any) -> bytes:  # noqa: ARG001 - one signature for all
    return _ENGINE


def _describe_members(team: Team, fact: Any) -> bytes:
    return _source(team, fact.member)


def _describe_message(team: Team, fact: MessagePosted) -> bytes:
    timeline = b',"timeline":"user_input_received"' if fact.turn_id is None else b""
    return b'%b%b,"content":%b' % (_source(team, fact.member), timeline, _encode(fact.text))


def _describe_routing(team: Team, fact: RoutingDecided) -> bytes:  # noqa: ARG001
    return _ENGINE + b',"timeline":"routing_decision_made"'


def _describe_question(team: Team, fact: StepAsked) -> bytes:  # noqa: ARG001
    return b',"step_id":%b%b,"timeline":"user_confirmation_required"' % (_encode(fact.step_id), _ENGINE)


def _describe_answer(team: Team, fact: StepClosed) -> bytes:
    return b',"step_id":%b%b' % (_encode(fact.step_id), _source(team, fact.by))


# What stands between timestamp and metadata: step_id, source, timeline, content. Looked up, not matched: it is hot.
_DESCRIBE: dict[type, Callable[[Team, Any], bytes]] = {
    MessagePosted: _describe_message,
    RoutingDecided: _describe_routing,
    StepAsked: _describe_question,
    StepClosed: _describe_answer,
    TurnStarted: _describe_members,
    TurnStepped: _describe_members,
    TurnCompleted: _describe_members,
    TurnFailed: _describe_members,
    TurnCancelled: _describe_members,
    TeamTaskSet: _describe_members,
    PauseRequested: _describe_members,
}
