"""Patches: small changes to a plan that is under way (docs/plan.md#steering). Checked like a plan, then applied."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from moot.core import limits
from moot.core.draft import Draft
from moot.core.flows.plan import evaluation, finishing, planning, questions, staffing
from moot.core.flows.plan.jobs import cancel_review, start_job, work_of
from moot.core.flows.plan.plan_events import ChangeRequested, PlanPatched, SolverRestarted
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_ready, patch_runs
from moot.core.flows.plan.tasks import InvalidPlan, Task, TaskProblem, clean_json, read_tasks
from moot.core.intake.intent import PlanPatch
from moot.core.json_text import find_object
from moot.core.machines.task import TaskState
from moot.core.session import steps
from moot.core.session.commands import CompleteTurn
from moot.core.session.team import Team

SHAPE = '{"patches": [{"op", "task_id", "changes"}]}'
_UNTOUCHED = (TaskState.CREATED, TaskState.READY)


def request_change(draft: Draft, text: str, member: str) -> None:
    """Have the planner turn what was said into patches, together with a change that was not made yet."""
    earlier = work_of(draft).feedback
    finishing.reopen(draft)
    for turn in draft.state.running:
        if turn.job == "patch":
            draft.cancel_turn(turn, "superseded")
    steps.supersede(draft, lambda step: step.job == "patch")
    asked = f"{earlier}\n{text}" if earlier else text
    draft.add(ChangeRequested(text=asked[-limits.HISTORY_CHARS :], member=member))
    start_job(draft, staffing.planner(draft.team), "patch")


def receive_patches(draft: Draft, command: CompleteTurn) -> None:
    try:
        apply(draft, _read_patches(command))
    except InvalidPlan as invalid:
        planning.refuse(draft, invalid, "patch")


def _read_patches(command: CompleteTurn) -> tuple[PlanPatch, ...]:
    raw: Any = command.patches
    if raw is None:
        found = find_object(command.text, "patches")
        raw = found["patches"] if found else None
    try:
        patches = msgspec.convert(clean_json(raw), tuple[PlanPatch, ...])
    except msgspec.ValidationError as error:
        raise InvalidPlan([TaskProblem("patches", "no_patches", {"reason": str(error), "detail": SHAPE})]) from None
    return patches


def apply(draft: Draft, patches: Sequence[PlanPatch]) -> None:
    """Apply the patches and restart the running tasks that they change. Raises InvalidPlan if one does not fit."""
    work = work_of(draft)
    tasks = patched_tasks(work, patches, draft.team)
    finishing.reopen(draft)
    ids = {task.id for task in tasks}
    removed = [run for task_id, run in work.tasks.items() if task_id not in ids]
    changed = [task for task in tasks if task.id in work.tasks and work.tasks[task.id].task != task]
    for run in removed:
        if run.is_under_way:
            finishing.cancel_task(draft, run, "patched")
        evaluation.withdraw(draft, run.task.id)
        cancel_review(draft, run.task.id)
        questions.supersede_task(draft, run.task.id)
    ready = find_ready(patch_runs(work_of(draft).tasks, tasks))
    draft.add(PlanPatched(patches=tuple(patches), tasks=tuple(task.document for task in tasks), ready=ready))
    for task in changed:
        if work.tasks[task.id].state not in _UNTOUCHED:
            evaluation.withdraw(draft, task.id)
            cancel_review(draft, task.id)
            questions.supersede_task(draft, task.id)
            restart(draft, task, "patched")


def restart(draft: Draft, task: Task, reason: str, member: str | None = None) -> None:
    """Restart a task from the beginning; `member` is the new assignee, if there is one."""
    runs = {**work_of(draft).tasks, task.id: TaskRun(task=task)}
    freed = [task_id for task_id in find_ready(runs) if runs[task_id].state is TaskState.CREATED]
    draft.add(
        SolverRestarted(
            task=task.document,
            reason=reason,
            member=member,
            state=TaskState.READY if task.id in freed else TaskState.CREATED,
            ready=tuple(task_id for task_id in freed if task_id != task.id),
        )
    )


def patched_tasks(work: Work, patches: Sequence[PlanPatch], team: Team) -> tuple[Task, ...]:
    """Return the plan with the patches applied. Finished tasks stay as they are."""
    if len(patches) > limits.TASKS:
        raise InvalidPlan([TaskProblem("patches", "too_many_patches", {"limit": limits.TASKS, "count": len(patches)})])
    documents = {task_id: run.task.document for task_id, run in work.tasks.items()}
    problems: list[TaskProblem] = []
    for at, patch in enumerate(patches):
        problem = _apply_one(documents, patch, f"patches[{at}]", work)
        if problem:
            problems.append(problem)
    if problems:
        raise InvalidPlan(problems)
    return read_tasks(list(documents.values()), team)


def _apply_one(documents: dict[str, dict[str, Any]], patch: PlanPatch, path: str, work: Work) -> TaskProblem | None:
    """Change `documents`, or return why that is not possible."""
    name = {"name": patch.task_id}
    known = documents.get(patch.task_id)
    if patch.op == "add":
        if known is not None:
            return TaskProblem(path, "exists", name)
        documents[patch.task_id] = {**patch.changes, "id": patch.task_id}
        return None
    if known is None:
        return TaskProblem(path, "unknown_of", {**name, "names": list(documents)})
    run = work.tasks.get(patch.task_id)
    if run is not None and run.is_over:
        return TaskProblem(path, "over", name)
    match patch.op:
        case "remove":
            del documents[patch.task_id]
        case "modify":
            if not patch.changes:
                return TaskProblem(path, "no_changes")
            documents[patch.task_id] = {**known, **patch.changes, "id": patch.task_id}
        case "reorder":
            return _move(documents, patch.task_id, patch.changes, path)
    return None


def _move(
    documents: dict[str, dict[str, Any]], task_id: str, changes: Mapping[str, Any], path: str
) -> TaskProblem | None:
    """Move a task behind another one, or to the front; or return why that is not possible."""
    after = changes.get("after")
    if after is not None and (after == task_id or after not in documents):
        return TaskProblem(path, "no_place", {"name": after})
    moved = documents.pop(task_id)
    order: Iterable[tuple[str, dict[str, Any]]] = list(documents.items())
    documents.clear()
    if after is None:
        documents[task_id] = moved
    for each, document in order:
        documents[each] = document
        if each == after:
            documents[task_id] = moved
    return None
