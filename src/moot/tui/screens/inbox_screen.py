"""What waits for you in all sessions: answered here, or opened."""

from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen

from moot.core.session.commands import Answer
from moot.tui.hosts import Waiting
from moot.tui.panes.panels import local_day
from moot.tui.text.plain import Button, Content, Entries, Line, plain, plain_line
from moot.tui.words import Words

MOST_OPTIONS = 9


class Chosen(Struct, frozen=True):
    """A session to open, or the answer to one of its questions."""

    session_id: str
    answer: Answer | None = None


class InboxScreen(ModalScreen[Chosen | None]):
    """Gives what was chosen, or None. A question is shown with a button for each of its options."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f8", "leave", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    class Answered(Message):
        """An option was chosen; the screen stays, for the next question."""

        def __init__(self, chosen: Chosen) -> None:
            super().__init__()
            self.chosen = chosen

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._items: list[Waiting] = []
        self._is_loaded = False
        self._open: Waiting | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="inbox"):
            yield Line(plain_line(self._words("inbox.title"), "bold"))
            yield Entries(id="waiting")
            with VerticalScroll(id="waiting-question"):
                yield Line(id="waiting-text")
                yield Vertical(classes="options")
            yield Line(id="waiting-hint")

    def on_mount(self) -> None:
        self._show()
        self.query_one("#waiting", Entries).focus()

    def on_resize(self) -> None:
        self._show()

    def take(self, items: list[Waiting]) -> None:
        """Show these items, of which the answered ones are gone."""
        self._items, self._is_loaded = items, True
        if self._open and self._open not in items:
            self._close_question()
        self._show()

    def _show(self) -> None:
        if not self.query("#waiting"):
            return  # the list came before the screen was ready
        words, shown = self._words, self.query_one("#waiting", Entries)
        self.query_one("#waiting-question").display = self._open is not None
        if not self._items:
            text = words("inbox.empty") if self._is_loaded else "…"
            shown.show([("", plain(text, "dim"))])
        else:
            width = max(20, shown.size.width - 2)
            shown.show((str(at), _row(item, words, width)) for at, item in enumerate(self._items))
            if shown.highlighted is None:
                shown.highlighted = 0
        hint = "inbox.answer" if self._open else "inbox.hint"
        self.query_one("#waiting-hint", Line).show(plain_line(words(hint), "dim"))

    async def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._items):
            item = self._items[event.option_index]
            if item.step_id and item.options and item.kind != "plan":  # a plan is read before it is approved
                await self._open_question(item)
            else:
                self.dismiss(Chosen(item.session_id))

    async def _open_question(self, item: Waiting) -> None:
        self._open = item
        self.query_one("#waiting-text", Line).show(plain(item.question or ""))
        options = self.query_one("#waiting-question .options")
        await options.remove_children()
        buttons = [
            Button(option.label or option.id, hint=option.description, id=f"option-{number}")
            for number, option in enumerate(item.options[:MOST_OPTIONS])
        ]
        await options.mount_all([*buttons, Button(self._words("inbox.open"), id="open")])
        self._show()
        buttons[0].focus()

    def _close_question(self) -> None:
        self._open = None
        self._show()
        self.query_one("#waiting", Entries).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        item, name = self._open, event.button.id or ""
        if item is None or item.step_id is None:
            return
        if name == "open":
            self.dismiss(Chosen(item.session_id))
        else:
            option = item.options[int(name.removeprefix("option-"))]
            answer = Answer(step_id=item.step_id, choice=option.id)
            self._close_question()
            self.post_message(self.Answered(Chosen(item.session_id, answer)))

    def action_leave(self) -> None:
        if self._open:
            self._close_question()
        else:
            self.dismiss(None)


def _row(item: Waiting, words: Words, width: int) -> Content:
    head = Content.assemble(
        plain_line(words(f"list.{item.kind}"), "bold yellow" if item.step_id else "bold"),
        plain_line(f"  {item.title or item.session_id}"),
        plain_line(f"  {local_day(item.since)}", "dim"),
    )
    question = plain_line(f"  {item.question}", "dim") if item.question else Content("")
    lines = [line.truncate(width, ellipsis=True) for line in (head, question) if line.plain]
    return Content("\n").join(lines)
