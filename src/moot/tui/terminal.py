"""The terminal UI: sessions, conversation and composer, timeline, tasks and state machines on one screen.

Frames are applied as they arrive. At most ten times a second what has changed is published: the app sets its reactive
attributes, and the widgets that are bound to them paint themselves.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.containers import Horizontal
from textual.events import Key, Resize
from textual.reactive import reactive
from textual.screen import Screen
from textual.theme import ThemeProvider
from textual.widgets import Input, TextArea

from moot.client.link_errors import HistoryReset
from moot.core.errors import MootError, Refused
from moot.core.machines.session import Status
from moot.core.session import commands
from moot.core.session.commands import HumanCommand, Post
from moot.core.session.notices import explain
from moot.core.view import View
from moot.tui.alerts import Alert
from moot.tui.attaching import add_files
from moot.tui.attention import Attention
from moot.tui.binding import bind
from moot.tui.composer.composer import Composer
from moot.tui.composer.external_editor import edit_text
from moot.tui.composer.file_list import list_files
from moot.tui.conversation.conversation import Conversation, full_text
from moot.tui.conversation.pager import show_in_pager
from moot.tui.conversation.talk_pane import TalkPane
from moot.tui.hosts import Entry, Host, Talk
from moot.tui.keys import Keys
from moot.tui.palette import list_commands
from moot.tui.panes.divider import Divider
from moot.tui.panes.layout import PaneLayout
from moot.tui.panes.link_line import LinkLine
from moot.tui.panes.panels import task_details
from moot.tui.panes.side_panes import INSPECTOR, InspectorPane, SessionPane
from moot.tui.panes.tabs import TabLine
from moot.tui.panes.top_lines import KeyLine, QueueLine, StatusLine, is_paused, name_escape
from moot.tui.questions.plan_editor import PlanEditor
from moot.tui.remembered import Memory
from moot.tui.screens.diff_screen import Part
from moot.tui.screens.help import HelpScreen, help_table
from moot.tui.screens.inbox_screen import Chosen, InboxScreen
from moot.tui.screens.session_switcher import NEW, SessionSwitcher
from moot.tui.screens.task_screen import TaskScreen
from moot.tui.terminal_keys import teach_keys
from moot.tui.text.plain import Line, plain, printable
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words, default_words
from moot.tui.work_actions import WorkActions, list_task_actions

REPAINT_S, TICK_S, LIST_S = 0.1, 1.0, 3.0
AGAIN_S = 2.0  # within which a second Ctrl+C leaves
YIELD_FRAMES = 200  # applied in a row before other tasks may run
PANES = ("talk", *INSPECTOR, "sessions")
EPOCH = datetime.fromtimestamp(0, UTC)


class MootApp(App[None], inherit_bindings=False):
    TITLE = "Moot"
    CSS_PATH = "style.tcss"
    AUTO_FOCUS = "Composer"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("quit", "quit", priority=True),
        bind("pause", "pause"),
        bind("resume", "resume", priority=True),
        bind("help", "help", priority=True),
        bind("timeline", "pane('timeline')", priority=True),
        bind("tasks", "pane('tasks')", priority=True),
        bind("state", "pane('state')", priority=True),
        bind("next_pane", "next_pane(1)", priority=True),
        bind("previous_pane", "next_pane(-1)", priority=True),
        bind("panes", "hide_panes", priority=True),
        bind("resize", "resize_pane", priority=True),
        bind("question", "question", priority=True),
        bind("approve", "card('approve')", priority=True),
        bind("edit", "card('edit')", priority=True),
        bind("reject", "card('reject')", priority=True),
        bind("inbox", "inbox", priority=True),
        bind("changes", "changes", priority=True),
        bind("sessions", "find_session", priority=True),
        bind("new_session", "new_session"),
        bind("editor", "editor", priority=True),
        bind("palette", "command_palette", priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    view: reactive[View] = reactive(View)
    viewer: reactive[str | None] = reactive(None)
    version: reactive[int] = reactive(0)  # of the session as the viewer sees it
    words: reactive[Words] = reactive(default_words)
    now: reactive[datetime] = reactive(EPOCH)
    entries: reactive[tuple[Entry, ...]] = reactive(())
    session_id: reactive[str] = reactive("")
    is_scripted: reactive[bool] = reactive(False)

    def __init__(
        self,
        host: Host,
        talk: Talk,
        speaks_as: str | None = None,
        keys: Keys | None = None,
        memory: Memory | None = None,
        folder: Path | None = None,
        alerts: tuple[Alert, ...] = (),
    ) -> None:
        """
        Args:
            speaks_as: the human named on the command line.
            memory: what is remembered from one start to the next; nothing by default.
            folder: whose files can be completed; none by default.
            alerts: what the terminal is sent when something waits for the person.
        """
        teach_keys()
        super().__init__(ansi_color=False)
        self.animation_level = "none"  # animations would only delay the display
        self.host, self.talk, self.keys = host, talk, keys or Keys()
        self.memory = memory or Memory()
        self._speaks_as, self._folder = speaks_as, folder
        self.viewer_state = ViewerState(speaks_as)
        self.pane = "talk"
        self.pane_layout = PaneLayout(self.memory.layout)
        self.attention = Attention(self, alerts)
        self.work_actions = WorkActions(self, speaks_as)
        self._link_line = LinkLine(host.url, id="link")
        self._scripted: frozenset[str] = frozenset()
        self._is_dirty, self._painted_at = False, 0.0
        self._interrupted_at = -AGAIN_S

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield QueueLine(id="queue").data_bind(
                MootApp.view, MootApp.viewer, MootApp.words, MootApp.now, MootApp.is_scripted
            )
            yield StatusLine(id="status").data_bind(MootApp.view, MootApp.viewer, MootApp.words)
        yield Line(id="caption")
        yield TabLine(id="tabs")
        with Horizontal(id="main"):
            yield SessionPane(self.keys, id="list").data_bind(
                MootApp.entries, MootApp.session_id, MootApp.view, MootApp.words
            )
            yield Divider(id="left-divider")
            yield TalkPane(self.keys, self.memory, id="talk").data_bind(
                MootApp.view, MootApp.version, MootApp.words, MootApp.now
            )
            yield Divider(id="right-divider")
            yield InspectorPane(id="inspector").data_bind(MootApp.view, MootApp.version, MootApp.words)
        yield self._link_line.data_bind(
            MootApp.version, MootApp.words, MootApp.now, MootApp.entries, MootApp.session_id
        )
        yield KeyLine(self.keys, id="keys").data_bind(MootApp.view, MootApp.words)

    def on_mount(self) -> None:
        self.set_keymap(self.keys.keymap)
        if self.memory.layout.theme in self.available_themes:
            self.theme = self.memory.layout.theme
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.main.query_one(InspectorPane).tab = self.memory.layout.tab
        self.set_interval(TICK_S, self._tick)
        self.set_interval(LIST_S, self.list_sessions)
        self._show_talk(self.talk)
        self.list_sessions()
        self.find_scripted()

    @property
    def main(self) -> Screen[Any]:
        """The screen with the conversation, which others may cover."""
        return self.screen_stack[0]

    def _show_talk(self, talk: Talk) -> None:
        """Follow a session from its first event."""
        self.talk, self.session_id = talk, talk.id
        self.viewer_state = ViewerState(self._speaks_as)
        self.main.query_one(TalkPane).follow(self.viewer_state)
        self.main.query_one(InspectorPane).follow(self.viewer_state, is_linked=self.host.url is not None)
        self._link_line.follow(self.viewer_state)
        self.follow()

    # frames

    @work(exclusive=True, group="follow")
    async def follow(self) -> None:
        """Apply the frames of the session. If the server has another history, start again from its first event."""
        count, line = 0, self._link_line
        while True:
            try:
                async for frame in self.talk.frames():
                    self.viewer_state.take(frame)
                    line.take(frame)
                    self._mark_dirty()
                    count += 1
                    if count % YIELD_FRAMES == 0:
                        await asyncio.sleep(0)
            except HistoryReset:
                self.viewer_state.restart()
                self.viewer_state.is_reset = True
                self.talk = await self.host.open(self.talk.id)
            except MootError as error:
                line.complain(str(error))
                return
            else:
                return

    def _mark_dirty(self) -> None:
        """Schedule a repaint, at least REPAINT_S after the last one."""
        if not self._is_dirty:
            self._is_dirty = True
            wait_s = max(0.0, self._painted_at + REPAINT_S - self._clock())
            # not set_timer: Textual skips timers that are late, as they are on a busy machine
            asyncio.get_running_loop().call_later(wait_s, self.call_later, self.paint)

    def _clock(self) -> float:
        return asyncio.get_running_loop().time()

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def _tick(self) -> None:
        if self.viewer_state.view.running or self.viewer_state.view.questions or self._link_line.is_moving:
            self.now = self.utc_now()

    def paint(self) -> None:
        """Publish what has changed. Widgets paint what they show of it."""
        self._is_dirty, self._painted_at = False, self._clock()
        if not self.is_running or not self.screen_stack or not self.screen_stack[0].query("#talk"):
            return
        state = self.viewer_state
        if state.seq and state.view.language != self.words.language:
            self.words = Words(state.view.language)
        if state.view.running and not self.view.running:
            self.now = self.utc_now()
        self.viewer, self.view = state.viewer, state.view
        self.is_scripted = state.view.team in self._scripted
        self.version = state.version
        self._paint_tabs()
        self.work_actions.follow(self.view)
        self.attention.notice(self.view, self.viewer, self.entries, self.session_id)

    def watch_words(self) -> None:
        self._paint_tabs()

    def _paint_tabs(self) -> None:
        words = self.words
        labels = (("talk", "pane.talk"), *((name, f"tab.{name}") for name in INSPECTOR), ("sessions", "pane.sessions"))
        for line in self.screen_stack[0].query("#tabs").results(TabLine) if self.screen_stack else ():
            line.tabs, line.active = tuple((name, words(key)) for name, key in labels), self.pane

    # panes

    def on_resize(self, event: Resize) -> None:
        self.pane_layout.columns = event.size.width  # `self.size` may be outdated here
        self.main.set_class(self.pane_layout.is_narrow, "narrow")
        self.arrange()

    def arrange(self) -> None:
        """Show the panes that are wanted and fit."""
        main, layout, pane = self.main, self.pane_layout, self.pane
        main.query_one("#list").set_class(not layout.has_sessions(pane), "away")
        main.query_one("#left-divider").set_class(layout.is_narrow or not layout.has_sessions(pane), "away")
        main.query_one("#talk").set_class(not layout.has_talk(pane), "away")
        inspector = main.query_one(InspectorPane)
        inspector.set_class(not layout.has_inspector(pane), "away")
        main.query_one("#right-divider").set_class(layout.is_narrow or not layout.has_inspector(pane), "away")
        main.query_one("#list").styles.width = "1fr" if layout.is_narrow else layout.kept.sessions_width
        inspector.styles.width = "1fr" if layout.is_narrow else layout.kept.inspector_width
        self._paint_tabs()
        self._mark_dirty()

    def action_pane(self, name: str) -> None:
        """Go to a pane. The key of a pane that has the focus closes it."""
        inspector = self.main.query_one(InspectorPane)
        if name in INSPECTOR and name == self.pane and inspector.has_focus_within:
            self.pane_layout.show(inspector=False)
            name = "talk"
        self.pane = name
        if name in INSPECTOR:
            inspector.tab = self.memory.layout.tab = name
            self.pane_layout.show(inspector=True)
        self.arrange()
        self.memory.keep_layout()
        self.call_after_refresh(self._focus_pane)

    def _focus_pane(self) -> None:
        if self.pane == "talk":
            self.main.query_one(Composer).focus()
        elif self.pane == "sessions":
            self.main.query_one("#sessions").focus()
        else:
            self.main.query_one(InspectorPane).focus_tab()

    def action_next_pane(self, by: int) -> None:
        self.action_pane(PANES[(PANES.index(self.pane) + by) % len(PANES)])

    def action_hide_panes(self) -> None:
        """Give the conversation all of the width, or bring both panes back."""
        self.pane_layout.toggle()
        self.action_pane("talk")

    def action_resize_pane(self) -> None:
        self.pane_layout.widen("sessions" if self.pane == "sessions" else "inspector")
        self.arrange()
        self.memory.keep_layout()

    def on_divider_dragged(self, event: Divider.Dragged) -> None:
        is_left = event.divider.id == "left-divider"
        self.pane_layout.drag("sessions" if is_left else "inspector", event.columns if is_left else -event.columns)
        self.arrange()

    def on_divider_dropped(self) -> None:
        self.memory.keep_layout()

    def _keep_theme(self, _: object) -> None:
        self.memory.layout.theme = self.theme
        self.memory.keep_layout()

    @work(exclusive=True, group="list")
    async def list_sessions(self) -> None:
        try:
            self.entries = tuple(await self.host.sessions())
        except MootError:
            return  # shown in the line about the link
        self.attention.notice(self.view, self.viewer, self.entries, self.session_id)

    @work(group="scripted")
    async def find_scripted(self) -> None:
        try:
            self._scripted = await self.host.scripted_teams()
        except MootError:
            return
        self._mark_dirty()

    # sending

    def on_composer_left(self) -> None:
        self.exit()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if event.text.strip():
            self.say(event.text)

    def say(self, text: str) -> None:
        pane = self.main.query_one(TalkPane)
        pane.complain("")
        pane.go_to_end()  # who writes wants to see it, and what is said to it
        if self.work_actions.obey(text):
            return
        questions = self.viewer_state.view.questions
        step_id = questions[0].step_id if questions else None  # that of the card
        self.send(Post(text=text, by=self._speaks_as, step_id=step_id), text)

    def on_composer_given(self, event: Composer.Given) -> None:
        """Give what was said to nobody to the AI with this number."""
        ais = [member.id for member in self.viewer_state.view.members if not member.is_human]
        if event.number < len(ais):
            self.send(Post(text="", to=(ais[event.number],), by=self._speaks_as))

    @work(exclusive=True, group="files")
    async def on_composer_files_wanted(self) -> None:
        if self._folder:
            self.main.query_one(Composer).offer_files(await list_files(self._folder))

    def on_talk_pane_answered(self, event: TalkPane.Answered) -> None:
        self.send(event.answer)

    @work(group="send")
    async def send(self, command: HumanCommand, text: str = "") -> None:
        """Submit a command. If it is refused, show why, and put `text` back into the composer."""
        viewer_state, number = self.viewer_state, self.viewer_state.begin_sending(text) if text else 0
        self._mark_dirty()
        try:
            await self.talk.submit(await add_files(command, self.talk.attach, self.words, self._folder))
        except Refused as refusal:
            self._refuse(command, explain(refusal, self.words.language), text)
        except MootError as error:
            self._refuse(command, str(error), text)
        finally:
            viewer_state.end_sending(number)
            self._mark_dirty()

    def _refuse(self, command: HumanCommand, sentence: str, text: str) -> None:
        pane = self.main.query_one(TalkPane)
        if isinstance(command, commands.Answer):
            pane.refuse_answer(sentence)
        pane.complain(sentence, text)
        self.work_actions.complain(sentence)

    def action_changes(self) -> None:
        self.work_actions.show(Part())

    # keys

    def on_key(self, event: Key) -> None:
        """Have what is typed in a list, on a card or in the conversation go into the composer."""
        is_text = event.is_printable and event.character and not event.key.startswith("alt+")
        typing = (Input, TextArea)
        if not is_text or len(self.screen_stack) > 1 or isinstance(self.focused, typing) or self.main.query(PlanEditor):
            return
        composer = self.main.query_one(Composer)
        if not composer.disabled:
            event.stop()
            self.pane = "talk"
            self.arrange()
            self.main.set_focus(composer)  # at once: without the focus it would offer nothing for this key
            composer.insert(event.character or "")

    def action_pause(self) -> None:
        """Leave what is open (editor, card, pane); else stop the running turn of a chat, or pause the work.

        Work that is pausing is stopped: it may take long until its running steps have ended.
        """
        pane, view = self.main.query_one(TalkPane), self.viewer_state.view
        if pane.close_editor():
            return
        if pane.is_in_question or self.main.query_one(Conversation).has_focus:
            pane.composer.focus()
        elif self.pane != "talk":
            self.action_pane("talk")
        elif escape := name_escape(view):
            by = self._speaks_as
            self.send(commands.Pause(by=by, trigger="esc") if escape == "pause" else commands.Stop(by=by))
        else:
            pane.composer.focus()

    def action_resume(self) -> None:
        if is_paused(self.viewer_state.view):
            self.send(commands.Resume(by=self._speaks_as))

    def action_interrupt(self) -> None:
        """Ctrl+C: stop what runs and say how to leave; pressed twice it leaves."""
        view, now = self.viewer_state.view, self._clock()
        if now - self._interrupted_at < AGAIN_S:
            self.exit()
            return
        self._interrupted_at = now
        if view.status is Status.ACTIVE:
            self.send(commands.Stop(by=self._speaks_as))
        self.main.query_one(TalkPane).tell(self.words("leave_again"))

    def action_help(self) -> None:
        if len(self.screen_stack) == 1:
            self.push_screen(HelpScreen(help_table(self.words, self.keys)))

    def action_question(self) -> None:
        if self.pane != "talk":
            self.action_pane("talk")
        self.call_after_refresh(self.main.query_one(TalkPane).focus_question)

    def action_card(self, name: str) -> None:
        self.main.query_one(TalkPane).press_card(name)

    @work(exclusive=True, group="editor")
    async def action_editor(self) -> None:
        """Write the message in `$VISUAL` or `$EDITOR`. The session continues meanwhile."""
        composer = self.main.query_one(Composer)
        try:
            with self.suspend(), self.batch_update():
                written = await edit_text(composer.text)
        except SuspendNotSupported:
            written = None
        if written is None:
            self.main.query_one(TalkPane).complain(self.words("editor.failed"))
        else:
            composer.put(printable(written))
        composer.focus()

    def on_tab_line_picked(self, event: TabLine.Picked) -> None:
        self.action_pane(event.name)

    def on_inspector_pane_opened(self, event: InspectorPane.Opened) -> None:
        row = self.view.work.tasks.get(event.task_id) if self.view.work else None
        if row:
            details = task_details(row, self.view, self.words)

            def obey(chosen: HumanCommand | Part | None) -> None:
                if isinstance(chosen, Part):
                    self.work_actions.show(chosen)
                elif chosen:
                    self.send(chosen)

            self.push_screen(TaskScreen(details, list_task_actions(row, self.words), self.words("close")), obey)

    def on_inspector_pane_jumped(self, event: InspectorPane.Jumped) -> None:
        if self.pane_layout.is_narrow:
            self.action_pane("talk")
        self.main.query_one(Conversation).go_to(event.seq)

    def on_conversation_copied(self, event: Conversation.Copied) -> None:
        self.copy_to_clipboard(printable(full_text(event.item)))  # OSC 52
        self.main.query_one(TalkPane).tell(self.words("copied"))

    @work(exclusive=True, group="pager")
    async def on_conversation_paged(self, event: Conversation.Paged) -> None:
        """Show a message in the pager, or on a screen if there is none. The session continues meanwhile."""
        text = printable(full_text(event.item))
        try:
            with self.suspend(), self.batch_update():
                is_read = await show_in_pager(f"{text}\n")
        except SuspendNotSupported:
            is_read = False
        if not is_read:
            self.push_screen(HelpScreen(Line(plain(text))))

    def action_command_palette(self) -> None:
        if len(self.screen_stack) == 1:
            self.push_screen(CommandPalette(placeholder=self.words("palette.find"), id="--command-palette"))

    def search_themes(self) -> None:
        self.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=self.words("palette.themes")))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        return list_commands(self, self._speaks_as)

    # other sessions

    def on_session_pane_picked(self, event: SessionPane.Picked) -> None:
        if event.session_id != self.talk.id:
            self.switch(event.session_id)

    def action_new_session(self) -> None:
        self.switch(None)

    def action_find_session(self) -> None:
        def choose(key: str | None) -> None:
            if key and key != self.talk.id:
                self.switch(None if key == NEW else key)

        if len(self.screen_stack) == 1:
            self.push_screen(SessionSwitcher(self.entries, self.session_id, self.view, self.words), choose)

    def action_inbox(self) -> None:
        def choose(chosen: Chosen | None) -> None:
            if chosen and chosen.session_id != self.talk.id:
                self.switch(chosen.session_id)

        if len(self.screen_stack) == 1:
            self.push_screen(InboxScreen(self.words), choose)
            self.list_waiting()

    @work(exclusive=True, group="inbox")
    async def list_waiting(self) -> None:
        try:
            items = await self.host.inbox()
        except MootError:
            items = []
        if isinstance(self.screen, InboxScreen):
            self.screen.take(items)

    @work(group="send")
    async def on_inbox_screen_answered(self, event: InboxScreen.Answered) -> None:
        """Answer a question of any session, and show what is left."""
        chosen = event.chosen
        try:
            talk = self.talk if chosen.session_id == self.talk.id else await self.host.open(chosen.session_id)
            if chosen.answer:
                await talk.submit(chosen.answer)
        except Refused as refusal:
            self.main.query_one(TalkPane).complain(explain(refusal, self.words.language))
        except MootError as error:
            self.main.query_one(TalkPane).complain(str(error))
        self.list_waiting()
        self.list_sessions()

    @work(exclusive=True, group="switch")
    async def switch(self, session_id: str | None) -> None:
        try:
            talk = await (self.host.create() if session_id is None else self.host.open(session_id))
        except MootError as error:
            self.main.query_one(TalkPane).complain(str(error))
            return
        self._show_talk(talk)
        self._mark_dirty()
        self.list_sessions()
        self.action_pane("talk")
