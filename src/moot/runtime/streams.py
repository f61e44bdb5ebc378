"""Delivers streamed text and thoughts to the current listeners; nothing of it is stored."""

from collections.abc import Callable

from moot.runtime.ports import Delta, Thinking

Listener = Callable[[str, str, dict[str, str]], None]  # session id, event, metadata: a frame of the protocol


class Streams:
    def __init__(self) -> None:
        self.listeners: set[Listener] = set()

    def show(self, session_id: str, turn_id: str, piece: Delta | Thinking) -> None:
        event = "turn.delta" if isinstance(piece, Delta) else "turn.thinking"
        for listener in self.listeners:
            listener(session_id, event, {"turn_id": turn_id, "text": piece.text})
