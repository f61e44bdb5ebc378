"""What a client learns from its connection, in the order it happened."""

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.codec import Event, Head, decode
from moot.core.machines.connection import State
from moot.core.view import View

VIEW_CHANGED, LINK_CHANGED = "session.view", "connection.changed"


class Moved(Struct, frozen=True, kw_only=True):
    """The connection is in another state. While it reconnects: the number of the next attempt, and when it comes."""

    state: State
    attempt: int = 0
    retry_in_s: float = 0.0
    reason: str | None = None


class Logged(Struct, frozen=True, kw_only=True):
    """The next event of a session, verified: `data` are its stored bytes, `frame` is what was sent."""

    session_id: str
    seq: int
    hash: str
    data: bytes
    frame: bytes

    @property
    def head(self) -> Head:
        return Head(self.seq, self.hash)

    def event(self) -> Event | None:
        """None when a newer server logged what this version does not know."""
        try:
            return decode(self.data, self.hash)
        except ValueError:
            return None

    def fields(self) -> dict[str, Any]:
        """The frame as a dictionary."""
        return msgspec.json.decode(self.frame, type=dict[str, Any])


class Passing(Struct, frozen=True):
    """A frame that is shown and forgotten: streaming text and whatever else has no seq."""

    frame: dict[str, Any]


class Done(Struct, frozen=True, kw_only=True):
    """A command was accepted; `seq` is the session's head after it."""

    command_id: str
    session_id: str | None
    seq: int


class Denied(Struct, frozen=True, kw_only=True):
    """A command was refused, or (without command_id) the server complains; `sentence` is for people."""

    command_id: str | None
    session_id: str | None
    code: str
    sentence: str
    by: str | None = None


class Exported(Struct, frozen=True, kw_only=True):
    """The view of a session, as somebody asked for."""

    command_id: str
    session_id: str
    head: Head
    view: View


class Reset(Struct, frozen=True, kw_only=True):
    """The server's history of a session differs from the one received: drop that, the whole history follows."""

    session_id: str
    reason: str


class Ended(Struct, frozen=True, kw_only=True):
    """A session can no longer be followed: not found, removed, forbidden, or its history does not verify."""

    session_id: str
    code: str
    sentence: str


class Sever(Struct, frozen=True):
    """Close the link: it is silent or speaks nonsense. Then report it lost."""

    reason: str


Happening = Moved | Logged | Passing | Done | Denied | Exported | Reset | Ended | Sever


def link_frame(moved: Moved) -> dict[str, Any]:
    """What a client tells its own screen when the link changes. It never crosses the wire."""
    return {"event": LINK_CHANGED, "metadata": msgspec.to_builtins(moved)}


def view_frame(session_id: str, view: View) -> dict[str, Any]:
    """What a client tells its own screen when the view changes: the whole of it, where the wire carries a patch."""
    return {"event": VIEW_CHANGED, "session_id": session_id, "metadata": {"view": view}}
