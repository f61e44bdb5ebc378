"""What the server says besides the log: the metadata of frames that have no seq. Clients read it, the schema shows it.

Unknown fields are ignored, so that a newer server can say more.
"""

from typing import Any

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """What a connection may do; those of our own server, where it does not say."""

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


class Resumed(Struct, frozen=True, kw_only=True, rename={"from_seq": "from"}):
    """`system.connected` for a session: what follows starts at `from`; `resumed: false` = forget what you had."""

    session_id: str
    resumed: bool
    from_seq: int = 1
    reason: str | None = None  # diverged, ahead, full_history


class Accepted(Struct, frozen=True, kw_only=True):
    """`system.accepted`: a command is durable; `seq` is the head after it."""

    command_id: str
    seq: int


class Problem(Struct, frozen=True, kw_only=True):
    """`system.error` and `agent.error`; `content` is the sentence. `problems` of a plan: `path: what is wrong`."""

    code: str
    retryable: bool = False
    command_id: str | None = None
    by: str | None = None
    problems: tuple[str, ...] = ()


class Heartbeat(Struct, frozen=True, kw_only=True):
    """`system.heartbeat`: nothing but a sign of life."""


class StateExported(Struct, frozen=True, kw_only=True):
    """`agent.state_exported`: the folded state at `seq`, to look at, and signed, to come back with."""

    state: dict[str, Any]
    seq: int
    hash: str
    signed_state: str = ""


class StateRestored(Struct, frozen=True, kw_only=True):
    """`agent.state_restored`: a signed state was taken; the session goes on behind it."""

    session_id: str
    seq: int
    hash: str


class TurnDelta(Struct, frozen=True, kw_only=True):
    """`turn.delta`: a piece of text as it is being written; the message that follows has all of it."""

    turn_id: str
    text: str


class TurnThinking(Struct, frozen=True, kw_only=True):
    """`turn.thinking`: a piece of a thought; the step that follows has all of it. No part of the answer."""

    turn_id: str
    text: str


UNLOGGED: dict[str, tuple[type[Struct], ...]] = {
    "system.connected": (Greeting, Resumed),
    "system.accepted": (Accepted,),
    "system.error": (Problem,),
    "agent.error": (Problem,),
    "system.heartbeat": (Heartbeat,),
    "agent.state_exported": (StateExported,),
    "agent.state_restored": (StateRestored,),
    "turn.delta": (TurnDelta,),
    "turn.thinking": (TurnThinking,),
}
