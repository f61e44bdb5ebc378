"""The envelope of a stored event: everything around the fact, which is its `metadata`.

Each kind of fact declares its part of the envelope as class variables (`moot.core.facts`): the member who caused it,
its name on the timeline and its content.
"""

from functools import cache, lru_cache
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from moot.core.facts import Fact
from moot.core.session.team import Kind, Team

_encode = msgspec.json.Encoder().encode

# By flow: the roles of members that direct others. In the envelope they count as part of the orchestrator.
LEADING_ROLES: dict[str, frozenset[str]] = {}


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A stored event. Its fields are stored in this order."""

    event: str
    session_id: str
    seq: int
    event_id: str
    timestamp: str
    step_id: str | None = None
    source: Raw  # an encoded `Source`
    timeline: str | None = None
    content: str | None = None
    metadata: Fact


class Source(Struct, frozen=True, omit_defaults=True):
    loop_id: str
    role: str
    member: str | None = None
    token: str | None = None  # the id of the token with which a person did it


_MOOT = Raw(_encode(Source("moot-orchestrator", "orchestrator")))


class Declared(NamedTuple):
    """What a kind of fact declares for its envelope. Attributes of a class are slow to look up through an instance."""

    event: str
    author: str
    content: str
    timeline: str
    has_step: bool


@cache
def read_declared(kind: type[Fact]) -> Declared:
    return Declared(kind.event, kind.author, kind.content, kind.timeline, "step_id" in kind.__struct_fields__)


def find_source(team: Team, fact: Fact, author: str, token: str) -> Raw:
    """Return who caused a fact. `author` is the field of the fact that names the member; `token` is the id of the token
    with which a person did it, or empty."""
    member_id: str | None = getattr(fact, author) if author else None
    if member_id:
        member = team.member(member_id)
        return _encode_source(team.flow, member.kind, member_id, member.role, token)
    return _encode_nameless(token) if author and token else _MOOT


@lru_cache(maxsize=4096)
def _encode_source(flow: str, kind: Kind, member_id: str, role: str, token: str) -> Raw:
    place = _find_place(flow, kind, role)
    by = token or None if kind is Kind.HUMAN else None
    return Raw(_encode(Source(place.loop_id, place.role, member_id, by)))


@lru_cache(maxsize=4096)
def _encode_nameless(token: str) -> Raw:
    """Encode the source of what somebody did who is no member: an owner's token need not speak as one."""
    return Raw(_encode(Source("moot-orchestrator", "orchestrator", None, token)))


def describe_source(team: Team, member_id: str) -> str:
    """Return the name of a member's place in the system: `moot-executor.executor`."""
    member = team.member(member_id)
    source = _find_place(team.flow, member.kind, member.role)
    return f"{source.loop_id}.{source.role}"


def _find_place(flow: str, kind: Kind, role: str) -> Source:
    if kind is Kind.HUMAN:
        return Source("moot-orchestrator", "user")
    leads = role in LEADING_ROLES.get(flow, ())
    return Source("moot-orchestrator" if leads else "moot-executor", role or "executor")
