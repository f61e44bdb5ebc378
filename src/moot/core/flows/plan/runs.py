"""Tasks from the log, and which of them may start."""

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.tasks import Json, Task
from moot.core.machines import task
from moot.core.machines.task import TaskState

_CREATED = TaskState.CREATED  # a global is faster to look up than a member of an enum
_NOT_BEGUN = (TaskState.CREATED, TaskState.READY)


def as_task(document: Json) -> Task:
    """Return the task of a document in the log, which was checked before it was logged."""
    return Task(
        id=document["id"],
        title=document["title"],
        document=document,
        objective=_text(document, "objective"),
        depends_on=tuple(document.get("depends_on") or ()),
        role=_text(document, "role"),
        member=_text(document, "member"),
    )


def _text(document: Json, name: str) -> str:
    value = document.get(name)
    return "" if value is None else str(value).strip()


def find_ready(runs: Mapping[str, TaskRun], finished: str | None = None) -> tuple[str, ...]:
    """Return the tasks that have not begun and may start, because everything that they depend on is finished.

    Args:
        runs: all tasks of the plan.
        finished: a task that was finished just now; then only those that waited for it.
    """
    if finished is None:
        waiting = [run for run in runs.values() if run.state in _NOT_BEGUN]
    else:
        waiting = [run for run in runs.values() if run.state is _CREATED and finished in run.task.depends_on]
    return tuple(
        [
            run.task.id
            for run in waiting
            if not run.is_skipped and all(runs[needed].is_finished for needed in run.task.depends_on)
        ]
    )


def find_freed(work: Work, run: TaskRun, state: TaskState, *, is_skipped: bool = False) -> tuple[str, ...]:
    """Return the tasks that may start because `run` moves to `state`; none if it is still unfinished then."""
    moved = replace(run, state=state, is_skipped=run.is_skipped or is_skipped)
    return find_ready({**work.tasks, run.task.id: moved}, run.task.id) if moved.is_finished else ()


def make_ready(runs: dict[str, TaskRun], ready: Iterable[str]) -> dict[str, TaskRun]:
    """Move these tasks to READY."""
    changed = {task_id: replace(runs[task_id], state=task.make_ready(runs[task_id].state)) for task_id in ready}
    return {**runs, **changed} if changed else runs


def renew(runs: Mapping[str, TaskRun], tasks: Iterable[Task], kept: Collection[str]) -> dict[str, TaskRun]:
    """Return the runs of a new plan. Tasks of `kept` stay finished, the others are new."""
    return {new.id: replace(runs[new.id], task=new) if new.id in kept else TaskRun(task=new) for new in tasks}


def patch_runs(runs: Mapping[str, TaskRun], tasks: Iterable[Task]) -> dict[str, TaskRun]:
    """Return the runs of a patched plan. Tasks that it had before keep their progress."""
    return {new.id: replace(runs[new.id], task=new) if new.id in runs else TaskRun(task=new) for new in tasks}


def settle(runs: dict[str, TaskRun], ready: Iterable[str]) -> dict[str, TaskRun]:
    """Move these tasks to READY, and other READY tasks back to CREATED: a patch may have added dependencies."""
    waits = {
        task_id: replace(run, state=task.add_dependency(run.state))
        for task_id, run in runs.items()
        if run.state is TaskState.READY and task_id not in ready
    }
    return make_ready({**runs, **waits}, [task_id for task_id in ready if runs[task_id].state is TaskState.CREATED])
