"""Which panes are shown beside the conversation, and how wide they are."""

from typing import Literal

from moot.tui.remembered import Layout

NARROW = 100  # columns below which there is one pane at a time
AMPLE = 170  # columns from which both panes are shown unless somebody hid them
TALK = 40  # columns that the conversation keeps
WIDTHS = {"sessions": (28, 40, 22), "inspector": (44, 64, 34)}
LEAST, MOST = 16, 120

Side = Literal["sessions", "inspector"]


class PaneLayout:
    """`kept` is what is remembered; None there means that nobody has chosen yet."""

    def __init__(self, kept: Layout) -> None:
        self.kept = kept
        self.columns = NARROW

    @property
    def is_narrow(self) -> bool:
        return self.columns < NARROW

    def has_talk(self, pane: str) -> bool:
        return not self.is_narrow or pane == "talk"

    def has_sessions(self, pane: str) -> bool:
        """Whether the sessions are shown: always if they have the focus, else if they are wanted and there is room."""
        if self.is_narrow or pane == "sessions":
            return pane == "sessions"
        return self._is_wanted(self.kept.has_sessions) and self._rest(pane, with_sessions=True) >= TALK

    def has_inspector(self, pane: str) -> bool:
        if self.is_narrow:
            return pane not in ("talk", "sessions")
        return pane not in ("talk", "sessions") or (
            self._is_wanted(self.kept.has_inspector) and self.columns - self.kept.inspector_width >= TALK
        )

    def _is_wanted(self, chosen: bool | None) -> bool:
        return self.columns >= AMPLE if chosen is None else chosen

    def _rest(self, pane: str, *, with_sessions: bool) -> int:
        taken = self.kept.inspector_width if self.has_inspector(pane) else 0
        return self.columns - taken - (self.kept.sessions_width if with_sessions else 0)

    def show(self, *, inspector: bool) -> None:
        self.kept.has_inspector = inspector

    def toggle(self) -> None:
        """Hide both panes if one is shown, else show both."""
        is_shown = self.has_sessions("talk") or self.has_inspector("talk")
        self.kept.has_sessions = self.kept.has_inspector = not is_shown

    def widen(self, side: Side) -> None:
        """Give a pane the next of its widths."""
        width, widths = self._width(side), WIDTHS[side]
        self._set(side, widths[(widths.index(width) + 1) % len(widths)] if width in widths else widths[0])

    def drag(self, side: Side, columns: int) -> None:
        self._set(side, self._width(side) + columns)

    def _width(self, side: Side) -> int:
        return self.kept.sessions_width if side == "sessions" else self.kept.inspector_width

    def _set(self, side: Side, width: int) -> None:
        width = max(LEAST, min(width, MOST, self.columns - TALK))
        if side == "sessions":
            self.kept.sessions_width = width
        else:
            self.kept.inspector_width = width
