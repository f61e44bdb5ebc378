"""The text field for messages: several lines, history, completion of members, files and commands."""

from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.view import View
from moot.tui.composer.completion import Completion, Offer, complete, wants_files
from moot.tui.keys import Keys
from moot.tui.remembered import Memory
from moot.tui.terminal_keys import ALIASES, read_digit
from moot.tui.text.plain import Content, Line, plain_line
from moot.tui.words import Words

SCROLLS = ("pageup", "pagedown", "ctrl+home", "ctrl+end")
OFFERS = 6


class Composer(TextArea):
    class Sent(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Ctrl+D was pressed in an empty field."""

    class Given(Message):
        """Alt and a digit were pressed in an empty field, while what was said last is for nobody."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class FilesWanted(Message):
        """The names of files could be offered, and none are known yet."""

    class Scrolled(Message):
        """A key that scrolls the conversation."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Offered(Message):
        """The completions to show; an empty tuple closes the list."""

        def __init__(self, offers: tuple[Offer, ...], active: int) -> None:
            super().__init__()
            self.offers, self.active = offers, active

    def __init__(self, keys: Keys, memory: Memory, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, show_line_numbers=False, soft_wrap=True, highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.view, self.words = View(), Words(DEFAULT_LANGUAGE)
        self.is_unaddressed = False
        self.files: tuple[str, ...] | None = None  # that can be completed; None: not known yet
        self._keys, self._memory = keys, memory
        self._completion: Completion | None = None
        self._completed = ("", 0)  # the text and the caret that the completion is for
        self._active = 0
        self._has_chosen = False  # somebody moved through the offers
        self._at = len(memory.history)
        self._draft = ""

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._place_cursor)

    def _place_cursor(self, *_: object) -> None:
        """Have the terminal's own cursor stand in the text: input methods open their window there."""
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    def put(self, text: str) -> None:
        """Replace the text and move the cursor to its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def remember(self, text: str) -> None:
        """Add a text to the history, which the arrow keys go through."""
        self._memory.remember(text)
        self._at = len(self._history)

    @property
    def _history(self) -> list[str]:
        return self._memory.history

    # keys

    async def _on_key(self, event: Key) -> None:
        if self._press(ALIASES.get(event.key, event.key)):
            event.prevent_default()
            event.stop()
            return
        await super()._on_key(event)

    def _press(self, key: str) -> bool:
        """Handle a key. Returns False if the text area should handle it."""
        if self._completion and self._press_in_offers(key):
            return True
        if key == "tab":
            pass  # leaving the field would have what is typed next go nowhere
        elif key == "ctrl+d" and not self.text:
            self.post_message(self.Left())
        elif self.is_unaddressed and not self.text and (number := read_digit(key)) is not None:
            self.post_message(self.Given(number))
        elif key in SCROLLS or (key in ("home", "end") and not self.text):
            self.post_message(self.Scrolled(key))
        elif key in self._keys["newline"] or (key == "enter" and self._ends_in_backslash()):
            self._break_line()
        elif key in self._keys["send"]:
            self._send()
        elif key == "up" and self.cursor_location[0] == 0 and self._history:
            self._recall(-1)
        elif key == "down" and self.cursor_location[0] == self.document.line_count - 1 and self._is_recalling:
            self._recall(1)
        else:
            return key.startswith("alt+")  # Textual would insert the letter
        return True

    def _press_in_offers(self, key: str) -> bool:
        """Handle a key while there are offers. Keys may be faster than the message that the text has changed."""
        if self._completed != (self.text, self._caret()):
            self._offer(self._complete())
        if self._completion is None:
            return False
        offers = self._completion.offers
        if key in ("up", "down"):
            self._active, self._has_chosen = (self._active + (1 if key == "down" else -1)) % len(offers), True
            self.post_message(self.Offered(offers, self._active))
        elif key == "tab" or (key == "enter" and (self._has_chosen or not self._completion.is_whole)):
            self._accept(self._completion, offers[self._active])
        elif key == "escape":
            self._offer(None)
        else:
            return False
        return True

    def _ends_in_backslash(self) -> bool:
        row, column = self.cursor_location
        return self.document.get_line(row)[:column].endswith("\\")

    def _break_line(self) -> None:
        if self._ends_in_backslash():
            self.action_delete_left()
        self.insert("\n")

    def _send(self) -> None:
        text = self.text
        self._offer(None)
        if text.strip():
            self.remember(text)
        self.text = ""
        self.post_message(self.Sent(text))

    @property
    def _is_recalling(self) -> bool:
        return self._at < len(self._history)

    def _recall(self, by: int) -> None:
        if not self._is_recalling:
            self._draft = self.text
        self._at = min(max(self._at + by, 0), len(self._history))
        self.put(self._history[self._at] if self._is_recalling else self._draft)
        self._offer(None)

    # completion

    def on_text_area_changed(self) -> None:
        if self.has_focus:
            self._offer(self._complete())

    def offer_files(self, files: tuple[str, ...]) -> None:
        """Offer these files from now on."""
        self.files = files
        self.on_text_area_changed()

    def _complete(self) -> Completion | None:
        text, caret = self.text, self._caret()
        if self.files is None and wants_files(text, caret):
            self.files = ()
            self.post_message(self.FilesWanted())
        return complete(text, caret, self.view.members, self.words, self.files or ())

    def _caret(self) -> int:
        # the base class of documents does not declare it, here and in `_accept`
        return int(self.document.get_index_from_location(self.cursor_location))  # type: ignore[attr-defined]

    def _offer(self, completion: Completion | None) -> None:
        if completion and self._is_recalling:
            completion = None
        self._completion, self._active, self._has_chosen = completion, 0, False
        self._completed = (self.text, self._caret())
        self.post_message(self.Offered(completion.offers if completion else (), 0))

    def _accept(self, completion: Completion, offer: Offer) -> None:
        start = self.document.get_location_from_index(completion.start)  # type: ignore[attr-defined]
        self._completion = None
        self.replace(offer.insert, start, self.cursor_location)
        self._offer(None)


class Offers(Line):
    """The list of completions above the composer."""

    def offer(self, offers: tuple[Offer, ...], active: int) -> None:
        first = max(0, min(active - OFFERS + 1, len(offers) - OFFERS))
        lines = [_offer_line(offer, first + at == active) for at, offer in enumerate(offers[first : first + OFFERS])]
        self.display = bool(lines)
        self.show(Content("\n").join(lines))


def _offer_line(offer: Offer, is_active: bool) -> Content:
    label = plain_line(offer.label, "bold reverse" if is_active else "bold")
    return Content("▸ " if is_active else "  ") + label + Content("  ") + plain_line(offer.hint, "dim")
