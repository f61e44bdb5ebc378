"""The line at the bottom about the link: whether it is up, the last event, what is not sent yet."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from textual.reactive import reactive
from textual.widget import Widget

from moot.core.machines.connection import State as Connection
from moot.protocol.happenings import LINK_CHANGED
from moot.tui.conversation.item_lines import local_time
from moot.tui.hosts import Entry
from moot.tui.panes.top_lines import link_line
from moot.tui.text.plain import Content, plain_line
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words, default_words

HEALED_S = 8.0  # how long the number of missed events is shown
ASKING = ("question", "plan", "permission", "your_turn", "failed")


class LinkLine(Widget):
    version: reactive[int] = reactive(0)
    words: reactive[Words] = reactive(default_words)
    now: reactive[datetime] = reactive(datetime.fromtimestamp(0, UTC))
    entries: reactive[tuple[Entry, ...]] = reactive(())
    session_id: reactive[str] = reactive("")

    def __init__(self, url: str | None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._url = url
        self._viewer_state = ViewerState()
        self._trouble = ""  # why the session can no longer be followed
        self._lost_at, self._lost_seq, self._healed_at = "", 0, 0.0
        self._retry_at = 0.0

    def follow(self, viewer_state: ViewerState) -> None:
        self._viewer_state, self._trouble = viewer_state, ""
        self._lost_at, self._lost_seq = "", 0
        self.refresh()

    def take(self, frame: dict[str, Any]) -> None:
        """Note a change of the link, after the viewer's state has taken the frame."""
        if frame.get("seq") is not None or frame["event"] != LINK_CHANGED:
            return
        link, now = self._viewer_state.link, self._clock()
        self._retry_at = now + link.retry_in_s
        if link.state == Connection.CONNECTED:
            self._lost_at, self._healed_at = "", now
        elif not self._lost_at:
            self._lost_at, self._lost_seq = local_time(datetime.now(UTC).isoformat()), self._viewer_state.seq
        self.refresh()

    def complain(self, trouble: str) -> None:
        self._trouble = trouble
        self.refresh()

    @property
    def is_moving(self) -> bool:
        """Whether the line changes while time passes."""
        return self._url is not None and (bool(self._lost_at) or self._clock() - self._healed_at < 2 * HEALED_S)

    def _clock(self) -> float:
        return asyncio.get_running_loop().time()

    def render(self) -> Content:
        words, state = self.words, self._viewer_state
        if self._trouble:
            return plain_line(f"○ {self._trouble}", "red")
        is_linked = self._url is not None
        line = link_line(state, self._lost_at, self._retry_at - self._clock(), words, is_linked=is_linked)
        missed = state.seq - self._lost_seq
        if self._lost_seq and missed and not self._lost_at and self._clock() - self._healed_at < HEALED_S:
            line = Content.assemble(line, plain_line(f" · {words('resumed', count=missed)}", "bold"))
        asking = sum(entry.needs in ASKING for entry in self.entries if entry.session_id != self.session_id)
        if asking:
            line = Content.assemble(line, plain_line(f" · {words('inbox.others', count=asking)}", "bold yellow"))
        place = plain_line(f" · {self._url or words('attached')}", "dim")
        fits = line.cell_length + place.cell_length <= self.size.width
        return Content.assemble(line, place) if is_linked and fits else line
