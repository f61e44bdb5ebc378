"""All that there is to know of a task, with buttons for what people can do with it."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen

from moot.core.session.commands import HumanCommand
from moot.tui.screens.diff_screen import Part
from moot.tui.text.plain import Button, Content, Line


class TaskScreen(ModalScreen[HumanCommand | Part | None]):
    """Gives what stands behind the button that was pressed, or None. `choices` are labels with what they mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f3", "dismiss", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(self, content: Content, choices: Mapping[str, HumanCommand | Part], close: str) -> None:
        super().__init__()
        self._content, self._choices, self._close = content, list(choices.items()), close

    def compose(self) -> ComposeResult:
        with Vertical(id="help"):
            with VerticalScroll(classes="what", can_focus=False):
                yield Line(self._content)
            with Horizontal(classes="buttons"):
                yield Button(self._close, id="close", classes="primary")
                for number, (label, _) in enumerate(self._choices):
                    yield Button(label, id=f"command-{number}")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        number = (event.button.id or "").removeprefix("command-")
        self.dismiss(self._choices[int(number)][1] if number.isdigit() else None)
