"""Telling somebody who looks elsewhere that a session needs them: alerts of the terminal, and its title."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moot.core.view import View
from moot.tui.alerts import Alert, write_alert, write_title
from moot.tui.hosts import Entry
from moot.tui.panes.link_line import ASKING

if TYPE_CHECKING:
    from moot.tui.terminal import MootApp


class Attention:
    """Keeps the title of the terminal, and sends `alerts` when something more waits for the person."""

    def __init__(self, app: "MootApp", alerts: tuple[Alert, ...]) -> None:
        self._app, self._alerts = app, alerts
        self._told: tuple[int, str] = (0, "")

    def notice(self, view: View, viewer: str | None, entries: Sequence[Entry], session_id: str) -> None:
        """Take note of what the open session and the others need."""
        count = sum(entry.needs in ASKING for entry in entries if entry.session_id != session_id)
        is_mine = view.waiting_for is not None and viewer in (None, view.waiting_for)
        count += bool(view.questions) or (is_mine and bool(view.counters.messages))
        title = view.title or view.team
        if (count, title) == self._told:
            return
        before, self._told = self._told[0], (count, title)
        name = f"({count}) {title} · Moot" if count else f"{title} · Moot"
        if count > before and view.members:
            words = self._app.words
            needs = view.questions[0].text if view.questions else words("live.your_turn")
            self._write(write_alert([each for each in self._alerts if each != "title"], name, needs))
        self._write(write_title(self._alerts, name))

    def _write(self, sequence: str) -> None:
        """Write to the terminal itself, if there is one."""
        driver = self._app._driver
        if sequence and driver is not None and not self._app.is_headless:
            driver.write(sequence)
