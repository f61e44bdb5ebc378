"""One session that a client follows: how far it is, and whether a frame is what comes next."""

from enum import StrEnum
from typing import Any

from msgspec import Raw, Struct

from moot.core.codec import Head, chain

RESTARTS = 3  # of the history, when the same place does not verify again and again
_HASH_BYTES = 64
_TAIL_BYTES = len(b',"hash":""}') + _HASH_BYTES
_SHOWN = b',"show_content":"'  # quotes inside of strings are escaped, so this is never part of one


class Placed(Struct, frozen=True):
    """The part of a frame that says where it belongs."""

    event: str
    session_id: str | None = None
    seq: int | None = None
    hash: str | None = None
    show_content: str | None = None
    content: Raw = Raw()


class Verdict(StrEnum):
    NEXT = "next"
    OLD = "old"  # had already, or not asked for any more
    HOLE = "hole"  # something before it is missing
    BROKEN = "broken"  # not what follows from what is had


class Following:
    """The cursor is the last event that is had; hash "" at a seq means that its hash is not known."""

    def __init__(self, session_id: str, head: Head | None = None) -> None:
        self.session_id = session_id
        self.head = head or Head()
        self.acked_seq = self.head.seq
        self.asked_at: float | None = None  # asked where to go on, not answered: what comes now does not count
        self._restarts = 0
        self._broken_at = 0

    @property
    def unacked(self) -> int:
        return self.head.seq - self.acked_seq

    def ask(self, now: float) -> dict[str, Any]:
        """The frame that asks for what is missing."""
        self.asked_at = now
        if not self.head.seq:
            return {"event": "user.reconnect", "session_id": self.session_id}
        frame = {"event": "user.reconnect_with_state", "session_id": self.session_id, "last_seq": self.head.seq}
        return {**frame, "state_checksum": self.head.hash} if self.head.hash else frame

    def judge(self, placed: Placed, frame: bytes) -> tuple[Verdict, bytes]:
        """Whether this is the next event, and then its stored bytes; only then the cursor moves."""
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
        self.head = Head()
        self.acked_seq = 0

    def may_restart(self) -> bool:
        """Whether asking for the history again is worth it: not when it broke at the same place several times."""
        self._broken_at = max(self._broken_at, self.head.seq + 1)
        self._restarts += 1
        return self._restarts <= RESTARTS


def stored_bytes(frame: bytes, placed: Placed) -> bytes | None:
    """The frame without what the encoder added at its end (core/codec.py); None when it does not end so."""
    body, tail = frame[:-_TAIL_BYTES], frame[-_TAIL_BYTES:]
    if tail != b',"hash":"%b"}' % (placed.hash or "").encode():
        return None
    if placed.show_content is not None:
        body, shown, _ = body.rpartition(_SHOWN)
        if not shown:
            return None
    return body.removesuffix(b',"content":%b' % bytes(placed.content)) + b"}"  # a plan's tasks; texts stand elsewhere
