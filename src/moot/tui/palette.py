"""What the command palette offers."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from moot.core.session import commands
from moot.core.session.commands import HumanCommand

if TYPE_CHECKING:
    from moot.tui.terminal import MootApp


def list_commands(ui: "MootApp", by: str | None) -> Iterator[SystemCommand]:
    """Yield the commands of a session, said by the human `by`, and the actions of the screen with their keys."""
    words = ui.words
    sent: dict[str, HumanCommand] = {
        "queue.pause": commands.Pause(by=by),
        "queue.resume": commands.Resume(by=by),
        "queue.cancel": commands.Stop(by=by),
        "queue.skip": commands.ChangeQueue(action="skip", by=by),
        "queue.clear": commands.ChangeQueue(action="clear", by=by),
    }
    for key, command in sent.items():
        yield SystemCommand(words(key), words(f"{key}.hint"), lambda command=command: ui.send(command))
    yield SystemCommand(words("retry_turn"), "/retry", lambda: ui.send(commands.Retry(by=by)))
    yield SystemCommand(words("end_session"), "/end", lambda: ui.send(commands.End(by=by)))
    actions: dict[str, Callable[[], object]] = {
        "inbox": ui.action_inbox,
        "sessions": ui.action_find_session,
        "new_session": ui.action_new_session,
        "panes": ui.action_hide_panes,
        "resize": ui.action_resize_pane,
        "editor": ui.action_editor,
        "help": ui.action_help,
        "quit": ui.exit,
    }
    for name, action in actions.items():
        yield SystemCommand(words(f"command.{name}"), ui.keys.long(name), action)
    yield from ui.work_actions.list_commands()
    yield SystemCommand(words("command.theme"), words("command.theme.hint"), ui.action_change_theme)
