"""The text field for messages: several lines, history, completion of members and commands."""

from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.view import View
from moot.tui.completion import Completion, Offer, complete
from moot.tui.keys import Keys
from moot.tui.plain import Content, Line, plain_line
from moot.tui.words import Words

SCROLLS = ("pageup", "pagedown", "ctrl+home", "ctrl+end")
HISTORY = 200
_ALT_DIGITS = (
    *("inverted_exclamation_mark", "trade_mark_sign", "pound_sign", "cent_sign", "infinity"),
    *("section_sign", "pilcrow_sign", "bullet", "ª"),
)
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

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, show_line_numbers=False, soft_wrap=True, highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.view, self.words = View(), Words(DEFAULT_LANGUAGE)
        self.is_unaddressed = False
        self._keys = keys
        self._completion: Completion | None = None
        self._active = 0
        self._history: list[str] = []
        self._at = 0
        self._draft = ""

    def put(self, text: str) -> None:
        """Replace the text and move the cursor to its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def remember(self, text: str) -> None:
        """Add a text to the history, which the arrow keys go through."""
        self._history = [*(entry for entry in self._history if entry != text), text][-HISTORY:]
        self._at = len(self._history)

    # keys

    async def _on_key(self, event: Key) -> None:
        if self._press(event.key):
            event.prevent_default()
            event.stop()
            return
        await super()._on_key(event)

    def _press(self, key: str) -> bool:
        """Handle a key. Returns False if the text area should handle it."""
        if self._completion and self._press_in_offers(key):
            return True
        if key == "ctrl+d" and not self.text:
            self.post_message(self.Left())
        elif self.is_unaddressed and not self.text and (number := _read_alt_digit(key)) is not None:
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
            return False
        return True

    def _press_in_offers(self, key: str) -> bool:
        offers = self._completion.offers if self._completion else ()
        if key in ("up", "down"):
            self._active = (self._active + (1 if key == "down" else -1)) % len(offers)
            self.post_message(self.Offered(offers, self._active))
        elif key in ("tab", "enter"):
            self._accept(offers[self._active])
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
        if not self.has_focus:
            return
        self._offer(complete(self.text, self._caret(), self.view.members, self.words))

    def _caret(self) -> int:
        return int(self.document.get_index_from_location(self.cursor_location))  # type: ignore[attr-defined]

    def _offer(self, completion: Completion | None) -> None:
        if completion and self._is_recalling:
            completion = None
        self._completion, self._active = completion, 0
        self.post_message(self.Offered(completion.offers if completion else (), 0))

    def _accept(self, offer: Offer) -> None:
        completion = self._completion
        assert completion is not None  # noqa: S101 - only called while something is offered
        start = self.document.get_location_from_index(completion.start)  # type: ignore[attr-defined]
        self._completion = None
        self.replace(offer.insert, start, self.cursor_location)
        self._offer(None)


def _read_alt_digit(key: str) -> int | None:
    """Return 0 for Alt+1 and so on. Textual takes what terminals send for it as the characters of a Mac keyboard."""
    for number, name in enumerate(_ALT_DIGITS):
        if key in (name, f"alt+{number + 1}"):
            return number
    return None


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
