"""Finding a session by some letters of its title, what was said last, its project or its team."""

from pathlib import PurePath
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from moot.core.view import View
from moot.tui.fuzzy import find_fuzzy
from moot.tui.hosts import Entry
from moot.tui.panes import panels
from moot.tui.text.plain import Entries, Line, plain_line
from moot.tui.words import Words

MOST = 100
NEW = "+"  # the key of the entry that starts a session


class SessionSwitcher(ModalScreen[str | None]):
    """Gives the id of the session that was chosen, `NEW` for a new one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+o", "dismiss", show=False),
        Binding("down", "next", show=False, priority=True),
        Binding("up", "previous", show=False, priority=True),
    ]

    def __init__(self, entries: tuple[Entry, ...], open_id: str, view: View, words: Words) -> None:
        super().__init__()
        self._entries, self._open_id, self._view, self._words = entries, open_id, view, words

    def compose(self) -> ComposeResult:
        with Vertical(id="switcher"):
            yield Input(placeholder=self._words("switcher.find"), id="find", compact=True)
            yield Entries(id="found")
            yield Line(plain_line(self._words("switcher.hint"), "dim"))

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._find("")

    def on_resize(self) -> None:
        self._find(self.query_one(Input).value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._find(event.value)

    def _find(self, query: str) -> None:
        found = find_fuzzy(query.strip(), self._entries, _name, MOST)
        shown = self.query_one(Entries)
        width = max(20, shown.size.width - 2)
        rows = list(panels.sessions(found, self._open_id, self._view, self._words, width))
        rows += [] if query.strip() else [(NEW, plain_line(f"+ {self._words('new_session')}"))]
        shown.show(rows)
        shown.action_first()

    def action_next(self) -> None:
        self.query_one(Entries).action_cursor_down()

    def action_previous(self) -> None:
        self.query_one(Entries).action_cursor_up()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose(self.query_one(Entries).highlighted)

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        self._choose(event.option_index)

    def _choose(self, index: int | None) -> None:
        key = self.query_one(Entries).find_key(index)
        if key:
            self.dismiss(key)


def _name(entry: Entry) -> str:
    return f"{entry.title or entry.team} {entry.last} {PurePath(entry.folder).name or entry.team}"
