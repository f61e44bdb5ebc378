"""What members did to their trees, and people who take it, or take a part of it back."""

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.effects import Effect, UseWorkspace
from moot.core.errors import Refused
from moot.core.machines.session import Status
from moot.core.session import steps
from moot.core.session.commands import Answer, Post
from moot.core.session.events import NoticePosted, StepAsked
from moot.core.session.state import State
from moot.core.session.team import Member
from moot.core.session.workspace import COMMIT, MAIN, FileChange, LineComment, TakeHow, Taking
from moot.core.session.workspace_commands import (
    Comment,
    FailJob,
    RemoveTrees,
    ReportChange,
    ReportEdits,
    ReportRemoved,
    ReportReverted,
    ReportTaken,
    ReportTree,
    Take,
    TakeWork,
    Undo,
    UndoWork,
    WorkspaceReport,
)
from moot.core.session.workspace_events import (
    CommentsSent,
    LinesCommented,
    TakeRequested,
    UndoRequested,
    WorkspaceChanged,
    WorkspaceFailed,
    WorkspaceOpened,
    WorkspaceRemoved,
    WorkspaceReverted,
    WorkspaceTaken,
)

TAKE = "take_work"
CHOICES: tuple[TakeHow, ...] = get_args(TakeHow)


class FileList:
    """The files of a change as a fact holds them: the first ones, and the line counts of all."""

    def __init__(self, files: Sequence[FileChange]) -> None:
        self.files = tuple(files[: limits.CHANGED_FILES])
        self.added = sum(change.added for change in files)
        self.removed = sum(change.removed for change in files)
        self.more = len(files) - len(self.files)


# what turns do


def open_tree(draft: Draft, report: ReportTree) -> None:
    """Log that a tree is ready, unless that is known."""
    known = draft.state.workspace.trees.get(report.tree)
    if known is None or known.is_removed:
        draft.add(
            WorkspaceOpened(
                tree=report.tree,
                branch=report.branch,
                base=report.base,
                task_id=report.task_id or None,
                turn_id=report.turn_id,
            )
        )


def change_tree(draft: Draft, member: str, report: ReportChange) -> None:
    """Log what a turn did to its tree, unless that is known."""
    known = draft.state.workspace.trees.get(report.tree)
    if known is None or known.commit == report.commit:
        return
    listed = FileList(report.files)
    draft.add(
        WorkspaceChanged(
            turn_id=report.turn_id,
            commit=report.commit,
            parent=report.parent,
            files=listed.files,
            member="" if report.is_outside else member,
            tree=report.tree,
            task_id=report.task_id or None,
            added=listed.added,
            removed=listed.removed,
            more=listed.more,
            total=report.total,
            is_outside=report.is_outside,
        )
    )


# what people do


def ask_to_take(draft: Draft) -> None:
    """Ask what is to become of the work, if there is some that nobody has taken."""
    workspace = draft.state.workspace
    is_asked = any(step.code == TAKE for step in draft.state.open_steps.values())
    if workspace.has_work and workspace.pending is None and not is_asked:
        steps.ask(draft, TAKE, CHOICES, kind="decision", detail=f"+{workspace.added} −{workspace.removed}")


def answer_take(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    choice = steps.read_choice(step, command)
    steps.close(draft, step, command, by, choice, steps.clean_answer(command))
    _request(draft, next(how for how in CHOICES if how == choice), by)


def take(draft: Draft, command: Take, by: Member | None) -> None:
    """Carry out `user.take`. A question about the same is withdrawn."""
    workspace = draft.state.workspace
    if not draft.team.has_trees:
        raise Refused("no_workspace")
    if workspace.pending:
        raise Refused("workspace_busy")
    is_kept = workspace.is_only_kept and command.how in ("apply", "merge")
    if not (workspace.has_work or is_kept or (command.how == "discard" and workspace.unmerged)):
        raise Refused("nothing_to_take")
    steps.supersede(draft, lambda step: step.code == TAKE)
    _request(draft, command.how, by)


def _request(draft: Draft, how: TakeHow, by: Member | None) -> None:
    if how == "discard":
        _check_idle(draft)
    number = draft.state.workspace.requests + 1
    draft.add(TakeRequested(how=how, number=number, member=by.id if by else None, at=draft.at))


def _check_idle(draft: Draft, *, is_task: bool = False) -> None:
    """Raise Refused if a member works in a tree that is about to change: undoing a task changes the main tree alone."""
    state = draft.state
    busy = [turn.member for turn in state.running] if is_task else _list_busy(state)
    if busy:
        raise Refused("still_running", who=draft.team.member(busy[0]).display_name)


def _list_busy(state: State) -> list[str]:
    """The members who work in any tree."""
    return [*(turn.member for turn in state.running), *state.slice.workers.values()]


def undo(draft: Draft, command: Undo, by: Member | None) -> None:
    """Carry out `user.undo`."""
    workspace = draft.state.workspace
    if not draft.team.has_trees:
        raise Refused("no_workspace")
    if workspace.pending:
        raise Refused("workspace_busy")
    if (command.turn_id is None) == (command.task_id is None):
        raise Refused("undo_what")
    _check_idle(draft, is_task=command.task_id is not None)
    tree = workspace.find(command.task_id) if command.task_id else None
    if command.task_id and (tree is None or not tree.is_merged):
        merged = tuple(tree.task_id for tree in workspace.trees.values() if tree.is_merged)
        raise Refused("task_not_merged", detail=command.task_id[:80], available=merged)
    draft.add(
        UndoRequested(
            number=workspace.requests + 1,
            turn_id=command.turn_id,
            task_id=command.task_id,
            member=by.id if by else None,
            at=draft.at,
        )
    )


def comment(draft: Draft, command: Comment, by: Member | None) -> Post | None:
    """Keep a comment on lines. Returns the message with all comments that were kept, when the last one has come.

    It quotes file, lines and hunk and is addressed to the members whose changes they are. Raises Refused.
    """
    workspace = draft.state.workspace
    words, path = text.clean(command.text).strip(), text.clean(command.path).strip()
    if not draft.team.has_trees:
        raise Refused("no_workspace")
    if text.is_blank(words):
        raise Refused("empty_message")
    if not re.search(COMMIT, command.commit):
        raise Refused("bad_field", detail="commit")
    if not 1 <= command.lines[0] <= command.lines[1]:
        raise Refused("bad_field", detail="lines")
    if len(path.splitlines()) != 1 or len(path) > limits.MESSAGE_CHARS:
        raise Refused("bad_field", detail="path")
    if len(workspace.comments) >= limits.COMMENTS:
        raise Refused("too_many_comments", limit=limits.COMMENTS)
    last = LineComment(
        commit=command.commit[: limits.NAME_CHARS],
        path=path,
        lines=command.lines,
        text=text.cut(words, limits.HISTORY_CHARS),
        hunk=text.cut(text.clean(command.hunk), limits.STEP_CHARS),
        to=workspace.authors.get(command.commit, ""),
    )
    draft.add(
        LinesCommented(
            commit=last.commit,
            path=last.path,
            lines=last.lines,
            text=last.text,
            hunk=last.hunk,
            member=by.id if by else None,
            to=last.to,
            is_last=command.is_last,
        )
    )
    return _write_message((*workspace.comments, last), by) if command.is_last else None


def send_comments(draft: Draft, by: Member | None, *, is_dropped: bool = False) -> Post | None:
    """Send the comments that were kept, or drop them. Returns the message. Raises Refused if there are none."""
    kept = draft.state.workspace.comments
    if not kept:
        raise Refused("no_comments")
    draft.add(CommentsSent(count=len(kept), is_dropped=is_dropped, member=by.id if by else None))
    return None if is_dropped else _write_message(kept, by)


def _write_message(kept: Sequence[LineComment], by: Member | None) -> Post:
    to = tuple(dict.fromkeys(each.to for each in kept if each.to))
    return Post(text="\n\n".join(map(_quote, kept))[: limits.MESSAGE_CHARS], to=to, by=by.id if by else None)


def _quote(comment: LineComment) -> str:
    """The comment below the place and the lines that it is about; markers in quoted lines do nothing."""
    quoted = [f"> {line}" for line in (comment.place, *comment.hunk.splitlines())]
    return "\n".join((*quoted, "", comment.text))  # without an empty line they are read as a part of the quotation


# what git reports


def obey(draft: Draft, report: WorkspaceReport) -> bool:
    """Log the end of a job that every flow has. Returns False if it is one of the flow's own."""
    workspace, pending = draft.state.workspace, draft.state.workspace.pending
    number = getattr(report, "number", 0)
    match report:
        case ReportEdits() if pending and pending.number == number and pending.how != "undo":
            change_tree(draft, "", _describe_edits(report))
        case ReportTaken() if pending and pending.number == number and pending.how != "undo":
            taken = WorkspaceTaken(
                how=pending.how,
                commit=report.commit,
                branch=report.branch,
                member=pending.by or None,
                number=number,
                restored=report.restored,
                total=report.total,
            )
            draft.add(taken)
        case ReportReverted() if pending and pending.number == number and pending.how == "undo":
            draft.add(
                WorkspaceReverted(
                    commit=report.commit,
                    parent=report.parent,
                    files=FileList(report.files).files,
                    turn_id=pending.turn_id or None,
                    task_id=pending.task_id or None,
                    tree=report.tree,
                    total=report.total,
                    member=pending.by or None,
                    number=number,
                )
            )
        case ReportRemoved() if not workspace.is_removed:
            draft.add(WorkspaceRemoved(trees=report.trees))
        case FailJob(what="take" | "undo") if pending and pending.number == number:
            fail(draft, report)
            if report.what == "take" and draft.state.status is not Status.COMPLETED:
                ask_to_take(draft)
        case FailJob(what="remove"):
            fail(draft, report)
        case ReportEdits() | ReportTaken() | ReportReverted() | ReportRemoved() | FailJob(what="take" | "undo"):
            raise Refused("stale_turn", detail=type(report).__name__)
        case _:
            return False
    return True


def _describe_edits(report: ReportEdits) -> ReportChange:
    """The same as a change of no turn."""
    return ReportChange(
        turn_id="",
        tree=MAIN,
        commit=report.commit,
        parent=report.parent,
        files=report.files,
        total=report.total,
        is_outside=True,
    )


def fail(draft: Draft, report: FailJob) -> None:
    """Log that git could not do something."""
    draft.add(
        WorkspaceFailed(
            what=report.what,
            detail=text.cut(text.clean(report.detail), limits.DETAIL_CHARS),
            task_id=report.task_id or None,
            files=report.files[: limits.CHANGED_FILES],
            number=report.number,
        )
    )


def warn_untaken(draft: Draft) -> None:
    """Say that the session ends with work that nobody has taken, and that it is kept."""
    workspace = draft.state.workspace
    if workspace.has_work:
        draft.add(NoticePosted(code="work_not_taken"))
    if workspace.unmerged:
        draft.add(NoticePosted(code="work_not_merged", names=workspace.unmerged))


def list_effects(state: State) -> Iterator[Effect]:
    """Yield what git has to do for the session as a whole."""
    workspace = state.workspace
    if workspace.pending:
        yield UseWorkspace(_find_job(state, workspace.pending))
    elif state.is_removing_trees:
        yield UseWorkspace(RemoveTrees(trees=tuple(workspace.trees)))


def _find_job(state: State, pending: Taking) -> TakeWork | UndoWork:
    """Return what git has to do for a person's request."""
    workspace, how = state.workspace, pending.how
    if how == "undo":
        return UndoWork(
            number=pending.number,
            at=pending.at,
            turn_id=pending.turn_id,
            task_id=pending.task_id,
            member=pending.by,
        )
    return TakeWork(
        number=pending.number,
        how=how,
        head=workspace.head,
        base=(workspace.received if how == "apply" else workspace.taken) or workspace.base,
        title=state.title,
        at=pending.at,
        member=pending.by,
        is_idle=how == "discard" or not _list_busy(state),
        moves_branch=any(tree.task_id for tree in workspace.trees.values()),
    )
