"""The envelope of a stored event: what stands between its timestamp and its metadata.

These are `step_id`, `source` (who caused it), `timeline` (its name on the timeline) and `content`. Each kind of fact
declares them as class variables (`moot.core.facts`); this module encodes them.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.facts import Fact
from moot.core.session.team import Kind, Team

_encode = msgspec.json.Encoder().encode

Describe = Callable[[Team, Any, str], bytes]  # the last argument is the id of a token, or empty

# By flow: the roles of members that direct others. In the envelope they count as part of the orchestrator.
LEADING_ROLES: dict[str, frozenset[str]] = {}


class Source(Struct, frozen=True, omit_defaults=True):
    loop_id: str
    role: str
    member: str | None = None
    token: str | None = None  # the id of the token with which a person did it


_MOOT = b',"source":' + _encode(Source("moot-orchestrator", "orchestrator"))


@lru_cache(maxsize=4096)
def _encode_source(flow: str, kind: Kind, member_id: str, role: str, token: str) -> bytes:
    place = _find_place(flow, kind, role)
    by = token or None if kind is Kind.HUMAN else None
    return b',"source":' + _encode(Source(place.loop_id, place.role, member_id, by))


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


@lru_cache(maxsize=4096)
def _encode_nameless(token: str) -> bytes:
    """Encode the source of what somebody did who is no member: an owner's token need not speak as one."""
    return b',"source":' + _encode(Source("moot-orchestrator", "orchestrator", None, token))


def _find_source(team: Team, member_id: str | None, token: str) -> bytes:
    if not member_id:
        return _encode_nameless(token) if token else _MOOT
    member = team.member(member_id)
    return _encode_source(team.flow, member.kind, member_id, member.role, token)


@cache
def describer(kind: type[Fact]) -> Describe:
    """Return the function that encodes the envelope of this kind of fact. Cached, because stamping is hot."""
    author, content = kind.author, kind.content
    timeline = f',"timeline":"{kind.timeline}"'.encode() if kind.timeline else b""
    if "step_id" in kind.__struct_fields__:
        return lambda team, fact, token: (
            b',"step_id":%b%b%b'
            % (
                _encode(fact.step_id),
                _find_source(team, getattr(fact, author), token) if author else _MOOT,
                timeline,
            )
        )
    if not author:
        fixed = _MOOT + timeline
        return lambda _team, _fact, _token: fixed
    if content:
        return lambda team, fact, token: (
            b'%b%b,"content":%b'
            % (
                _find_source(team, getattr(fact, author), token),
                timeline if fact.is_on_timeline else b"",
                _encode(getattr(fact, content)),
            )
        )
    return lambda team, fact, token: _find_source(team, getattr(fact, author), token) + timeline
