"""States that a client may keep and come back with: folded for reading, signed so that a changed one is noticed."""

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.codec import Head
from moot.core.state import State
from moot.gateway.auth import Tokens
from moot.protocol.errors import ProtocolError
from moot.protocol.frames import unlogged


class Place(Struct, frozen=True):
    """Where a session was when its state was exported."""

    session_id: str
    seq: int
    hash: str


def export_state(tokens: Tokens, session_id: str, state: State, head: Head, timestamp: str) -> str:
    signed = tokens.sign(msgspec.json.encode(Place(session_id, head.seq, head.hash)))
    metadata: dict[str, Any] = {
        "state": msgspec.to_builtins(state),
        "seq": head.seq,
        "hash": head.hash,
        "signed_state": signed,
    }
    return unlogged("agent.state_exported", timestamp, session_id=session_id, metadata=metadata)


def restore_place(tokens: Tokens, signed_state: str) -> Place:
    """Raises ProtocolError when it is not ours or was changed."""
    payload = tokens.unsign(signed_state)
    if payload is None:
        raise ProtocolError("bad_signed_state")
    return msgspec.json.decode(payload, type=Place)
