"""What a client has received of one session: the folded state, and the newest events within a bound."""

import asyncio
from collections import deque
from typing import Any

from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.errors import MootError
from moot.core.evolve import evolve
from moot.core.state import State
from moot.protocol.happenings import Logged

WINDOW_EVENTS = 10_000
WINDOW_BYTES = 16 * 1024 * 1024
PASSING_FRAMES = 1_000  # that a slow listener may miss: they are shown and forgotten anyway


class Entry(Struct, frozen=True):
    """An event with the frame it came in; `event` is None when this version does not know it."""

    logged: Logged
    event: Event | None


class Tape:
    """Written by the link, read by anybody. Who needs what has left the window asks the server."""

    def __init__(self, state: State | None = None, head: Head | None = None) -> None:
        self.head = head or Head()
        self._state = state
        self._error: MootError | None = None
        self._window: deque[Entry] = deque()
        self._bytes = 0
        self._changed = asyncio.Event()
        self._listeners: list[deque[dict[str, Any]]] = []

    @property
    def state(self) -> State:
        """Raises what ended the tape."""
        if self._error:
            raise self._error
        assert self._state is not None  # noqa: S101 - handed out only with at least one event
        return self._state

    @property
    def is_ended(self) -> bool:
        return self._error is not None

    @property
    def first_seq(self) -> int:
        """Of the window; the next one while it is empty."""
        return self._window[0].logged.seq if self._window else self.head.seq + 1

    def add(self, logged: Logged) -> None:
        event = logged.event()
        if event:
            try:
                self._state = evolve(self._state, event.fact)
            except (MootError, AssertionError, KeyError, ValueError) as error:
                self.end(MootError(f"session {logged.session_id} does not fold at seq {logged.seq}: {error!r}"))
                return
        self.head = Head(logged.seq, logged.hash)
        self._window.append(Entry(logged, event))
        self._bytes += len(logged.frame) + len(logged.data)
        while len(self._window) > WINDOW_EVENTS or (self._bytes > WINDOW_BYTES and len(self._window) > 1):
            gone = self._window.popleft().logged
            self._bytes -= len(gone.frame) + len(gone.data)
        self._wake()

    def after(self, seq: int) -> list[Entry]:
        """What the window has behind `seq`."""
        missing = self.head.seq - seq
        if missing <= 0:
            return []
        return list(self._window) if missing >= len(self._window) else [*self._window][-missing:]

    def end(self, error: MootError) -> None:
        """Nothing more will come; whoever waits is told why."""
        self._error = self._error or error
        self._wake()

    def show(self, frame: dict[str, Any]) -> None:
        for listener in self._listeners:
            listener.append(frame)
        self._wake()

    def listen(self) -> deque[dict[str, Any]]:
        listener: deque[dict[str, Any]] = deque(maxlen=PASSING_FRAMES)
        self._listeners.append(listener)
        return listener

    def unlisten(self, listener: deque[dict[str, Any]]) -> None:
        self._listeners = [each for each in self._listeners if each is not listener]

    async def change(self) -> None:
        """Wait until something comes. Raises what ended the tape."""
        if self._error:
            raise self._error
        await self._changed.wait()

    async def reach(self, seq: int) -> None:
        """Wait until this event is here."""
        while self.head.seq < seq:
            await self.change()
        if self._error:
            raise self._error

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
