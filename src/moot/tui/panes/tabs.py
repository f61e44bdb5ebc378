"""A line of tabs; the open tab is highlighted."""

from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from moot.tui.text.plain import Content, plain_line


class TabLine(Widget):
    """`tabs` are names with labels; `active` is the name of the open one."""

    tabs: reactive[tuple[tuple[str, str], ...]] = reactive(())
    active: reactive[str] = reactive("")

    class Picked(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def render(self) -> Content:
        labels = [
            plain_line(f" {label} ", "bold reverse" if name == self.active else "dim") for name, label in self.tabs
        ]
        return Content(" ").join(labels)

    def on_click(self, event: Click) -> None:
        left = 0
        for name, label in self.tabs:
            width = plain_line(f" {label} ").cell_length + 1
            if left <= event.x < left + width:
                self.post_message(self.Picked(name))
                return
            left += width
