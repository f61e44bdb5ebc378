"""What people do with the work in trees on the screen: look at what changed, take it, undo a task."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.app import SystemCommand

from moot.core.flows.plan.plan_commands import CancelTask, RestartTask
from moot.core.flows.plan.plan_view import TaskRow
from moot.core.intake import slash
from moot.core.session.commands import HumanCommand
from moot.core.session.taking import CHOICES
from moot.core.session.workspace_commands import Take, Undo
from moot.core.texts import render
from moot.core.view import View
from moot.tui.conversation.talk_pane import TalkPane
from moot.tui.screens.diff_screen import DiffScreen, Part
from moot.tui.words import Words

if TYPE_CHECKING:
    from moot.tui.terminal import MootApp


class WorkActions:
    """Opens and feeds the screen with the changes of a session."""

    def __init__(self, app: "MootApp", speaks_as: str | None) -> None:
        self._app = app
        self._speaks_as = speaks_as

    def obey(self, text: str) -> bool:
        """Carry out `/diff`, which opens a screen here and sends nothing. Returns whether the text is that command."""
        typed = slash.parse(text)
        view = self._app.viewer_state.view
        if typed is None or typed.name != "diff" or view.workspace is None:
            return False
        name = typed.argument.strip()
        if not name:
            self.show(Part())
        elif view.work and name in view.work.tasks:
            self.show(Part(task=name))
        else:
            self.show(Part(turn=f"t{name}" if name.isdigit() else name))
        return True

    def show(self, part: Part) -> None:
        """Open the screen with the changes; say so if the members of the session have no trees."""
        app, workspace = self._app, self._app.viewer_state.view.workspace
        if len(app.screen_stack) > 1:
            return
        if workspace:
            app.push_screen(DiffScreen(app.talk, self._send, part, app.words, workspace.comments))
        else:
            app.main.query_one(TalkPane).tell(render("session_without_changes", app.words.language))

    def _send(self, command: HumanCommand) -> None:
        self._app.send(replace(command, by=self._speaks_as))

    def follow(self, view: View) -> None:
        """Show comments as they are kept and sent."""
        if isinstance(self._app.screen, DiffScreen) and view.workspace:
            self._app.screen.take_comments(view.workspace.comments)

    def complain(self, sentence: str) -> None:
        if isinstance(self._app.screen, DiffScreen):
            self._app.screen.complain(sentence)

    def list_commands(self) -> Iterator[SystemCommand]:
        """Yield what the palette offers, if the session has trees."""
        app, words = self._app, self._app.words
        workspace = app.viewer_state.view.workspace
        if workspace is None:
            return
        yield SystemCommand(words("command.changes"), app.keys.long("changes"), lambda: self.show(Part()))
        for how in CHOICES if workspace.has_work else ():
            take = Take(how=how, by=self._speaks_as)
            yield SystemCommand(words(f"command.take.{how}"), f"/take {how}", lambda take=take: app.send(take))


def list_task_actions(row: TaskRow, words: Words) -> dict[str, HumanCommand | Part]:
    """Return what people can do with a task: a label and a command, or the part of the changes to show."""
    does: dict[str, HumanCommand | Part] = {
        words("task.retry"): RestartTask(task_id=row.id),
        words("task.cancel"): CancelTask(task_id=row.id),
    }
    if row.tree:
        does[words("task.changes")] = Part(task=row.id)
    if row.tree and row.tree.stage == "merged":
        does[words("task.undo")] = Undo(task_id=row.id)
    return does
