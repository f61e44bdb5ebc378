"""The lines of a diff with one that is chosen, or several: what a comment is about."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from moot.tui.text.diff_rows import DiffRow, Shown, lay_out


class DiffLines(ScrollView, can_focus=True):
    """Only the lines on the screen are drawn. Up and down choose a line, Shift extends the choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", show=False),
        Binding("down", "go(1)", show=False),
        Binding("shift+up", "go(-1, True)", show=False),
        Binding("shift+down", "go(1, True)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "go(-1000000000)", show=False),
        Binding("end", "go(1000000000)", show=False),
    ]

    class ReachedEnd(Message):
        """The last line is chosen: there may be more to read."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: Sequence[DiffRow] = ()
        self.is_split = False
        self._path = ""
        self._commented: frozenset[int] = frozenset()  # lines of the new file
        self._lines: list[Shown] = []
        self._at = self._mark = 0

    def show(self, rows: Sequence[DiffRow], path: str, commented: frozenset[int], *, is_more: bool = False) -> None:
        """Show these rows from the top; with `is_more` they continue what is shown."""
        self.rows, self._path, self._commented = rows, path, commented
        self._lay_out()
        if not is_more:
            first = next((at for at, line in enumerate(self._lines) if rows[line.row].kind == "hunk"), 0)
            self._at = self._mark = min(first + 1, max(len(self._lines) - 1, 0))
            self.scroll_to(y=0, animate=False)
        self.refresh()

    def mark_commented(self, commented: frozenset[int]) -> None:
        self._commented = commented
        self.refresh()

    def toggle_split(self) -> None:
        """Change between one below the other and side by side; the chosen row stays chosen."""
        row = self._lines[self._at].row if self._lines else 0
        self.is_split = not self.is_split
        self._lay_out()
        self._at = self._mark = next((at for at, line in enumerate(self._lines) if line.row >= row), 0)
        self._keep_in_sight()

    @property
    def chosen(self) -> tuple[int, int] | None:
        """The first and last chosen row; None if none of them is a line of the file."""
        first, last = sorted((self._at, self._mark))
        found = [line.row for line in self._lines[first : last + 1] if self.rows[line.row].is_code]
        return (min(found), max(found)) if found else None

    def _lay_out(self) -> None:
        self._lines = lay_out(self.rows, self._path, self.scrollable_content_region.width - 2, is_split=self.is_split)
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._lines))

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        self._lay_out()
        self.refresh()

    def action_go(self, by: int, is_extended: bool = False) -> None:
        self._at = min(max(self._at + by, 0), max(len(self._lines) - 1, 0))
        if not is_extended:
            self._mark = self._at
        self._keep_in_sight()
        if self._at == len(self._lines) - 1:
            self.post_message(self.ReachedEnd())

    def action_page(self, by: int) -> None:
        self.action_go(by * max(self.size.height - 1, 1))

    def on_click(self, event: Click) -> None:
        self.focus()
        self._at = self._mark = min(event.y + self.scroll_offset.y, max(len(self._lines) - 1, 0))
        self.refresh()

    def _keep_in_sight(self) -> None:
        self.scroll_to_region(Region(0, self._at, 1, 1), animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at, width = y + self.scroll_offset.y, self.size.width
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[at]
        row = self.rows[line.row]
        is_chosen = self.has_focus and min(self._at, self._mark) <= at <= max(self._at, self._mark)
        sign = "▸" if is_chosen else "✎" if row.is_code and row.new in self._commented else " "
        text = Text.assemble((sign, "bold"), line.text)
        segments = [segment for segment in text.render(self.app.console, end="") if segment.text]
        style = self.rich_style + Style(reverse=True) if is_chosen else self.rich_style
        strip = Strip(segments).crop(0, width).extend_cell_length(width)
        return strip.apply_style(style)
