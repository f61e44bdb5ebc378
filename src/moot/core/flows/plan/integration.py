"""How the work of a task becomes part of the whole: checks, review, and a queue that merges one task at a time.

A task with a tree of its own is not done when its executor says so. `TaskRun.gate` is where it stands: `check` while
the check commands run, `checked` when they passed, `merge` while it waits in the queue or is merged, `conflict` while
people are asked. What does not pass goes back to the same executor, in the same tree, with the reason.
"""

from collections.abc import Iterator, Sequence

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.plan import questions, recovery
from moot.core.flows.plan.jobs import work_of
from moot.core.flows.plan.plan_events import TaskSentBack
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_freed
from moot.core.flows.turns import TreeVisit
from moot.core.machines import task
from moot.core.session import taking
from moot.core.session.events import NoticePosted
from moot.core.session.state import State, Turn
from moot.core.session.team import Member
from moot.core.session.workspace import MAIN
from moot.core.session.workspace_commands import (
    FailJob,
    MergeTask,
    ReportChecks,
    ReportConflict,
    ReportMerge,
    WorkspaceReport,
)
from moot.core.session.workspace_events import (
    WorkspaceChecked,
    WorkspaceConflicted,
    WorkspaceMerged,
    WorkspaceQueued,
    WorkspaceResolved,
)
from moot.core.texts import render

_BETWEEN = " ,，\t\n"  # the names of files in an answer


def find_gate(draft: Draft, run: TaskRun) -> str:
    """Return where a task stands when its executor has finished; empty if it has no tree of its own."""
    if not run.tree:
        return ""
    return "check" if draft.team.workspace.checks else "checked"


def choose_tree(draft: Draft, run: TaskRun, member: Member) -> str:
    """Return the name of the tree that a member gets for a task; empty if it changes no files."""
    if run.tree or not (draft.team.has_trees and member.edits):
        return run.tree
    named = {each.tree for each in work_of(draft).tasks.values() if each.tree}
    name, number = draft.state.workspace.name_for(run.task.id), 1
    while name in named:
        number += 1
        name = f"{run.task.id}-{number}"
    return name


def list_queue(work: Work) -> list[TaskRun]:
    """Return the tasks that wait to be merged, in the order in which they became ready."""
    waiting = [run for run in work.tasks.values() if run.gate == "merge" and not run.is_over]
    return sorted(waiting, key=lambda run: run.queued)


def enqueue(draft: Draft, task_id: str) -> None:
    """Have the work of a task merged when it is its turn."""
    work = work_of(draft)
    place = len(list_queue(work)) + 1
    draft.add(WorkspaceQueued(task_id=task_id, place=place, number=work.counts.merges + 1, queued_at=draft.at))


def describe_merge(run: TaskRun, checked: str) -> MergeTask:
    """Return what git is to do for the first task of the queue. `checked` is what passed the checks."""
    return MergeTask(
        task_id=run.task.id,
        tree=run.tree,
        title=run.task.title,
        number=run.queued,
        at=run.queued_at,
        member=run.member,
        checked=checked,
        side=run.side,
        files=run.side_files,
    )


# where members work


def visit_tree(run: TaskRun) -> TreeVisit:
    """Return where an executor works: the task's own tree, or the whole if it changes no files."""
    return TreeVisit(
        tree=run.tree or MAIN,
        key=f"{run.tree}.{run.attempt}" if run.tree else run.dispatch_id or "",
        task_id=run.task.id if run.tree else "",
        started_at=run.offered_at,
        seq=run.seq,
        writes=bool(run.tree),
        moves_branch=True,
    )


def visit_for_job(state: State, work: Work, turn: Turn) -> TreeVisit:
    """Return where planners, reviewers and aggregators look: a reviewer at the task's tree, the others at the whole."""
    run = work.tasks.get(turn.task_id) if turn.job == "review" else None
    tree = run.tree if run else ""
    writes = turn.job == "aggregate" and state.team.member(turn.member).edits  # nothing else runs then
    return TreeVisit(
        tree=tree or MAIN,
        key=turn.turn_id,
        task_id=turn.task_id if tree else "",
        started_at=turn.started_at,
        seq=turn.seq,
        writes=writes,
        moves_branch=writes,
        wants_diff=turn.job in ("review", "aggregate", "review_answer"),
    )


# what git reports


def obey(draft: Draft, report: WorkspaceReport) -> None:
    """Take the report of a check or a merge. Raises Refused if the task does not wait for it any more."""
    match report:
        case ReportChecks(stage="task"):
            _receive_checks(draft, _find(draft, report.task_id, "check"), report)
        case ReportChecks():
            _receive_checks(draft, _find(draft, report.task_id, "merge", report.number), report)
        case ReportMerge():
            _receive_merge(draft, _find(draft, report.task_id, "merge", report.number), report)
        case ReportConflict():
            _receive_conflict(draft, _find(draft, report.task_id, "merge", report.number), report)
        case FailJob(what="check" | "merge"):
            run = _find(draft, report.task_id, report.what, report.number if report.what == "merge" else 0)
            taking.fail(draft, report)
            _give_up(draft, run, "workspace", report.detail)
        case _:
            raise Refused("stale_turn", detail=type(report).__name__)


def _find(draft: Draft, task_id: str, gate: str, number: int = 0) -> TaskRun:
    run = work_of(draft).tasks.get(task_id)
    if run is None or run.gate != gate or run.is_over or (number and run.queued != number):
        raise Refused("stale_turn", detail=task_id)
    return run


def _receive_checks(draft: Draft, run: TaskRun, report: ReportChecks) -> None:
    total = report.total
    for n, check in enumerate(report.checks, 1):
        draft.add(
            WorkspaceChecked(
                command=check.command,
                exit=check.exit,
                tail=text.clean(check.tail)[-limits.CHECK_TAIL_CHARS :],
                task_id=run.task.id,
                turn_id=report.turn_id or None,
                n=n,
                total=total,
                stage=report.stage,
                files=report.files,
            )
        )
    if not report.checks:  # the team file names none any more
        done = WorkspaceChecked(command="", exit=0, tail="", task_id=run.task.id, n=0, total=0, stage=report.stage)
        draft.add(done)
        return
    failed = report.checks[-1]
    if failed.exit:
        output = text.clean(failed.tail)[-limits.CHECK_TAIL_CHARS :]
        code = "feedback.checks_failed" if report.stage == "task" else "feedback.merged_checks_failed"
        feedback = render(code, draft.state.language, detail=failed.command, count=failed.exit, output=output)
        send_back(draft, run, "checks", feedback)


def _receive_merge(draft: Draft, run: TaskRun, report: ReportMerge) -> None:
    state, listed = task.merge(run.state), taking.FileList(report.files)
    draft.add(
        WorkspaceMerged(
            task_id=run.task.id,
            commit=report.commit,
            parent=report.parent,
            files=listed.files,
            added=listed.added,
            removed=listed.removed,
            more=listed.more,
            total=report.total,
            state=state,
            ready=find_freed(work_of(draft), run, state),
        )
    )


def _receive_conflict(draft: Draft, run: TaskRun, report: ReportConflict) -> None:
    files = report.files[: limits.CHANGED_FILES]
    if run.side == "tree":
        draft.add(NoticePosted(code="still_in_conflict", who=run.task.title, names=files))
    draft.add(WorkspaceConflicted(task_id=run.task.id, files=files, commit=report.commit))
    if run.rework < draft.team.plan.max_rework:
        feedback = render("feedback.conflict", draft.state.language, names=files)
        send_back(draft, work_of(draft).tasks[run.task.id], "conflict", feedback)
    else:
        questions.ask_about_conflict(draft, run.task.id, run.task.title, files)


def send_back(draft: Draft, run: TaskRun, reason: str, feedback: str) -> None:
    """Give a task back to its executor; after the last time people, or the planner, decide."""
    again = run.rework < draft.team.plan.max_rework
    state = task.send_back(run.state, is_reworked=again)
    draft.add(
        TaskSentBack(
            task_id=run.task.id, reason=reason, feedback=feedback, state=state, is_reworked=again, member=run.member
        )
    )
    if not again:
        recovery.give_up(draft, run, "task_failed", reason, feedback)


def send_back_once_more(draft: Draft, run: TaskRun, feedback: str) -> None:
    """Give a task back because a person asks for it, even if its executor has used up its tries."""
    state = task.send_back(run.state, is_reworked=True)
    sent = TaskSentBack(
        task_id=run.task.id, reason="conflict", feedback=feedback, state=state, is_reworked=True, member=run.member
    )
    draft.add(sent)


def _give_up(draft: Draft, run: TaskRun, reason: str, detail: str) -> None:
    state = task.send_back(run.state, is_reworked=False)
    draft.add(TaskSentBack(task_id=run.task.id, reason=reason, feedback=detail, state=state, member=run.member))
    recovery.give_up(draft, run, "task_failed", reason, detail)


# what people decide about a conflict


def resolve(draft: Draft, task_id: str, side: str, named: str, by: Member | None) -> None:
    """Resolve a conflict: take one side for the files that `named` lists, or for all; or the tree as a person left it.

    Raises Refused if a name is not one of the files.
    """
    run = work_of(draft).tasks[task_id]
    tree = draft.state.workspace.find(task_id)
    conflicts = tree.conflicts if tree else ()
    wanted = tuple(_read_names(named, conflicts))
    files = wanted if wanted and side != "tree" else conflicts
    draft.add(WorkspaceResolved(task_id=task_id, side=side, files=files, member=by.id if by else None))
    enqueue(draft, run.task.id)


def _read_names(named: str, conflicts: Sequence[str]) -> Iterator[str]:
    """Yield the files that a person names, separated by spaces or commas, which names may contain too.

    Raises Refused for a name that is not one of the conflicts.
    """
    left = named.strip(_BETWEEN)
    while left:
        found = [path for path in conflicts if left == path or left.startswith(tuple(path + char for char in _BETWEEN))]
        if not found:
            raise Refused("no_such_conflict", detail=left.split()[0][:200], available=tuple(conflicts))
        name = max(found, key=len)
        yield name
        left = left[len(name) :].strip(_BETWEEN)
