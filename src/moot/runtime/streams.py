"""Text as it is being written: beside the log, for whoever listens right now. Nothing of it is kept."""

from collections.abc import Callable

Listener = Callable[[str, str, str], None]  # session id, turn id, text


class Streams:
    def __init__(self) -> None:
        self.listeners: set[Listener] = set()

    def show(self, session_id: str, turn_id: str, text: str) -> None:
        for listener in self.listeners:
            listener(session_id, turn_id, text)
