"""Exported states: the view of a session with a signed position, with which a client can resume later."""

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.codec import Head
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.view import project
from moot.gateway.auth import Tokens
from moot.protocol.frames import unlogged
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.ports import Log


class Place(Struct, frozen=True):
    """The position of a session when its state was exported."""

    session_id: str
    seq: int
    hash: str


def export_state(
    tokens: Tokens, session_id: str, state: State, head: Head, language: Language | None, timestamp: str
) -> str:
    """Return `agent.state_exported` with the view, in `language` or the session's own, and the signed place."""
    signed = tokens.sign(msgspec.json.encode(Place(session_id, head.seq, head.hash)))
    metadata: dict[str, Any] = {
        "state": msgspec.to_builtins(project(state, language)),
        "seq": head.seq,
        "hash": head.hash,
        "signed_state": signed,
    }
    return unlogged("agent.state_exported", timestamp, session_id=session_id, metadata=metadata)


def restore_place(tokens: Tokens, signed_state: str) -> Place:
    """Return the place in a signed state. Raises ProtocolError if this server did not sign it, or it was changed."""
    payload = tokens.unsign(signed_state)
    if payload is None:
        raise ProtocolError("bad_signed_state")
    return msgspec.json.decode(payload, type=Place)


async def find_hash(log: Log, session_id: str, seq: int | None, head: Head) -> str | None:
    """Return the hash of the event at the place that a client names; None if there is no such event."""
    if seq is None or not 0 < seq <= head.seq:
        return None
    if seq == head.seq:
        return head.hash
    return (await log.read(session_id, seq - 1, 1))[0].hash
