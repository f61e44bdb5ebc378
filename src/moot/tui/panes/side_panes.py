"""The panes beside the conversation: sessions on the left; timeline, tasks and state machines on the right."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.reactive import reactive

from moot.core.view import View
from moot.tui.hosts import Entry
from moot.tui.keys import Keys
from moot.tui.panes import panels
from moot.tui.panes.tabs import TabLine
from moot.tui.text.plain import Entries, Line, plain_line
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words, default_words

INSPECTOR = ("timeline", "tasks", "state")


class SessionPane(Vertical):
    """The list of sessions. `session_id` is the open one."""

    entries: reactive[tuple[Entry, ...]] = reactive(())
    session_id: reactive[str] = reactive("")
    view: reactive[View] = reactive(View)
    words: reactive[Words] = reactive(default_words)

    class Picked(Message):
        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keys

    def compose(self) -> ComposeResult:
        yield Line(id="list-head")
        yield Entries(id="sessions")

    def watch_entries(self) -> None:
        self._paint()

    def watch_session_id(self) -> None:
        self._paint()

    def watch_view(self, before: View, view: View) -> None:
        if (before.status, before.questions) != (view.status, view.questions):
            self._paint()

    def watch_words(self) -> None:
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        if not self.is_mounted:
            return
        words, shown = self.words, self.query_one(Entries)
        keys = " · ".join(
            [
                f"{self._keys.short('sessions')} {words('list.find')}",
                f"{self._keys.short('new_session')} {words('list.new')}",
            ]
        )
        self.query_one("#list-head", Line).show(plain_line(keys, "dim"))
        width = shown.scrollable_content_region.width
        shown.show(panels.sessions(self.entries, self.session_id, self.view, words, width))

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        session_id = self.query_one(Entries).find_key(event.option_index)
        if session_id:
            self.post_message(self.Picked(session_id))


class InspectorPane(Vertical):
    """Timeline, tasks and state machines; only the open tab is painted, and only if it is shown."""

    tab: reactive[str] = reactive("timeline")
    view: reactive[View] = reactive(View)
    version: reactive[int] = reactive(0)  # of the session as the viewer sees it
    words: reactive[Words] = reactive(default_words)

    class Opened(Message):
        """Somebody opened a task."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    class Jumped(Message):
        """Somebody chose an event: the conversation scrolls to it."""

        def __init__(self, seq: int) -> None:
            super().__init__()
            self.seq = seq

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._painted = (-1, 0, "", 0)
        self._viewer_state: ViewerState | None = None
        self._is_linked = False

    def compose(self) -> ComposeResult:
        yield TabLine(id="inspector-tabs")
        yield Entries(id="timeline")
        with Vertical(id="tasks-pane"):
            yield Line(id="goal")
            yield Entries(id="board")
            yield Line(id="task-hint")
        with VerticalScroll(id="states"):
            yield Line(id="machines")

    def follow(self, viewer_state: ViewerState, *, is_linked: bool) -> None:
        """Show this session from now on. `is_linked`: there is a connection whose state can be shown."""
        self._viewer_state, self._is_linked = viewer_state, is_linked
        self._paint()

    def on_mount(self) -> None:
        self.watch_tab()

    def watch_tab(self) -> None:
        for name, selector in zip(INSPECTOR, ("#timeline", "#tasks-pane", "#states"), strict=True):
            for widget in self.query(selector):
                widget.display = name == self.tab
        self._paint()

    def watch_words(self) -> None:
        self._paint()

    def watch_view(self) -> None:
        if self.tab != "timeline":
            self._paint()

    def watch_version(self) -> None:
        if self.tab == "timeline":
            self._paint()

    def on_resize(self) -> None:
        self._paint()

    def focus_tab(self) -> None:
        self.query_one({"timeline": "#timeline", "tasks": "#board", "state": "#states"}[self.tab]).focus()

    def _paint(self) -> None:
        if not (self.is_mounted and self.display and self._viewer_state):
            return
        view, words = self.view, self.words
        tabs = self.query_one("#inspector-tabs", TabLine)
        tabs.tabs, tabs.active = tuple((name, words(f"tab.{name}")) for name in INSPECTOR), self.tab
        if self.tab == "timeline":
            self._paint_timeline(self._viewer_state)
        elif self.tab == "tasks":
            self.query_one("#goal", Line).show(panels.board_head(view, words))
            entries = self.query_one("#board", Entries)
            entries.show(panels.board(view, words, entries.size.width))
            has_tasks = bool(view.work and view.work.tasks)
            self.query_one("#task-hint", Line).show(plain_line(words("task.hint") if has_tasks else "", "dim"))
        else:
            link = self._viewer_state.link.state if self._is_linked else None
            self.query_one("#machines", Line).show(panels.machines(view, link, words))

    def _paint_timeline(self, viewer_state: ViewerState) -> None:
        """Paint the timeline, and scroll to its end unless a row is selected."""
        entries = self.query_one("#timeline", Entries)
        width = entries.size.width
        painted = (viewer_state.timeline.version, id(viewer_state.timeline), self.words.language, width)
        if painted == self._painted:
            return
        self._painted = painted
        is_chosen = entries.has_focus and entries.highlighted not in (None, entries.option_count - 1)
        state = viewer_state.teller.state
        entries.show(panels.timeline(viewer_state.timeline.rows, state, self.words, width) if state else ())
        if not is_chosen:
            entries.scroll_end(animate=False)

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "timeline":
            seq = self.query_one("#timeline", Entries).find_key(event.option_index)
            self.post_message(self.Jumped(int(seq or 0)))
        else:
            task_id = self.query_one("#board", Entries).find_key(event.option_index)
            if task_id and self.view.work and task_id in self.view.work.tasks:
                self.post_message(self.Opened(task_id))
