"""Slash commands about the work in trees: `/diff`, `/take`, `/undo`, `/comment`."""

import re

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.session import taking
from moot.core.session.commands import Post
from moot.core.session.events import NoticePosted
from moot.core.session.team import Member
from moot.core.session.workspace import MAIN, Workspace
from moot.core.session.workspace_commands import Comment, Take, Undo
from moot.core.texts import render

_COMMENT = re.compile(
    r"(?:\"(?P<quoted>[^\"]+)\"|(?P<path>\S+?)):(?P<first>\d{1,9})(?:[-–](?P<last>\d{1,9}))?\s+(?P<text>.+)", re.DOTALL
)
SEND, DROP = "send", "drop"


def tell_work(draft: Draft, argument: str, by: Member | None) -> None:  # noqa: ARG001 - one signature for all
    """Carry out `/diff`: say what changed in lines. Screens that can show the diff itself do not send it."""
    if not draft.team.has_trees:
        raise Refused("no_workspace")
    workspace = draft.state.workspace
    if not workspace.trees:
        raise Refused("session_without_changes")
    language = draft.state.language
    tasks = [
        f"{tree.task_id} +{tree.added} −{tree.removed}"
        + (f" ({render('workspace_in_whole', language)})" if tree.is_merged else "")
        for tree in workspace.trees.values()
        if tree.name != MAIN
    ]
    whole = f"+{workspace.added} −{workspace.removed}"
    draft.add(NoticePosted(code="work_so_far", detail=whole, names=tuple(tasks)))


def take(draft: Draft, argument: str, by: Member | None) -> None:
    """Carry out `/take`."""
    name = argument.strip().lower()
    how = next((each for each in taking.CHOICES if each == name), None)
    if how is None:
        raise Refused("take_how", detail=name[:80], available=taking.CHOICES)
    taking.take(draft, Take(how=how), by)


def undo(draft: Draft, argument: str, by: Member | None) -> None:
    """Carry out `/undo`: what it names is a task if one has that id, else a turn."""
    name = argument.strip()
    if not name:
        raise Refused("undo_which")
    is_task = draft.state.workspace.find(name) is not None
    taking.undo(draft, Undo(task_id=name) if is_task else Undo(turn_id=name), by)


def comment(draft: Draft, argument: str, by: Member | None) -> Post | None:
    """Carry out `/comment PATH:LINES TEXT`, and `/comment send` or `drop` for those that were kept.

    The comment is on the newest state of the work. Returns the message to send.
    """
    if argument.strip().lower() in (SEND, DROP):
        return taking.send_comments(draft, by, is_dropped=argument.strip().lower() == DROP)
    found = _COMMENT.fullmatch(argument.strip())
    if not found:
        raise Refused("bad_comment")
    first = int(found["first"])
    return taking.comment(
        draft,
        Comment(
            commit=_find_newest(draft.state.workspace),
            path=found["quoted"] or found["path"],
            lines=(first, int(found["last"] or first)),
            text=found["text"],
        ),
        by,
    )


def _find_newest(workspace: Workspace) -> str:
    return workspace.head if workspace.head != workspace.base else next(reversed(workspace.authors), "")
