"""A line of tabs; the open tab is highlighted."""

from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from moot.tui.plain import Content, plain_line


class TabLine(Widget):
    class Picked(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._tabs: dict[str, str] = {}
        self._active = ""

    def show(self, tabs: dict[str, str], active: str) -> None:
        """Show `tabs` (name to label) and highlight the one named `active`."""
        if (tabs, active) != (self._tabs, self._active):
            self._tabs, self._active = tabs, active
            self.refresh()

    def render(self) -> Content:
        labels = [
            plain_line(f" {label} ", "bold reverse" if name == self._active else "dim")
            for name, label in self._tabs.items()
        ]
        return Content(" ").join(labels)

    def on_click(self, event: Click) -> None:
        left = 0
        for name, label in self._tabs.items():
            width = plain_line(f" {label} ").cell_length + 1
            if left <= event.x < left + width:
                self.post_message(self.Picked(name))
                return
            left += width
