"""The line between two panes, which can be dragged with the mouse."""

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.widget import Widget

from moot.tui.text.plain import Content


class Divider(Widget):
    """`Dragged` says by how many columns, to the right."""

    class Dragged(Message):
        def __init__(self, divider: "Divider", columns: int) -> None:
            super().__init__()
            self.divider, self.columns = divider, columns

    class Dropped(Message):
        """The mouse let go of it."""

    def render(self) -> Content:
        return Content("\n").join([Content("│")] * max(1, self.size.height))

    def on_mouse_down(self, event: MouseDown) -> None:
        event.stop()
        self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        if self.app.mouse_captured is self and event.delta_x:
            self.post_message(self.Dragged(self, event.delta_x))

    def on_mouse_up(self, event: MouseUp) -> None:
        event.stop()
        if self.app.mouse_captured is self:
            self.release_mouse()
            self.post_message(self.Dropped())
