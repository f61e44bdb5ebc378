"""Pieces of text that members write right now, carried to the nodes where somebody looks on. Nothing is kept of them.

They go with the wake-ups, gathered for a moment, and only for sessions in which another node has said that it looks on.
What is too much is dropped, the oldest first: the whole text comes with the log.
"""

import asyncio
from collections.abc import Callable, Iterable

from moot.runtime.clock import boottime

GATHER_S = 0.05
RATE_BYTES = 256 * 1024  # a second
WANTED_S = 60.0
RENEW_S = 30.0
PIECE_CHARS = 1_000  # of one item: with escapes it stays below the bound of a wake-up

Piece = tuple[str, str, str, str]  # session, event, turn, text


class Pieces:
    """Gathers what is shown here for others, and remembers who wants what.

    Args:
        send: sends pieces to all nodes.
        announce: says that this node looks on at a session.
    """

    def __init__(self, send: Callable[[Piece], None], announce: Callable[[str], None]) -> None:
        self._send = send
        self._announce = announce
        self._wanted: dict[str, float] = {}  # session: when another node said last that it looks on
        self._announced: dict[str, float] = {}
        self._gathered: list[Piece] = []
        self._timer: asyncio.TimerHandle | None = None
        self.dropped = 0

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Send a piece to the other nodes, if one of them has followers of the session."""
        wanted_at = self._wanted.get(session_id)
        if wanted_at is None or boottime() - wanted_at > WANTED_S:
            return
        last = self._gathered[-1] if self._gathered else None
        if last and last[:3] == (session_id, event, turn_id):
            self._gathered[-1] = (session_id, event, turn_id, last[3] + text)
        else:
            self._gathered.append((session_id, event, turn_id, text))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._flush)

    def want(self, session_ids: Iterable[str]) -> None:
        """Tell the other nodes that this one has followers of a session, unless it did recently."""
        now = boottime()
        for session_id in session_ids:
            if now - self._announced.get(session_id, -RENEW_S) >= RENEW_S:
                self._announced[session_id] = now
                self._announce(session_id)
        if len(self._announced) > 10_000:
            self._announced = {each: at for each, at in self._announced.items() if now - at < RENEW_S}

    def hear_wanted(self, session_id: str) -> None:
        """Note that another node has followers of a session."""
        now = boottime()
        if len(self._wanted) > 10_000:
            self._wanted = {each: at for each, at in self._wanted.items() if now - at < WANTED_S}
        self._wanted[session_id] = now

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _flush(self) -> None:
        self._timer = None
        gathered, self._gathered = self._gathered, []
        left = int(RATE_BYTES * GATHER_S)
        kept: list[Piece] = []
        for piece in reversed(gathered):
            left -= len(piece[3].encode())
            if left < 0:
                self.dropped += 1
            else:
                kept.append(piece)
        for session_id, event, turn_id, text in reversed(kept):
            for start in range(0, len(text), PIECE_CHARS):
                self._send((session_id, event, turn_id, text[start : start + PIECE_CHARS]))
