"""The server's half of a connection: it turns frames into requests. No sockets, no clock.

A shell reads texts from a socket, hands them to `understand`, carries out the returned request and sends the frames.
"""

from typing import Any, Protocol

from msgspec import Struct

from moot.core.codec import Head
from moot.core.session.commands import HumanCommand
from moot.core.session.principal import Principal
from moot.core.session.team import Language
from moot.protocol.command_table import (
    COMMANDS,
    Ack,
    ChangeLanguage,
    ClientFrame,
    Create,
    Reconnect,
    ReconnectWithState,
    RequestState,
    Watch,
    read_command,
    read_frame,
)
from moot.protocol.frames import PROTOCOL, unlogged
from moot.protocol.protocol_errors import ProtocolError


class Follow(Struct, frozen=True, kw_only=True):
    """Send the whole history (`after` is None), or the events after `after` if `checksum` is the hash of that event."""

    session_id: str
    after: int | None = None
    checksum: str | None = None


class Restore(Struct, frozen=True, kw_only=True):
    """Follow from the place that a signed state names, or from `after` if the client names one itself."""

    signed_state: str
    session_id: str | None = None
    after: int | None = None
    checksum: str | None = None


class Export(Struct, frozen=True, kw_only=True):
    """Send the state of a session."""

    session_id: str


class Submit(Struct, frozen=True, kw_only=True):
    """A command for a session. `body` are the bytes that its command id stands for."""

    session_id: str
    command: HumanCommand
    body: bytes


class Acknowledge(Struct, frozen=True, kw_only=True):
    """The client has everything up to `seq`."""

    session_id: str
    seq: int


class Ignore(Struct, frozen=True):
    """An ack that is stale, about another session, or malformed."""


Request = Create | Follow | Restore | Export | Submit | Acknowledge | Ignore | ChangeLanguage | Watch


class Asked(Struct, frozen=True, kw_only=True):
    """A request, with the session and the command id that its answer must name."""

    request: Request
    session_id: str | None = None
    command_id: str | None = None


class Place(Protocol):
    """How far the writer of a connection has sent a session."""

    seq: int


class ServerHalf:
    """The state of one connection: who sends, its language, the sessions it follows and their acks."""

    def __init__(self, principal: Principal | None, language: Language | None) -> None:
        self.principal = principal
        self.language = language
        self.current: str | None = None  # the session that a frame without session_id means
        self._places: dict[str, Place] = {}
        self._acked: dict[str, int] = {}

    def attach(self, session_id: str, place: "Place") -> None:
        """Note that the client follows this session; `place` knows how far it has been sent."""
        self.current = session_id
        self._places[session_id] = place
        self._acked[session_id] = 0

    def understand(self, text: str) -> Asked:
        """Read what a text from the client asks for. Raises ProtocolError, with the ids that could be read."""
        frame = read_frame(text)
        if frame.event == Ack.event:
            return Asked(request=self._read_ack(frame))
        command_id = frame.command_id
        session_id: str | None = None
        try:
            _check_version(frame)
            match frame.event:
                case Create.event | ChangeLanguage.event | Watch.event:
                    row = COMMANDS[frame.event]
                    request: Request = row.kind(**row.read(frame))
                case ReconnectWithState.event if frame.get("signed_state") is not None:
                    session_id = frame.session_id
                    request = _read_restore(frame, session_id)
                case _:
                    session_id = self._find_session(frame)
                    request = self._read_for(session_id, frame)
        except ProtocolError as error:
            error.session_id, error.command_id = session_id, command_id
            raise
        return Asked(request=request, session_id=session_id, command_id=command_id)

    def _find_session(self, frame: ClientFrame) -> str:
        """Return the session that a frame names, else the one that this connection followed last."""
        session_id = frame.session_id or self.current
        if session_id is None:
            raise ProtocolError("missing_session")
        return session_id

    def _read_for(self, session_id: str, frame: ClientFrame) -> Request:
        match frame.event:
            case Reconnect.event:
                return Follow(session_id=session_id)
            case ReconnectWithState.event:
                after = _read_cursor(frame, session_id)
                if after is None:
                    raise ProtocolError("bad_cursor")
                return Follow(session_id=session_id, after=after, checksum=_read_checksum(frame))
            case RequestState.event:
                return Export(session_id=session_id)
            case _:
                command = read_command(frame, self.principal)
                return Submit(session_id=session_id, command=command, body=frame.digest_source())

    def _read_ack(self, frame: ClientFrame) -> Acknowledge | Ignore:
        """Acks only move forward and are never refused: one that cannot be right is ignored."""
        try:
            named, event_place = frame.session_id, frame.event_place
            session_id = named or (event_place[0] if event_place else self.current)
            seq = _read_cursor(frame, session_id)
        except ProtocolError:
            return Ignore()
        place = self._places.get(session_id or "")
        if session_id is None or seq is None or place is None or not self._acked[session_id] < seq <= place.seq:
            return Ignore()
        self._acked[session_id] = seq
        return Acknowledge(session_id=session_id, seq=seq)


def _check_version(frame: ClientFrame) -> None:
    version = frame.get("protocol")
    if type(version) is int and version > PROTOCOL:
        raise ProtocolError("upgrade_required", detail=version, limit=PROTOCOL)


def _read_restore(frame: ClientFrame, session_id: str | None) -> Restore:
    signed_state = frame.get("signed_state")
    if not isinstance(signed_state, str):
        raise ProtocolError("bad_field", detail="signed_state")
    return Restore(
        signed_state=signed_state,
        session_id=session_id,
        after=_read_cursor(frame, session_id),
        checksum=_read_checksum(frame),
    )


def _read_cursor(frame: ClientFrame, session_id: str | None) -> int | None:
    """Return the seq that a frame names. Raises ProtocolError `bad_cursor` if it is one of another session."""
    named = frame.event_place
    if named and session_id and named[0] != session_id:
        raise ProtocolError("bad_cursor")
    return frame.cursor


def _read_checksum(frame: ClientFrame) -> str | None:
    """Return the checksum as text: a value of another type is not a hash and simply differs."""
    checksum = frame.get("state_checksum")
    return None if checksum is None else str(checksum)


class Resumption(Struct, frozen=True):
    """Where a replay starts, and the metadata that tells the client."""

    after: int
    metadata: dict[str, Any]


def resume(request: Follow, head: Head, hash_at_cursor: str | None) -> Resumption:
    """Compare a client's place with ours; `hash_at_cursor` is the hash of our event at `request.after`, or None."""
    if request.after is None:
        return Resumption(0, {"resumed": False, "reason": "full_history", "from": 1})
    if request.after > head.seq:
        return Resumption(0, {"resumed": False, "reason": "ahead", "from": 1})
    if request.checksum is not None and request.after > 0 and request.checksum != hash_at_cursor:
        return Resumption(0, {"resumed": False, "reason": "diverged", "from": 1})
    return Resumption(request.after, {"resumed": True, "from": request.after + 1})


def greet(timestamp: str, *, connection_id: str, version: str, heartbeat_s: float, limits: dict[str, Any]) -> str:
    """Return the first frame of a connection."""
    metadata = {
        "connection_id": connection_id,
        "server_version": version,
        "protocol": PROTOCOL,
        "heartbeat_s": heartbeat_s,
        "limits": limits,
    }
    return unlogged("system.connected", timestamp, metadata=metadata)
