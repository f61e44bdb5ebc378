"""Commands that wait for an answer. Each keeps its id and its text, so that the server does it once however often it
is sent."""

from collections.abc import Iterator
from math import inf
from typing import Any

import msgspec

from moot.core.backoff import Backoff
from moot.core.errors import MootError

COMMANDS = 1_000  # most commands that may wait for an answer
ANSWER_S = 30.0  # a command without an answer is sent again after this time
SENDS = 10  # how often one command is sent before it is given up
RETRY_S = 1.0
RETRY = Backoff(base_s=RETRY_S)  # when the server says that trying again can help
RETRIES = 5


class Waiting:
    """A command that was given and not answered; `due` is when it is sent (again)."""

    __slots__ = ("command_id", "due", "event", "retries", "sends", "session_id", "text")

    def __init__(self, command_id: str, event: str, session_id: str | None, text: str) -> None:
        self.command_id = command_id
        self.event = event
        self.session_id = session_id
        self.text = text
        self.due = -inf
        self.sends = 0
        self.retries = 0


class Unanswered:
    """The commands of a client that wait for an answer, in the order in which they were given."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}

    def add(self, command_id: str, event: str, session_id: str | None, fields: dict[str, Any]) -> Waiting:
        """Enqueue a command. Giving the same one again returns the one that waits already.

        Raises MootError if the id is in use for another command, or if too many wait.
        """
        address = {} if session_id is None else {"session_id": session_id}
        frame = {"event": event, **address, **fields, "command_id": command_id}
        waiting = Waiting(command_id, event, session_id, msgspec.json.encode(frame).decode())
        known = self._waiting.get(command_id)
        if known and known.text == waiting.text:
            return known
        if known:
            raise MootError(f"command id {command_id!r} is in use for another command; choose a new one")
        if len(self._waiting) >= COMMANDS:
            raise MootError(f"{COMMANDS} commands wait for an answer already; wait for some of them")
        self._waiting[command_id] = waiting
        return waiting

    def find(self, command_id: str) -> Waiting | None:
        return self._waiting.get(command_id)

    def of(self, event: str, session_id: str | None = None) -> list[Waiting]:
        """Return the commands with this event, of one session or of all."""
        return [
            waiting
            for waiting in self._waiting.values()
            if waiting.event == event and (session_id is None or waiting.session_id == session_id)
        ]

    def remove(self, command_id: str) -> None:
        self._waiting.pop(command_id, None)

    def due(self, now: float) -> Iterator[Waiting]:
        """Yield the commands to send now and count each as sent, also those that have been sent too often already."""
        for waiting in list(self._waiting.values()):
            if waiting.due <= now:
                waiting.due = now + ANSWER_S
                waiting.sends += 1
                yield waiting

    def link_is_new(self) -> None:
        """Make every command due: what was on its way over the old link may be lost."""
        for waiting in self._waiting.values():
            waiting.due = -inf

    def put_off(self, now: float, waiting: Waiting | None = None) -> bool:
        """Send one command again later; all of them if the server dropped a frame without saying which.

        Returns False if the command was put off too often.
        """
        if waiting is None:
            for other in self._waiting.values():
                other.due = min(other.due, now + RETRY_S)
            return True
        waiting.retries += 1
        waiting.due = now + RETRY.delay(waiting.retries)
        return waiting.retries <= RETRIES
