"""The view of a followed session, projected once for all connections that asked for views (`?view=1`)."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.view import project
from moot.gateway.uvicorn_port import text_message
from moot.protocol.frames import unlogged
from moot.protocol.merge import Document, diff, to_document
from moot.runtime.ports import Log
from moot.runtime.snapshots import load_state

if TYPE_CHECKING:
    from moot.gateway.feeds import Feed

KEPT_MESSAGES = 8  # clients that keep up have the same view and can share an encoded message


class Shown(NamedTuple):
    """The view that a connection has: after which event, in which language."""

    seq: int
    language: Language
    document: Document


class Projection:
    """The view at the head of a feed, computed on demand."""

    def __init__(self, feed: "Feed", now: Callable[[], str]) -> None:
        self._feed = feed
        self._now = now
        self._state: State | None = None
        self._seq = 0
        self._shown: dict[Language, Shown] = {}
        self._messages: dict[tuple[int, Language | None, int, Language], bytes] = {}

    def catch_up(self) -> bool:
        """Fold the events that the feed got since the last call. Return False if `load` must read them from the log."""
        frames = None if self._state is None else self._feed.after(self._seq, sys.maxsize)
        if frames is None:
            return False
        for frame in frames:
            self._state = evolve(self._state, frame.event.fact)
        self._seq = self._feed.head
        return True

    async def load(self, log: Log) -> None:
        """Fold the session up to the feed's head. Raises LogError if its log cannot be read."""
        while not self.catch_up():
            state, head = await load_state(log, self._feed.session_id, self._feed.head)
            self._state, self._seq = state, head.seq

    def describe(self, before: Shown | None, language: Language) -> tuple[bytes, Shown]:
        """Return the message that turns the view `before` into the one at the head, and the latter.

        Without `before` the message carries the whole view. `catch_up` or `load` must have succeeded.
        """
        shown = self._show(language)
        key = (before.seq, before.language, shown.seq, language) if before else (0, None, shown.seq, language)
        message = self._messages.get(key)
        if message is None:
            if len(self._messages) >= KEPT_MESSAGES:
                self._messages.clear()
            message = self._messages[key] = self._write(before, shown)
        return message, shown

    def _show(self, language: Language) -> Shown:
        shown = self._shown.get(language)
        if shown is None or shown.seq != self._seq:
            assert self._state is not None  # noqa: S101 - the caller has caught up
            shown = self._shown[language] = Shown(self._seq, language, to_document(project(self._state, language)))
        return shown

    def _write(self, before: Shown | None, shown: Shown) -> bytes:
        metadata = {
            "seq": shown.seq,
            "whole": before is None,
            "view": diff(before.document if before else {}, shown.document),
        }
        frame = unlogged("session.view", self._now(), session_id=self._feed.session_id, metadata=metadata)
        return text_message(frame.encode())
