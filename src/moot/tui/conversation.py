"""The conversation: all items as wrapped lines, then the text of running turns and unsent messages.

Only the lines on the screen are drawn. The view follows the end, unless somebody scrolled up.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from moot.core.view import View
from moot.tui.binding import bind
from moot.tui.plain import printable
from moot.tui.prose import prose, wrap
from moot.tui.viewer_state import Item, Story, Stream, ViewerState
from moot.tui.words import Words

INDENT = "  "
RESULT = "    "
STREAM_LINES = 200  # the last lines of a running turn
COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
NOTES = {
    "→": "",
    "📋": "",
    "⚠": "yellow",
    "❌": "red",
    "✗": "red",
    "?": "bold yellow",
    "✓": "green",
    "⏸": "magenta",
    "■": "magenta",
}
_MARK = re.compile(r"\s*(?:(?:[^\w\s\"'(\[“「【（]{1,2}|\d{1,3}[.)])\s+)?")  # `  · `, `✓ `, `  1. `


def local_time(at: str) -> str:
    """Return the local time of a timestamp, or "" for none."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S") if at else ""


class Conversation(ScrollView, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("copy", "copy"),
        bind("open", "pager"),
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
    ]

    class Followed(Message):
        """The view moved: `unseen` items are below it. `is_following` is False while somebody reads older items."""

        def __init__(self, unseen: int, *, is_following: bool) -> None:
            super().__init__()
            self.unseen, self.is_following = unseen, is_following

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._items: Sequence[Item] = ()
        self._view = View()
        self._first, self._last = 0, 0  # seqs of the items in `_lines`
        self._lines: list[Text] = []
        self._places: list[tuple[int, Item]] = []  # first line of each item
        self._tail: list[Text] = []
        self._is_following = True
        self._count, self._seen = 0, 0
        self._chosen = 0  # seq of the selected message, 0 for none

    # layout

    def show(self, story: Story, viewer_state: ViewerState, words: Words) -> None:
        items, view = story.items, viewer_state.view
        first, last = (items[0].seq, items[-1].seq) if items else (0, 0)
        if first != self._first or last < self._last or view.members != self._view.members:
            self._lay_out_again(items, view)
        elif last > self._last:
            self._append((item for item in items if item.seq > self._last), view)
        self._items, self._first, self._last, self._count, self._view = items, first, last, story.count, view
        self._tail = list(self._lay_out_tail(viewer_state, words))
        if not view.counters.messages and not self._tail:
            self._tail = [
                Text(""),
                *self._wrap(
                    Text(INDENT + words("say_something" if view.flow == "chat" else "say_goal"), "dim italic"),
                    len(INDENT),
                ),
            ]
        self._resize_content()

    def _lay_out_again(self, items: Sequence[Item], view: View) -> None:
        self._lines, self._places = [], []
        self._append(items, view)

    def _append(self, items: Iterable[Item], view: View) -> None:
        for item in items:
            self._places.append((len(self._lines), item))
            self._lines += self._lay_out(item, view)

    def _lay_out(self, item: Item, view: View) -> list[Text]:
        if not item.name:
            return [line for part in printable(item.text).split("\n") for line in self._wrap(*note(part))]
        return [Text(""), *self._wrap(header(item, view)), *self._body(item.text)]

    def _body(self, message: str) -> list[Text]:
        lines = []
        for line in prose(printable(message)):
            text, below = Text.assemble(INDENT, line.text), f"{INDENT}{line.below}" if line.below else ""
            lines += self._wrap(text, len(INDENT) + line.hang, below)
        return lines

    def _wrap(self, text: Text, hang: int = 0, below: str = "") -> list[Text]:
        return wrap(text, max(10, self.scrollable_content_region.width - 1), hang, below)

    def _lay_out_tail(self, viewer_state: ViewerState, words: Words) -> Iterator[Text]:
        view = viewer_state.view
        for turn in view.running:
            stream = viewer_state.streams.get(turn.turn_id, Stream())
            yield Text("")
            name = (printable(view.name(turn.member)), f"bold {colour(turn.member, view)}")
            doing = words("thinking" if stream.thinking else "writing")
            yield from self._wrap(Text.assemble(name, "  ", (doing, "dim")))
            yield from self._steps(stream, words)
            yield from self._thinking(stream)
            yield from self._body(stream.text)[-STREAM_LINES:] if stream.text else ()
        for message in viewer_state.unsent:
            yield Text("")
            yield Text.assemble((words("you"), "bold"), "  ", (words("unsent_mark"), "yellow"))
            yield from self._body(message.text)

    def _steps(self, stream: Stream, words: Words) -> Iterator[Text]:
        for step in stream.steps[-3:]:
            for kind in ("thought", "action", "observation"):
                text = step.get(kind)
                if text:
                    line = " ".join(printable(text).split())
                    yield from self._wrap(Text(f"{INDENT}· {words(f'step.{kind}')} {line}", "dim"), 2 * len(INDENT))

    def _thinking(self, stream: Stream) -> Iterator[Text]:
        """Yield the last two lines of the current thought."""
        thought = " ".join(printable(stream.thinking).split())
        if thought:
            yield from self._wrap(Text(f"{INDENT}· {thought}", "dim italic"), 2 * len(INDENT))[-2:]

    # scrolling

    def _resize_content(self) -> None:
        height = len(self._lines) + len(self._tail)
        self.virtual_size = Size(self.scrollable_content_region.width, height)
        if self._is_following:
            self._seen = self._count
            self.scroll_end(animate=False, immediate=True)
        self.post_message(self.Followed(self._count - self._seen, is_following=self._is_following))
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y:
            self._is_following, self._seen = True, self._count
            self.post_message(self.Followed(0, is_following=True))
        elif new_value < old_value:
            self._is_following = False

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        if self._items:
            # the list may have grown since the last layout
            self._first, self._last = self._items[0].seq, self._items[-1].seq
            self._lay_out_again(self._items, self._view)
            self._resize_content()

    def scroll_by_key(self, key: str) -> None:
        scroll = {"pageup": self.scroll_page_up, "pagedown": self.scroll_page_down}.get(key)
        if scroll:
            scroll(animate=False)
        elif key.endswith("home"):
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def go_to(self, seq: int) -> None:
        """Scroll to the item of this event, or to the first one after it."""
        line = next((line for line, item in self._places if item.seq >= seq), None)
        if line is not None:
            self._is_following = False
            self.scroll_to(y=max(0, line - 1), animate=False)

    def render_line(self, y: int) -> Strip:
        at, width = y + self.scroll_offset.y, self.size.width
        shown = self._lines[at] if at < len(self._lines) else None
        if shown is None and at - len(self._lines) < len(self._tail):
            shown = self._tail[at - len(self._lines)]
        if shown is None:
            return Strip.blank(width, self.rich_style)
        if self.has_focus and (place := self.current()) and place[0] + 1 == at:  # the first line of a message is empty
            shown = Text.assemble(("▸", "bold"), shown)
        segments = [segment for segment in shown.render(self.app.console, end="") if segment.text]
        strip = Strip(segments).crop(0, width).extend_cell_length(width).apply_style(self.rich_style)
        return Strip(list(_on_background(strip, self.rich_style)), width)

    # actions on a message

    def current(self) -> tuple[int, Item] | None:
        """Return the selected message, else the last one that begins on or above the screen, with its first line."""
        bottom = self.scroll_offset.y + self.size.height
        messages = [place for place in self._places if place[1].name]
        chosen = [place for place in messages if place[1].seq == self._chosen]
        return next(iter(chosen), None) or next((place for place in reversed(messages) if place[0] < bottom), None)

    def action_choose(self, by: int) -> None:
        messages, at = [place for place in self._places if place[1].name], self.current()
        if at:
            line, item = messages[min(max(messages.index(at) + by, 0), len(messages) - 1)]
            self._chosen = item.seq
            if not self.scroll_offset.y <= line < self.scroll_offset.y + self.size.height - 1:
                self.go_to(item.seq)
            self.refresh()

    def on_blur(self) -> None:
        self._chosen = 0
        self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def action_copy(self) -> None:
        if at := self.current():
            self.post_message(self.Copied(at[1]))

    def action_pager(self) -> None:
        if at := self.current():
            self.post_message(self.Paged(at[1]))

    class Copied(Message):
        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    class Paged(Message):
        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item


def _on_background(strip: Strip, background: Style) -> Iterator[Segment]:
    """Combine the style of each segment with the colours of the widget."""
    for segment in strip:
        yield Segment(segment.text, background + segment.style if segment.style else background)


def colour(member_id: str, view: View) -> str:
    ids = [member.id for member in view.members]
    return COLOURS[ids.index(member_id) % len(COLOURS)] if member_id in ids else "white"


def header(item: Item, view: View) -> Text:
    name = " ".join(printable(item.name).split())
    to = f" → {', '.join(' '.join(printable(each).split()) for each in item.to)}" if item.to else ""
    return Text.assemble(
        (name, f"bold {colour(item.member, view)}"), to, (f"  {local_time(item.at)} #{item.seq}", "dim")
    )


def note(line: str) -> tuple[Text, int]:
    """Style a line of Moot by its sign; results and tasks are plain. Also returns the indent of wrapped lines."""
    style = next((style for sign, style in NOTES.items() if line.lstrip().startswith(sign)), "dim")
    mark, is_plain = _MARK.match(line), line.startswith(RESULT) or line.lstrip()[:1].isdigit()
    return Text(INDENT + line, "" if is_plain else style), len(INDENT) + (mark.end() if mark else 0)
