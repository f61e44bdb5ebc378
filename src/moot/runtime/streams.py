"""Delivers streamed text and thoughts to the current listeners; nothing of it is stored."""

from collections.abc import Callable

from moot.core import limits
from moot.core.text import clean
from moot.runtime.ports import Delta, Thinking

Listener = Callable[[str, str, dict[str, str]], None]  # session id, event, metadata: a frame of the protocol


class Streams:
    """Args:
    carry: takes what is shown here to other nodes: session id, event, turn id, text.
    """

    def __init__(self, carry: Callable[[str, str, str, str], None] | None = None) -> None:
        self.listeners: set[Listener] = set()
        self._carry = carry

    def show(self, session_id: str, turn_id: str, piece: Delta | Thinking, *, is_task: bool = False) -> None:
        """Show a piece of what a member writes, cleaned and cut: all kinds of members on all machines go through here.

        Pieces are cleaned one by one: an escape sequence that is split between two loses its first character.
        """
        written = "solver.delta" if is_task else "turn.delta"
        event = written if isinstance(piece, Delta) else "turn.thinking"
        text = clean(piece.text[: limits.PARTIAL_CHARS])
        self.tell(session_id, event, turn_id, text)
        if self._carry:
            self._carry(session_id, event, turn_id, text)

    def tell(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Tell the listeners in this process."""
        for listener in self.listeners:
            listener(session_id, event, {"turn_id": turn_id, "text": text})
