"""One session that a client follows: the last event that it has, and whether a frame is the next one."""

from enum import StrEnum
from typing import Any

from moot.core.codec import Head, Placed, chain, stored_bytes

RESTARTS = 3  # how often the history is asked for again when the same event does not verify


class Verdict(StrEnum):
    NEXT = "next"
    OLD = "old"  # received before, or sent before the answer to `ask`
    HOLE = "hole"  # an event before it is missing
    BROKEN = "broken"  # its hash does not follow from the event before it


class Following:
    """`head` is the last event that the client has; with hash "" the hash of that event is not known."""

    def __init__(self, session_id: str, head: Head | None = None) -> None:
        self.session_id = session_id
        self.head = head or Head()
        self.acked_seq = self.head.seq
        self.asked_at: float | None = None  # when `ask` was sent; frames are ignored until it is answered
        self._restarts = 0
        self._broken_at = 0

    @property
    def unacked(self) -> int:
        return self.head.seq - self.acked_seq

    def ask(self, now: float) -> dict[str, Any]:
        """Return the frame that asks for the events after `head`."""
        self.asked_at = now
        if not self.head.seq:
            return {"event": "user.reconnect", "session_id": self.session_id}
        frame = {"event": "user.reconnect_with_state", "session_id": self.session_id, "last_seq": self.head.seq}
        return {**frame, "state_checksum": self.head.hash} if self.head.hash else frame

    def judge(self, placed: Placed, frame: bytes) -> tuple[Verdict, bytes]:
        """Judge a logged frame. Only for the next event `head` moves, and its stored bytes are returned."""
        seq, hash_ = placed.seq or 0, placed.hash or ""
        if self.asked_at is not None or seq <= self.head.seq:
            return Verdict.OLD, b""
        if seq > self.head.seq + 1:
            return Verdict.HOLE, b""
        data = stored_bytes(frame, placed)
        is_known = bool(self.head.hash) or not self.head.seq
        if data is None or (is_known and chain(self.head.hash, data) != hash_):
            return Verdict.BROKEN, b""
        self.head = Head(seq, hash_)
        if seq > self._broken_at:
            self._restarts = 0
        return Verdict.NEXT, data

    def forget(self) -> None:
        """Start again from the empty log."""
        self.head = Head()
        self.acked_seq = 0

    def may_restart(self) -> bool:
        """Return whether to ask for the history again; False when the same event failed several times."""
        self._broken_at = max(self._broken_at, self.head.seq + 1)
        self._restarts += 1
        return self._restarts <= RESTARTS
