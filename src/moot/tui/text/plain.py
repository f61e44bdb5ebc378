"""Widgets that show text as it is. All text on the screen goes through this module.

Text of people, models and tools must never be read as markup. The widgets of Textual that read markup (Static, Label,
Button, OptionList, DataTable, Select …) are only used through these subclasses; tests/tui/test_markup.py checks that.
"""

from collections.abc import Iterable

from rich.text import Text
from textual.content import Content
from textual.widgets import Button as TextualButton
from textual.widgets import DataTable, OptionList, Select, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from moot.core.text import clean

__all__ = [
    "HEADING",
    "Button",
    "Chooser",
    "Content",
    "Entries",
    "Line",
    "Table",
    "Ticks",
    "plain",
    "plain_line",
    "printable",
]

HEADING = ""  # the key of an entry that cannot be chosen


def printable(text: str) -> str:
    """Remove control characters, and U+FE0F: terminals disagree about the width of characters that it follows."""
    return clean(text).replace("\t", "    ").replace("\ufe0f", "")


def plain(text: str, style: str = "") -> Content:
    """Return the text without markup, in a style."""
    shown = printable(text)
    return Content.styled(shown, style) if style else Content(shown)


def plain_line(text: str, style: str = "") -> Content:
    """Like `plain`, on one line."""
    return plain(" ".join(text.splitlines()), style)


class Line(Static):
    """Some text. `show` updates the widget only if the content differs."""

    def __init__(self, content: Content | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        self._shown = content or Content("")
        super().__init__(self._shown, id=id, classes=classes, markup=False)

    def show(self, content: Content) -> None:
        if not self._shown.is_same(content):
            self._shown = content
            self.update(content)

    @property
    def text(self) -> str:
        return self._shown.plain


class Button(TextualButton):
    def __init__(
        self,
        label: str,
        *,
        hint: str = "",
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(plain_line(f"{label} · {hint}" if hint else label), id=id, classes=classes, compact=True)

    def rename(self, label: str) -> None:
        self.label = plain_line(label)
        self.refresh(layout=True)


class Entries(OptionList):
    """A list to choose from. Each entry has a key, which is never shown; those with the key HEADING are headings."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False, compact=True)
        self._entries: list[tuple[str, Content]] = []

    def show(self, entries: Iterable[tuple[str, Content]]) -> bool:
        """Update the entries that differ; the highlighted key stays highlighted. Returns whether something changed."""
        wanted = list(entries)
        if len(wanted) == len(self._entries) and all(
            a[0] == b[0] and _is_same(a[1], b[1]) for a, b in zip(wanted, self._entries, strict=True)
        ):
            return False
        at = self.highlighted
        kept = self._entries[at][0] if at is not None and at < len(self._entries) else None
        if [key for key, _ in wanted[: len(self._entries)]] == [key for key, _ in self._entries]:
            for number, (old, new) in enumerate(zip(self._entries, wanted, strict=False)):
                if not _is_same(old[1], new[1]):
                    self.replace_option_prompt_at_index(number, new[1])
            self._add(wanted[len(self._entries) :])
        else:
            self.clear_options()
            self._add(wanted)
            keys = [key for key, _ in wanted]
            self.highlighted = keys.index(kept) if kept in keys else None
        self._entries = wanted
        return True

    def _add(self, entries: Iterable[tuple[str, Content]]) -> None:
        self.add_options([Option(content, disabled=key == HEADING) for key, content in entries])

    def find_key(self, index: int | None) -> str | None:
        return self._entries[index][0] if index is not None and 0 <= index < len(self._entries) else None


def _is_same(a: Content, b: Content) -> bool:
    return a is b or a.is_same(b)


class Chooser(Select[str]):
    """A list to choose one of some (label, value) pairs from."""

    def __init__(self, options: Iterable[tuple[str, str]], value: str, *, id: str | None = None) -> None:  # noqa: A002
        choices = [(plain_line(label), choice) for label, choice in options]
        super().__init__(choices, value=value, allow_blank=False, compact=True, id=id)


class Ticks(SelectionList[str]):
    """A list to choose any of some (label, value) pairs from."""

    def __init__(self, options: Iterable[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(*(Selection(plain_line(label), value) for label, value in options), id=id, compact=True)


class Table(DataTable[Text]):
    """Rows of cells with a text and a style."""

    def name_columns(self, labels: Iterable[str]) -> None:
        self.add_columns(*(Text(label) for label in labels))

    def show(self, rows: Iterable[Iterable[tuple[str, str]]], at: int) -> None:
        self.clear()
        for row in rows:
            self.add_row(*(Text(" ".join(printable(text).split()), style) for text, style in row))
        if self.row_count:
            self.move_cursor(row=min(max(at, 0), self.row_count - 1), animate=False)
