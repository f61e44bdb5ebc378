"""A screen that covers the others: the list of all keys, or a long text."""

from itertools import chain
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget

from moot.tui.keys import DEFAULTS, Keys
from moot.tui.text.plain import Line, plain
from moot.tui.words import Words

# The keys (`{action}` where they can be configured) and the name of the text `terminal.help.<name>`.
KEYS: tuple[tuple[str, str], ...] = (
    ("{send}", "send"),
    ("{newline}", "newline"),
    ("↑ ↓", "history"),
    ("@  [NEXT:  /", "mention"),
    ("{editor}", "editor"),
    ("{pause}", "pause"),
    ("{resume}", "resume"),
    ("Alt+1…9", "give"),
    ("{question}", "question"),
    ("{approve}  {edit}  {reject}", "answer"),
    ("Alt+↑  Alt+↓  Ctrl+S", "plan_editor"),
    ("{inbox}", "inbox"),
    ("{changes}", "changes"),
    ("{sessions}  {new_session}", "sessions"),
    ("{timeline}  {tasks}  {state}", "inspector"),
    ("{next_pane}  {previous_pane}", "panes"),
    ("{panes}  {resize}", "hide"),
    ("PgUp  PgDn  Home  End", "scroll"),
    ("Shift+Tab", "conversation"),
    ("Enter  {copy}  {open}", "message"),
    ("{palette}", "palette"),
    ("Ctrl+C Ctrl+C  Ctrl+D  {quit}", "quit"),
)


def list_help(words: Words, keys: Keys) -> list[tuple[str, str]]:
    """Return the current keys, and what they do."""
    all_keys = {action: keys.every(action) for action in DEFAULTS}
    return [(pressed.format(**all_keys), words(f"help.{name}")) for pressed, name in KEYS]


def help_table(words: Words, keys: Keys) -> Grid:
    """Return the keys in two columns, so that a long text is wrapped in its own."""
    lines = [(Line(plain(pressed, "bold")), Line(plain(text))) for pressed, text in list_help(words, keys)]
    return Grid(*chain.from_iterable(lines))


class HelpScreen(ModalScreen[None]):
    """Shows `content` until Esc, F1 or Enter is pressed. People open it themselves, so it takes the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter", "dismiss", show=False)]

    def __init__(self, content: Widget) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield self._content
