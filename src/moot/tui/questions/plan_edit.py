"""Edit a plan before it is approved: find its problems and its differences from the proposal.

The rules are those of core/flows/plan/tasks.py, as far as they can be checked without the session, which checks again.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from moot.core import limits
from moot.core.flows.plan.tasks import find_cycle

Task = dict[str, Any]
Tasks = tuple[Task, ...]
FIELDS = ("title", "objective", "member", "role", "depends_on")


class Problem(Struct, frozen=True):
    """`at` is the row, or -1 for the whole plan; `code` is the key of a text and `params` its parameters."""

    at: int
    code: str
    params: dict[str, str] = {}


class Diff(Struct, frozen=True, kw_only=True):
    added: tuple[str, ...]
    removed: Tasks
    changed: dict[str, tuple[str, ...]]
    is_moved: bool

    @property
    def count(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed) + self.is_moved


def find_problems(tasks: Tasks) -> list[Problem]:
    problems = [] if tasks else [Problem(-1, "plan.empty")]
    if len(tasks) > limits.TASKS:
        problems.append(Problem(limits.TASKS, "plan.too_many", {"limit": str(limits.TASKS)}))
    ids = [str(task.get("id", "")) for task in tasks]
    for at, task in enumerate(tasks):
        problems += _find_in_row(at, task, ids)
    cycle = find_cycle({task_id: list(task.get("depends_on") or ()) for task_id, task in zip(ids, tasks, strict=True)})
    if cycle:
        problems.append(Problem(ids.index(cycle[0]), "plan.circle", {"ids": " → ".join(cycle)}))
    return problems


def _find_in_row(at: int, task: Task, ids: Sequence[str]) -> Iterable[Problem]:
    if not str(task.get("title", "")).strip():
        yield Problem(at, "plan.no_title")
    if not ids[at].strip():
        yield Problem(at, "plan.no_id")
    elif ids.index(ids[at]) != at:
        yield Problem(at, "plan.same_id", {"id": ids[at]})
    for needed in task.get("depends_on") or ():
        if needed not in ids:
            yield Problem(at, "plan.no_such_task", {"id": str(needed)})


def diff(proposed: Tasks, edited: Tasks) -> Diff:
    before = {task["id"]: task for task in proposed}
    after = {task["id"] for task in edited}
    changed = {}
    for task in edited:
        old = before.get(task["id"])
        fields = tuple(field for field in FIELDS if old is not None and not _is_same(old.get(field), task.get(field)))
        if fields:
            changed[task["id"]] = fields
    return Diff(
        added=tuple(task["id"] for task in edited if task["id"] not in before),
        removed=tuple(task for task in proposed if task["id"] not in after),
        changed=changed,
        is_moved=[task["id"] for task in proposed if task["id"] in after]
        != [task["id"] for task in edited if task["id"] in before],
    )


def _is_same(a: object, b: object) -> bool:
    return (list(a) if isinstance(a, list | tuple) else a or "") == (
        list(b) if isinstance(b, list | tuple) else b or ""
    )


def fresh_id(tasks: Tasks) -> str:
    ids = {task["id"] for task in tasks}
    number = len(tasks) + 1
    while f"t{number}" in ids:
        number += 1
    return f"t{number}"


def add(tasks: Tasks) -> Tasks:
    return (*tasks, {"id": fresh_id(tasks), "title": "", "depends_on": []})


def patch(tasks: Tasks, at: int, **fields: Any) -> Tasks:
    """Set fields of the task at row `at`; None removes a field."""

    def change(task: Task) -> Task:
        return {key: value for key, value in {**task, **fields}.items() if value is not None}

    return tuple(change(task) if number == at else task for number, task in enumerate(tasks))


def move(tasks: Tasks, at: int, by: int) -> Tasks:
    """Move the task at row `at` by some rows. The plan is unchanged if that leads outside of it."""
    to = at + by
    if not (0 <= at < len(tasks) and 0 <= to < len(tasks)):
        return tasks
    moved = list(tasks)
    moved.insert(to, moved.pop(at))
    return tuple(moved)


def remove(tasks: Tasks, at: int) -> Tasks:
    """Remove the task at row `at`, and the dependencies of other tasks on it."""
    removed_id = tasks[at]["id"]
    kept = [task for number, task in enumerate(tasks) if number != at]
    return tuple(
        {**task, "depends_on": [task_id for task_id in task["depends_on"] if task_id != removed_id]}
        if "depends_on" in task
        else task
        for task in kept
    )
