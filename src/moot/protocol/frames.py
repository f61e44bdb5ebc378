"""Frames that the server sends besides the log: they have no seq, no event_id and no hash.

The structs are the metadata of these frames. Clients read them with their defaults and ignore unknown fields, so that a
newer server can say more and an older one less.
"""

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.session.team import Language
from moot.core.view import View
from moot.protocol.protocol_errors import ProtocolError

PROTOCOL = 1

_encode = msgspec.json.Encoder().encode


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of a connection; the defaults are those of our own server."""

    frame_bytes: int = 256 * 1024
    messages_per_s: float = 20.0
    message_burst: int = 40
    lag_events: int = 1_000


class Greeting(Struct, frozen=True, kw_only=True):
    """`system.connected` without a session: the connection is up."""

    connection_id: str = ""
    server_version: str = ""
    protocol: int = 1
    heartbeat_s: float = 30.0
    limits: Limits = Limits()


class Resumed(Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"from_seq": "from"}):
    """`system.connected` for a session: its events follow, starting at `from`. If `resumed` is false, the client must
    drop the events that it has of this session."""

    session_id: str
    resumed: bool
    from_seq: int = 1
    reason: str | None = None  # diverged, ahead, full_history


class Accepted(Struct, frozen=True, kw_only=True):
    """`system.accepted`: a command is durable; `seq` is the head after it."""

    command_id: str
    seq: int


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`system.error` and `agent.error`; `content` is a sentence for people. `problems` lists the faults of a plan, each
    as `path: what is wrong`."""

    code: str
    retryable: bool = False
    command_id: str | None = None
    by: str | None = None
    problems: tuple[str, ...] = ()


class Heartbeat(Struct, frozen=True, kw_only=True):
    """`system.heartbeat`: the connection is alive."""


class StateExported(Struct, frozen=True, kw_only=True):
    """`agent.state_exported`: the view of a session at `seq`, and its place, signed, to reconnect with."""

    state: View
    seq: int
    hash: str
    signed_state: str = ""


class StateRestored(Struct, frozen=True, kw_only=True):
    """`agent.state_restored`: the server accepted a signed state; the events after it follow."""

    session_id: str
    seq: int
    hash: str


class TurnDelta(Struct, frozen=True, kw_only=True):
    """`turn.delta`: a piece of a message that is being written; the message itself contains all of it."""

    turn_id: str
    text: str


class SolverDelta(Struct, frozen=True, kw_only=True):
    """`solver.delta`: a piece of the result that a task writes; `turn_id` is its dispatch, the result contains all."""

    turn_id: str
    text: str


class TurnThinking(Struct, frozen=True, kw_only=True):
    """`turn.thinking`: a piece of a thought, which is not part of the answer; the step contains all of it."""

    turn_id: str
    text: str


class ViewChanged(Struct, frozen=True, kw_only=True):
    """`session.view`: the view of a session after event `seq`, for connections with `?view=1`.

    `view` is a JSON merge patch (RFC 7386) from the view that was sent before; if `whole`, from an empty object. It
    follows the events up to `seq`, once for all that were written together.
    """

    seq: int
    view: dict[str, Any]
    whole: bool = False


class SessionsChanged(Struct, frozen=True, kw_only=True):
    """`system.sessions`: after user.watch the list of sessions (`full`), then what has changed in it.

    `sessions` are rows as in `GET /api/sessions`: the 200 last active that one may read. `removed` are the ids of those
    that are no longer among them.
    """

    full: bool
    sessions: tuple[dict[str, Any], ...] = ()
    removed: tuple[str, ...] = ()


STREAMED = frozenset({"turn.delta", "solver.delta", "turn.thinking"})  # pieces of text, with `turn_id` and `text`
UNLOGGED: dict[str, tuple[type[Struct], ...]] = {
    "system.connected": (Greeting, Resumed),
    "system.accepted": (Accepted,),
    "system.error": (Problem,),
    "agent.error": (Problem,),
    "system.heartbeat": (Heartbeat,),
    "agent.state_exported": (StateExported,),
    "agent.state_restored": (StateRestored,),
    "turn.delta": (TurnDelta,),
    "solver.delta": (SolverDelta,),
    "turn.thinking": (TurnThinking,),
    "session.view": (ViewChanged,),
    "system.sessions": (SessionsChanged,),
}


def unlogged(
    event: str,
    timestamp: str,
    *,
    session_id: str | None = None,
    content: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> str:
    """Return the text of a frame of the connection itself."""
    frame: dict[str, Any] = {"event": event}
    if session_id is not None:
        frame["session_id"] = session_id
    frame["timestamp"] = timestamp
    if content is not None:
        frame["content"] = content
    frame["metadata"] = metadata or {}
    return _encode(frame).decode()


def error_frame(
    error: ProtocolError, timestamp: str, language: Language, *, session_id: str | None, command_id: str | None
) -> str:
    """Return the text of an error: `agent.error` when a session refuses, `system.error` when the connection does."""
    metadata: dict[str, Any] = {"code": error.code, "retryable": error.retryable}
    if command_id is not None:
        metadata["command_id"] = command_id
    for name in ("by", "problems"):
        if name in error.params:
            metadata[name] = error.params[name]
    name = "system.error" if session_id is None else "agent.error"
    return unlogged(name, timestamp, session_id=session_id, content=error.explain(language), metadata=metadata)
