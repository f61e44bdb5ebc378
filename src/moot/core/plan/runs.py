"""Tasks from the log, and which of them may start."""

from msgspec.structs import replace

from moot.core.machines.task import TASK, State, Trigger
from moot.core.plan.state import TaskRun
from moot.core.plan.tasks import Json, Task


def as_task(document: Json) -> Task:
    """A task as it stands in the log: checked before it got there."""
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


def make_unready(runs: dict[str, TaskRun]) -> dict[str, TaskRun]:
    """A patch may give a task that could start something to wait for."""
    return {
        task_id: replace(run, state=State.CREATED) if run.state is State.READY and not _may_start(run, runs) else run
        for task_id, run in runs.items()
    }


def make_ready(runs: dict[str, TaskRun], finished: str | None = None) -> dict[str, TaskRun]:
    """Tasks whose dependencies are finished may start; after one task was `finished`, those that depend on it."""
    changed = {
        task_id: replace(run, state=TASK.advance(run.state, Trigger.DEPS_SATISFIED))
        for task_id, run in runs.items()
        if run.state is State.CREATED
        and (finished is None or finished in run.task.depends_on)
        and not run.is_skipped
        and _may_start(run, runs)
    }
    return {**runs, **changed} if changed else runs


def _may_start(run: TaskRun, runs: dict[str, TaskRun]) -> bool:
    return all(runs[needed].is_finished for needed in run.task.depends_on)
