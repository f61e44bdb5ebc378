"""The panes beside the conversation: sessions on the left; timeline, tasks and state machines on the right."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message

from moot.core.flows.plan.plan_commands import CancelTask, RestartTask
from moot.core.session.commands import HumanCommand
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.tui import panels
from moot.tui.hosts import Entry
from moot.tui.job_panel import NO_TASK
from moot.tui.plain import Content, Entries, Line, plain, plain_line
from moot.tui.tabs import TabLine
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

INSPECTOR = ("timeline", "tasks", "state")


class SessionPane(Vertical):
    class Picked(Message):
        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def compose(self) -> ComposeResult:
        yield Line(id="list-head")
        yield Entries(id="sessions")

    def paint(self, entries: list[Entry], open_id: str, viewer_state: ViewerState, words: Words) -> None:
        self.query_one("#list-head", Line).show(plain_line(f"{words('sessions')}  ^n {words('list.new')}", "dim"))
        shown = self.query_one(Entries)
        width = shown.scrollable_content_region.width
        shown.show(panels.sessions(entries, open_id, viewer_state, words, width))

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        session_id = self.query_one(Entries).find_key(event.option_index)
        if session_id:
            self.post_message(self.Picked(session_id))


class TaskList(Entries):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "ask('restart')", show=False),
        Binding("c", "ask('cancel')", show=False),
    ]

    class Asked(Message):
        def __init__(self, command: HumanCommand) -> None:
            super().__init__()
            self.command = command

    def action_ask(self, what: str) -> None:
        task_id = self.find_key(self.highlighted)
        if task_id and not task_id.startswith(NO_TASK):
            command = RestartTask(task_id=task_id) if what == "restart" else CancelTask(task_id=task_id)
            self.post_message(self.Asked(command))


class InspectorPane(Vertical):
    """Timeline, tasks and state machines; only the open tab is painted."""

    class Opened(Message):
        """Somebody opened a task."""

        def __init__(self, details: Content) -> None:
            super().__init__()
            self.details = details

    class Jumped(Message):
        """Somebody chose an event: the conversation scrolls to it."""

        def __init__(self, seq: int) -> None:
            super().__init__()
            self.seq = seq

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.tab = "timeline"
        self._painted = (-1, "", "", 0)
        self._viewer_state: ViewerState | None = None
        self._words = Words(DEFAULT_LANGUAGE)

    def compose(self) -> ComposeResult:
        yield TabLine(id="inspector-tabs")
        yield Entries(id="timeline")
        with Vertical(id="tasks-pane"):
            yield Line(id="goal")
            yield TaskList(id="board")
            yield Line(id="task-hint")
        with VerticalScroll(id="states"):
            yield Line(id="machines")

    def on_mount(self) -> None:
        self.open_tab("timeline")

    def open_tab(self, tab: str) -> None:
        self.tab = tab
        for name, selector in zip(INSPECTOR, ("#timeline", "#tasks-pane", "#states"), strict=True):
            self.query_one(selector).display = name == tab

    def focus_tab(self) -> None:
        self.query_one({"timeline": "#timeline", "tasks": "#board", "state": "#states"}[self.tab]).focus()

    def paint(self, viewer_state: ViewerState, words: Words, is_linked: bool) -> None:
        self._viewer_state, self._words, view = viewer_state, words, viewer_state.view
        self.query_one("#inspector-tabs", TabLine).show({name: words(f"tab.{name}") for name in INSPECTOR}, self.tab)
        if self.tab == "timeline":
            self._paint_timeline(viewer_state, words)
        elif self.tab == "tasks":
            self.query_one("#goal", Line).show(panels.board_head(view, words))
            entries = self.query_one("#board", Entries)
            entries.show(panels.board(view, words, entries.size.width))
            has_tasks = bool(view.work and view.work.tasks)
            self.query_one("#task-hint", Line).show(plain(words("task.hint") if has_tasks else ""))
        else:
            self.query_one("#machines", Line).show(
                panels.machines(view, viewer_state.link.state if is_linked else None, words)
            )

    def _paint_timeline(self, viewer_state: ViewerState, words: Words) -> None:
        """Paint the timeline, and scroll to its end unless a row is selected."""
        painted = (viewer_state.timeline.version, str(id(viewer_state.timeline)), words.language, self.size.width)
        if painted == self._painted:
            return
        self._painted = painted
        entries = self.query_one("#timeline", Entries)
        is_chosen = entries.has_focus and entries.highlighted not in (None, entries.option_count - 1)
        state, width = viewer_state.teller.state, entries.size.width
        entries.show(panels.timeline(viewer_state.timeline.rows, state, words, width) if state else ())
        if not is_chosen:
            entries.scroll_end(animate=False)

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "timeline":
            seq = self.query_one("#timeline", Entries).find_key(event.option_index)
            self.post_message(self.Jumped(int(seq or 0)))
        elif self._viewer_state and self._viewer_state.view.work:
            task_id = self.query_one("#board", Entries).find_key(event.option_index)
            row = self._viewer_state.view.work.tasks.get(task_id or "")
            if row:
                self.post_message(self.Opened(panels.task_details(row, self._viewer_state.view, self._words)))
