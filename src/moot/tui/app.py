"""The terminal UI: sessions, conversation and composer, timeline, tasks and state machines on one screen.

Frames are applied as they arrive. The screen is painted at most ten times a second, and only what differs.
"""

import asyncio
import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, ClassVar

from textual import work
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.screen import Screen

from moot.client.link_errors import HistoryReset
from moot.core.errors import MootError, Refused
from moot.core.machines.connection import State as Connection
from moot.core.machines.session import Status
from moot.core.session import commands
from moot.core.session.commands import HumanCommand, Post
from moot.core.session.notices import explain
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.protocol.happenings import LINK_CHANGED
from moot.tui import top_lines
from moot.tui.binding import bind
from moot.tui.composer import Composer
from moot.tui.conversation import Conversation, local_time
from moot.tui.help import HelpScreen, help_content
from moot.tui.hosts import Entry, Host, Talk
from moot.tui.keys import Keys
from moot.tui.plain import Content, Line, plain, plain_line, printable
from moot.tui.side_panes import INSPECTOR, InspectorPane, SessionPane, TaskList
from moot.tui.tabs import TabLine
from moot.tui.talk_pane import TalkPane
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

REPAINT_S, TICK_S, LIST_S = 0.1, 1.0, 3.0
HEALED_S = 8.0  # how long the number of missed events is shown
AGAIN_S = 2.0  # within which a second Ctrl+C leaves
YIELD_FRAMES = 200  # applied in a row before other tasks may run
WIDE, ROOMY = 100, 116  # columns needed for panes side by side, and for the sessions too
PANES = ("talk", *INSPECTOR, "sessions")


async def _page(text: str) -> bool:
    """Show text in `$PAGER` (default: less) until it is closed. Returns False if the program cannot be started."""
    try:
        command = shlex.split(os.environ.get("PAGER") or "less")
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    except (OSError, ValueError, TypeError):  # the program is missing, or the command is empty or malformed
        return False
    with suppress(BrokenPipeError, ConnectionResetError):  # closed before it had read everything
        await process.communicate(text.encode())
    await process.wait()
    return True


class MootApp(App[None], inherit_bindings=False):
    TITLE = "Moot"
    CSS_PATH = "style.tcss"
    AUTO_FOCUS = "Composer"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("quit", "quit", priority=True),
        bind("pause", "pause"),
        bind("help", "help", priority=True),
        bind("timeline", "pane('timeline')", priority=True),
        bind("tasks", "pane('tasks')", priority=True),
        bind("state", "pane('state')", priority=True),
        bind("next_pane", "next_pane(1)", priority=True),
        bind("previous_pane", "next_pane(-1)", priority=True),
        bind("question", "question", priority=True),
        bind("new_session", "new_session"),
        bind("palette", "command_palette", priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(
        self,
        host: Host,
        talk: Talk,
        speaks_as: str | None = None,
        keys: Keys | None = None,
    ) -> None:
        super().__init__(ansi_color=False)
        self.animation_level = "none"  # animations would only delay the display
        self.host, self.talk, self.keys = host, talk, keys or Keys()
        self._speaks_as = speaks_as
        self.viewer_state = ViewerState(speaks_as)
        self.words = Words(DEFAULT_LANGUAGE)
        self.pane = "talk"
        self._columns = ROOMY
        self.trouble = ""  # why the session can no longer be followed
        self._entries: list[Entry] = []
        self._is_dirty, self._painted_at = False, 0.0
        self._lost_at, self._lost_seq, self._healed_at = "", 0, 0.0
        self._retry_at = 0.0
        self._interrupted_at = -AGAIN_S

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Line(id="queue")
            yield Line(id="status")
        yield Line(id="caption")
        yield TabLine(id="tabs")
        with Horizontal(id="main"):
            yield SessionPane(id="list")
            yield TalkPane(self.keys, id="talk")
            yield InspectorPane(id="inspector")
        yield Line(id="link")
        yield Line(id="keys")

    def on_mount(self) -> None:
        self.set_keymap(self.keys.keymap)
        self.set_interval(TICK_S, self._mark_dirty)
        self.set_interval(LIST_S, self.list_sessions)
        self.follow()
        self.list_sessions()

    # frames

    @work(exclusive=True, group="follow")
    async def follow(self) -> None:
        """Apply the frames of the session. If the server has another history, start again from its first event."""
        count = 0
        while True:
            try:
                async for frame in self.talk.frames():
                    self.viewer_state.take(frame)
                    self._note_link(frame)
                    self._mark_dirty()
                    count += 1
                    if count % YIELD_FRAMES == 0:
                        await asyncio.sleep(0)
            except HistoryReset:
                self.viewer_state.restart()
                self.viewer_state.is_reset = True
                self.talk = await self.host.open(self.talk.id)
            except MootError as error:
                self.trouble = str(error)
                self._mark_dirty()
                return
            else:
                return

    def _note_link(self, frame: dict[str, Any]) -> None:
        link = self.viewer_state.link
        if frame.get("seq") is None and frame["event"] == LINK_CHANGED:
            self._retry_at = self._now() + link.retry_in_s
            if link.state == Connection.CONNECTED:
                self._lost_at, self._healed_at = "", self._now()
            elif not self._lost_at:
                self._lost_at, self._lost_seq = local_time(top_lines.utc_now().isoformat()), self.viewer_state.seq

    def _mark_dirty(self) -> None:
        """Schedule a repaint, at least REPAINT_S after the last one."""
        if not self._is_dirty:
            self._is_dirty = True
            wait_s = max(0.0, self._painted_at + REPAINT_S - self._now())
            # not set_timer: Textual skips timers that are late, as they are on a busy machine
            asyncio.get_running_loop().call_later(wait_s, self.call_later, self.paint)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # painting

    def paint(self) -> None:
        self._is_dirty, self._painted_at = False, self._now()
        if not self.is_running or not self.query("#talk"):
            return
        view, viewer_state, now = self.viewer_state.view, self.viewer_state, top_lines.utc_now()
        if view.language != self.words.language and viewer_state.seq:
            self.words = Words(view.language)
        words = self.words
        self.query_one("#queue", Line).show(top_lines.queue_line(view, viewer_state.viewer, words, now))
        self.query_one("#status", Line).show(top_lines.status_line(view, viewer_state.viewer, words))
        left_s = self._retry_at - self._now()
        link = top_lines.link_line(viewer_state, self.host.url, self._lost_at, left_s, words)
        missed = viewer_state.seq - self._lost_seq
        if self._lost_seq and missed and not self._lost_at and self._now() - self._healed_at < HEALED_S:
            link = Content.assemble(link, plain_line(f" · {words('resumed', count=missed)}", "bold"))
        self.query_one("#link", Line).show(plain_line(f"○ {self.trouble}", "red") if self.trouble else link)
        keys = top_lines.key_line(words, self.keys, bool(view.questions), self.size.width - 2)
        self.query_one("#keys", Line).show(keys)
        labels = {name: words(f"tab.{name}") for name in INSPECTOR}
        tabs = {"talk": words("pane.talk"), **labels, "sessions": words("pane.sessions")}
        self.query_one("#tabs", TabLine).show(tabs, self.pane)
        self.query_one(TalkPane).paint(viewer_state, words, now)
        self.query_one(InspectorPane).paint(viewer_state, words, self.host.url is not None)
        self.query_one(SessionPane).paint(self._entries, self.talk.id, viewer_state, words)

    def on_resize(self, event: Resize) -> None:
        self._columns = event.size.width  # `self.size` may be outdated here
        self.screen.set_class(not self._is_wide, "narrow")
        self.arrange()

    @property
    def _is_wide(self) -> bool:
        return self._columns >= WIDE

    def arrange(self) -> None:
        """Show the panes that fit. Roomy: all three. Wide: the sessions only if chosen. Narrow: only the chosen one."""
        is_wide = self._is_wide
        self.query_one("#list").set_class(not (self._columns >= ROOMY or self.pane == "sessions"), "away")
        self.query_one("#talk").set_class(not (is_wide or self.pane == "talk"), "away")
        self.query_one("#inspector").set_class(not (is_wide or self.pane in INSPECTOR), "away")
        self._mark_dirty()

    @work(exclusive=True, group="list")
    async def list_sessions(self) -> None:
        try:
            self._entries = await self.host.sessions()
        except MootError:
            return  # shown in the line about the link
        self._mark_dirty()

    # sending

    def on_composer_left(self) -> None:
        self.exit()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if event.text.strip():
            self.say(event.text)

    def say(self, text: str) -> None:
        self.query_one(TalkPane).complain("")
        questions = self.viewer_state.view.questions
        step_id = questions[0].step_id if questions else None  # that of the card
        self.send(Post(text=text, by=self._speaks_as, step_id=step_id), text)

    def on_talk_pane_answered(self, event: TalkPane.Answered) -> None:
        self.send(event.answer)

    def on_task_list_asked(self, event: TaskList.Asked) -> None:
        self.send(event.command)

    @work(group="send")
    async def send(self, command: HumanCommand, text: str = "") -> None:
        """Submit a command. If it is refused, show why, and put `text` back into the composer."""
        viewer_state, number = self.viewer_state, self.viewer_state.begin_sending(text) if text else 0
        self._mark_dirty()
        try:
            await self.talk.submit(command)
        except Refused as refusal:
            self._refuse(command, explain(refusal, self.words.language), text)
        except MootError as error:
            self._refuse(command, str(error), text)
        finally:
            viewer_state.end_sending(number)
            self._mark_dirty()

    def _refuse(self, command: HumanCommand, sentence: str, text: str) -> None:
        pane = self.query_one(TalkPane)
        if isinstance(command, commands.Answer):
            pane.refuse_answer(sentence)
        pane.complain(sentence, text)

    # keys and commands

    def action_pause(self) -> None:
        """Leave what is open (editor, card, pane); else stop the running turn of a chat, or pause the work."""
        pane = self.query_one(TalkPane)
        if pane.close_editor():
            return
        if pane.is_in_question:
            pane.composer.focus()
            return
        if self.pane != "talk" and not self._is_wide:
            self.action_pane("talk")
        elif self.viewer_state.view.flow == "chat" and self.viewer_state.view.running:
            self.send(commands.Stop(by=self._speaks_as))
        elif self.viewer_state.view.running or (self.viewer_state.view.work and self.viewer_state.view.work.is_active):
            self.send(commands.Pause(by=self._speaks_as))
        else:
            pane.composer.focus()

    def on_composer_given(self, event: Composer.Given) -> None:
        """Give what was said to nobody to the AI with this number."""
        ais = [member.id for member in self.viewer_state.view.members if not member.is_human]
        if event.number < len(ais):
            self.send(Post(text="", to=(ais[event.number],), by=self._speaks_as))

    def action_interrupt(self) -> None:
        """Ctrl+C: stop what runs and say how to leave; pressed twice it leaves."""
        view, now = self.viewer_state.view, self._now()
        if now - self._interrupted_at < AGAIN_S:
            self.exit()
            return
        self._interrupted_at = now
        if view.status is Status.ACTIVE:
            self.send(commands.Stop(by=self._speaks_as))
        self.query_one(TalkPane).tell(self.words("leave_again"))

    def action_help(self) -> None:
        self.push_screen(HelpScreen(help_content(self.words, self.keys)))

    def action_pane(self, name: str) -> None:
        self.pane = name
        inspector = self.query_one(InspectorPane)
        if name in INSPECTOR:
            inspector.open_tab(name)
        self.arrange()
        if name == "talk":
            self.query_one(Composer).focus()
        elif name == "sessions":
            self.query_one("#sessions").focus()
        else:
            inspector.focus_tab()

    def action_next_pane(self, by: int) -> None:
        self.action_pane(PANES[(PANES.index(self.pane) + by) % len(PANES)])

    def action_question(self) -> None:
        if self.pane != "talk":
            self.action_pane("talk")
        self.query_one(TalkPane).focus_question()

    def on_tab_line_picked(self, event: TabLine.Picked) -> None:
        self.action_pane(event.name)

    def on_talk_pane_repaint(self) -> None:
        self._mark_dirty()

    def on_inspector_pane_opened(self, event: InspectorPane.Opened) -> None:
        self.push_screen(HelpScreen(event.details))

    def on_inspector_pane_jumped(self, event: InspectorPane.Jumped) -> None:
        if not self._is_wide:
            self.action_pane("talk")
        self.query_one(Conversation).go_to(event.seq)

    def on_conversation_copied(self, event: Conversation.Copied) -> None:
        self.copy_to_clipboard(printable(event.item.text))  # OSC 52
        self.query_one(TalkPane).tell(self.words("copied"))

    @work(exclusive=True, group="pager")
    async def on_conversation_paged(self, event: Conversation.Paged) -> None:
        """Show a message in the pager, or on a screen if there is none. The session continues meanwhile."""
        text = printable(event.item.text)
        try:
            with self.suspend(), self.batch_update():
                is_read = await _page(f"{text}\n")
        except SuspendNotSupported:
            is_read = False
        if not is_read:
            self.push_screen(HelpScreen(plain(text)))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        words, by = self.words, self._speaks_as
        sent: dict[str, HumanCommand] = {
            "queue.pause": commands.Pause(by=by),
            "queue.resume": commands.Resume(by=by),
            "queue.cancel": commands.Stop(by=by),
            "queue.skip": commands.ChangeQueue(action="skip", by=by),
            "queue.clear": commands.ChangeQueue(action="clear", by=by),
        }
        for key, command in sent.items():
            yield SystemCommand(words(key), words(f"{key}.hint"), lambda command=command: self.send(command))
        yield SystemCommand(words("retry_turn"), "/retry", lambda: self.send(commands.Retry(by=by)))
        yield SystemCommand(words("end_session"), "/end", lambda: self.send(commands.End(by=by)))
        keys = self.keys
        yield SystemCommand(words("new_session"), keys.long("new_session"), self.action_new_session)
        yield SystemCommand(words("help.title"), keys.long("help"), self.action_help)
        yield SystemCommand(words("key.quit"), keys.long("quit"), self.exit)

    # other sessions

    def on_session_pane_picked(self, event: SessionPane.Picked) -> None:
        if event.session_id != self.talk.id:
            self.switch(event.session_id)

    def action_new_session(self) -> None:
        self.switch(None)

    @work(exclusive=True, group="switch")
    async def switch(self, session_id: str | None) -> None:
        try:
            talk = await (self.host.create() if session_id is None else self.host.open(session_id))
        except MootError as error:
            self.query_one(TalkPane).complain(str(error))
            return
        self.talk, self.trouble = talk, ""
        self.viewer_state = ViewerState(self._speaks_as)
        self.follow()
        self.list_sessions()
        self.action_pane("talk")
