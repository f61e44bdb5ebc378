"""The conversation: all items as wrapped lines, then the text of running turns and unsent messages.

Only the lines on the screen are drawn. The newest items are laid out at once, the older ones bit by bit. The view
follows the end, unless somebody scrolled up.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.session.tool_lines import tell_tool
from moot.core.view import RunningTurn, View
from moot.tui.binding import bind
from moot.tui.conversation.item_lines import INDENT, body, colour, is_foldable, item_lines
from moot.tui.text.plain import printable
from moot.tui.text.wrapping import wrap
from moot.tui.viewer_state import Item, Story, Stream, ViewerState
from moot.tui.words import Words

STREAM_LINES = 200  # the last lines of a running turn
AT_ONCE_S, REST_S = 0.02, 0.01  # how long older items are laid out in a row, and the pause before the next ones
SCREENS = 3  # of items that are laid out at once


class Conversation(ScrollView, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("copy", "copy"),
        bind("open", "pager"),
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter", "unfold", show=False),
    ]

    class Followed(Message):
        """The view moved: `unseen` items are below it. `is_following` is False while somebody reads older items."""

        def __init__(self, unseen: int, *, is_following: bool) -> None:
            super().__init__()
            self.unseen, self.is_following = unseen, is_following

    class Copied(Message):
        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    class Paged(Message):
        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._items: Sequence[Item] = ()
        self._view, self._words = View(), Words(DEFAULT_LANGUAGE)
        self._viewer_state = ViewerState()
        self._laid: list[tuple[Item, list[Text]]] = []  # the newest items with their lines
        self._starts: list[int] = []  # the first line of each of them
        self._height = 0  # of all of them
        self._laid_width = 0
        self._tail: list[Text] = []
        self._is_following = True
        self._is_waiting = False  # older items will be laid out
        self._count, self._seen = 0, 0
        self._chosen = 0  # seq of the selected item, 0 for none
        self._opened: set[int] = set()  # seqs of the items that are not folded

    # layout

    def show(self, story: Story, viewer_state: ViewerState, words: Words) -> None:
        view = viewer_state.view
        if view.members != self._view.members or words.language != self._words.language:
            self._laid = []
        self._items, self._count, self._view, self._words = story.items, story.count, view, words
        self._viewer_state = viewer_state
        self._lay_out_items()
        self._resize_content()

    @property
    def _width(self) -> int:
        return max(10, self.scrollable_content_region.width - 1)

    def _lay_out_items(self) -> None:
        """Lay out what is new or differs. Items that were never laid out come later, if there are many."""
        self._laid_width = self._width
        items, kept = self._items, {id(item): lines for item, lines in self._laid}
        first = len(items)
        missing = max(1, SCREENS * self.size.height)  # lines to lay out at once
        while first > 0 and (missing > 0 or id(items[first - 1]) in kept):
            first -= 1
            lines = kept.get(id(items[first])) or self._lay_out(items[first])
            kept[id(items[first])] = lines
            missing -= len(lines)
        self._laid = [(item, kept[id(item)]) for item in items[first:]]
        self._measure()
        self._lay_out_rest()
        self._tail = list(self._lay_out_tail(self._viewer_state, self._words))

    def _measure(self) -> None:
        *starts, height = accumulate((len(lines) for _, lines in self._laid), initial=0)
        self._starts, self._height = starts, height

    def _lay_out(self, item: Item) -> list[Text]:
        return item_lines(item, self._view, self._words, self._width, is_open=item.seq in self._opened)

    def _lay_out_rest(self) -> None:
        if len(self._laid) < len(self._items) and not self._is_waiting:
            self._is_waiting = True
            asyncio.get_running_loop().call_later(REST_S, self.call_later, self._lay_out_older)

    def _lay_out_older(self, seconds: float = AT_ONCE_S) -> None:
        """Lay out items above the first one that is; what is on the screen stays where it is."""
        self._is_waiting = False
        older, until = [], perf_counter() + seconds
        at = len(self._items) - len(self._laid)
        while at > 0 and perf_counter() < until:
            at -= 1
            older.append((self._items[at], self._lay_out(self._items[at])))
        added = sum(len(lines) for _, lines in older)
        self._laid = [*reversed(older), *self._laid]
        self._measure()
        self.virtual_size = Size(self.scrollable_content_region.width, self._height + len(self._tail))
        if self._is_following:
            self._follow()
        else:
            self.scroll_to(y=self.scroll_offset.y + added, animate=False, immediate=True)
        self._lay_out_rest()

    def _lay_out_tail(self, viewer_state: ViewerState, words: Words) -> Iterator[Text]:
        view = viewer_state.view
        for turn in view.running:
            stream = viewer_state.streams.get(turn.turn_id, Stream())
            yield Text()
            name = (printable(view.name(turn.member)), f"bold {colour(turn.member, view)}")
            yield from wrap(Text.assemble(name, "  ", (_doing(turn, stream, words), "dim")), self._width)
            yield from self._thinking(stream)
            yield from body(stream.text, self._width, is_growing=True)[-STREAM_LINES:] if stream.text else ()
        for message in viewer_state.unsent:
            yield Text()
            yield Text.assemble((words("you"), "bold"), "  ", (words("unsent_mark"), "yellow"))
            yield from body(message.text, self._width)
        if view.members and not (view.counters.messages or view.running or viewer_state.unsent):
            yield Text()
            hint = Text(INDENT + words("say_goal" if view.is_steered else "say_something"), "dim italic")
            yield from wrap(hint, self._width, len(INDENT))

    def _thinking(self, stream: Stream) -> Iterator[Text]:
        """Yield the last two lines of the current thought."""
        thought = " ".join(printable(stream.thinking).split())
        if thought:
            yield from wrap(Text(f"{INDENT}· {thought}", "dim italic"), self._width, 2 * len(INDENT))[-2:]

    # scrolling

    def _resize_content(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._height + len(self._tail))
        if self._is_following:
            self._seen = self._count
            self._follow()
        self.post_message(self.Followed(self._count - self._seen, is_following=self._is_following))
        self.refresh()

    def _follow(self) -> None:
        self.scroll_end(animate=False, immediate=True)

    def watch_show_vertical_scrollbar(self) -> None:
        """Follow the first lines beyond the screen: Textual scrolls nothing that has no scrollbar yet."""
        if self._is_following:
            self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y:
            self._is_following, self._seen = True, self._count
            self.post_message(self.Followed(0, is_following=True))
        elif new_value < old_value:
            self._is_following = False
            self.post_message(self.Followed(self._count - self._seen, is_following=False))

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Lay out everything again if the width has changed; what was read stays at the top."""
        if self._laid_width == self._width:
            self._resize_content()
            return
        top = self._item_at(self.scroll_offset.y)
        self._laid = []
        self._lay_out_items()
        self._resize_content()
        if not self._is_following and top:
            self.go_to(top.seq)

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
        if self._laid and self._laid[0][0].seq > seq:
            self._lay_out_older(float("inf"))
        line = next((line for line, (item, _) in zip(self._starts, self._laid, strict=True) if item.seq >= seq), None)
        if line is not None:
            self._is_following = False
            self.scroll_to(y=max(0, line - 1), animate=False)

    def _item_at(self, line: int) -> Item | None:
        at = bisect_right(self._starts, line) - 1
        return self._laid[at][0] if at >= 0 and line < self._height else None

    def render_line(self, y: int) -> Strip:
        at, width = y + self.scroll_offset.y, self.size.width
        shown: Text | None = None
        if at < self._height:
            number = bisect_right(self._starts, at) - 1
            item, lines = self._laid[number]
            shown = lines[at - self._starts[number]]
            if self.has_focus and item.seq == self._current_seq() and at == self._mark_line(number):
                shown = Text.assemble(("▸", "bold"), shown[1:] if shown.plain.startswith(" ") else shown)
        elif at - self._height < len(self._tail):
            shown = self._tail[at - self._height]
        if shown is None:
            return Strip.blank(width, self.rich_style)
        segments = [segment for segment in shown.render(self.app.console, end="") if segment.text]
        strip = Strip(segments).crop(0, width).extend_cell_length(width).apply_style(self.rich_style)
        return Strip(list(_on_background(strip, self.rich_style)), width)

    def _mark_line(self, number: int) -> int:
        """Return the line of an item that the mark stands on: its first one that is not empty."""
        return self._starts[number] + (0 if self._laid[number][1][0].plain else 1)

    # actions on an item

    def current(self) -> Item | None:
        """Return the selected item, else the last message or tool that begins on or above the screen."""
        items = self._selectable()
        chosen = next((item for _, item in items if item.seq == self._chosen), None)
        bottom = self.scroll_offset.y + self.size.height
        return chosen or next((item for line, item in reversed(items) if line < bottom), None)

    def _current_seq(self) -> int:
        current = self.current()
        return current.seq if current else 0

    def _selectable(self) -> list[tuple[int, Item]]:
        laid = zip(self._starts, self._laid, strict=True)
        return [(line, item) for line, (item, _) in laid if item.kind in ("message", "partial") or is_foldable(item)]

    def action_choose(self, by: int) -> None:
        items, current = self._selectable(), self.current()
        at = next((at for at, (_, item) in enumerate(items) if item is current), None)
        if at is not None:
            line, item = items[min(max(at + by, 0), len(items) - 1)]
            self._chosen = item.seq
            if not self.scroll_offset.y <= line < self.scroll_offset.y + self.size.height - 1:
                self.go_to(item.seq)
            self.refresh()

    def action_unfold(self) -> None:
        """Open or fold the selected tool or step; show a message in the pager."""
        item = self.current()
        if item and is_foldable(item):
            self.toggle(item)
        elif item:
            self.post_message(self.Paged(item))

    def toggle(self, item: Item) -> None:
        """Open an item or fold it again."""
        self._opened ^= {item.seq}
        self._chosen = item.seq
        self._laid = [(each, self._lay_out(each) if each is item else lines) for each, lines in self._laid]
        self._measure()
        self._is_following = False  # so that what was opened stays in sight
        self._resize_content()

    def on_click(self, event: Click) -> None:
        item = self._item_at(int(event.y) + self.scroll_offset.y)
        if item and is_foldable(item):
            self.toggle(item)

    def on_blur(self) -> None:
        self._chosen = 0
        self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def action_copy(self) -> None:
        if item := self.current():
            self.post_message(self.Copied(item))

    def action_pager(self) -> None:
        if item := self.current():
            self.post_message(self.Paged(item))


def _doing(turn: RunningTurn, stream: Stream, words: Words) -> str:
    """Return what a member does now: uses a tool, thinks, or writes."""
    if turn.tool and not turn.tool.is_over:
        return " ".join(printable(tell_tool(turn.tool, words.language)).split())
    return words("thinking" if stream.thinking else "writing")


def full_text(item: Item) -> str:
    """Return all that there is of an item: a message as it was written, the diffs and outputs of tools."""
    if not item.calls:
        return item.text
    return "\n\n".join([item.text, *(call.diff or call.output for call in item.calls)])


def _on_background(strip: Strip, background: Style) -> Iterator[Segment]:
    """Combine the style of each segment with the colours of the widget."""
    for segment in strip:
        yield Segment(segment.text, background + segment.style if segment.style else background)
