"""What a client holds of one session: its view, and a bounded window of the newest events."""

import asyncio
from collections import deque
from typing import Any

import msgspec
from msgspec import Struct

from moot.client.link_errors import RemoteRefused
from moot.core.codec import Event, Head
from moot.core.errors import MootError
from moot.core.view import View
from moot.protocol.frames import ViewChanged
from moot.protocol.happenings import Logged
from moot.protocol.merge import Document, merge, to_view

WINDOW_EVENTS = 10_000
WINDOW_BYTES = 16 * 1024 * 1024
PASSING_FRAMES = 1_000  # unlogged frames per listener; a slow one misses the oldest


class Entry(Struct, frozen=True):
    """An event and its frame; `event` is None if this version does not know its type."""

    logged: Logged
    event: Event | None


Passing = deque[tuple[int, dict[str, Any]]]  # unlogged frames, each with the seq of the last event before it


class Tape:
    """Written by the link, read by sessions. Events that left the window are read from the server."""

    def __init__(self, view: View | None = None, head: Head | None = None) -> None:
        self.head = head or Head()
        self.view_seq = self.head.seq  # the event that the view includes as the last one
        self._view = view
        self._document: Document = {}
        self._error: MootError | None = None
        self._window: deque[Entry] = deque()
        self._bytes = 0
        self._changed = asyncio.Event()
        self._listeners: list[Passing] = []

    @property
    def view(self) -> View:
        """The view after the last event. Raises the error that ended the tape."""
        if self._error:
            raise self._error
        assert self._view is not None  # noqa: S101 - handed out only with a view
        return self._view

    @property
    def is_ended(self) -> bool:
        return self._error is not None

    @property
    def first_seq(self) -> int:
        """The first seq in the window; that of the next event while it is empty."""
        return self._window[0].logged.seq if self._window else self.head.seq + 1

    def add(self, logged: Logged) -> None:
        self.head = logged.head
        self._window.append(Entry(logged, logged.event()))
        self._bytes += len(logged.frame) + len(logged.data)
        while len(self._window) > WINDOW_EVENTS or (self._bytes > WINDOW_BYTES and len(self._window) > 1):
            gone = self._window.popleft().logged
            self._bytes -= len(gone.frame) + len(gone.data)
        self._wake()

    def change_view(self, change: ViewChanged) -> None:
        """Apply a `session.view` frame."""
        self._document = merge({} if change.whole else self._document, change.view)
        try:
            self._view = to_view(self._document)
        except msgspec.ValidationError as error:
            self.end(RemoteRefused("upgrade_required", f"the server's view is of another version ({error})"))
            return
        self.view_seq = change.seq
        self._wake()

    def after(self, seq: int) -> list[Entry]:
        """Return the entries of the window after `seq`."""
        missing = self.head.seq - seq
        if missing <= 0:
            return []
        return list(self._window) if missing >= len(self._window) else [*self._window][-missing:]

    def end(self, error: MootError) -> None:
        """Stop the tape: all readers raise `error`."""
        self._error = self._error or error
        self._wake()

    def show(self, frame: dict[str, Any]) -> None:
        for listener in self._listeners:
            listener.append((self.head.seq, frame))
        self._wake()

    def listen(self) -> Passing:
        listener: Passing = deque(maxlen=PASSING_FRAMES)
        self._listeners.append(listener)
        return listener

    def unlisten(self, listener: Passing) -> None:
        self._listeners = [other for other in self._listeners if other is not listener]

    async def change(self) -> None:
        """Wait for the next event or frame. Raises the error that ended the tape."""
        if self._error:
            raise self._error
        await self._changed.wait()

    async def reach(self, seq: int) -> None:
        """Wait until this event is here, and part of the view."""
        while self.head.seq < seq or self.view_seq < seq:
            await self.change()
        if self._error:
            raise self._error

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
