"""A plan's tasks: read from what planners and people write, and checked (plan: plan, confirm).

A task is an object with `id` and `title`; the rest is optional, and keys that mean nothing here are kept, so that
answering with the tasks as they were shown is valid.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from moot.core import limits, text
from moot.core.team import Member, Team

Json = dict[str, Any]  # a task as it was written
EXECUTOR = "executor"


class Task(Struct, frozen=True, kw_only=True, gc=False):
    """What the flow reads of a task; `document` is all of it."""

    id: str
    title: str
    document: Json
    objective: str = ""
    depends_on: tuple[str, ...] = ()
    role: str = ""
    member: str = ""


class TaskProblem(Struct, frozen=True):
    """Something wrong with a plan: `tasks[2].depends_on`, and a sentence."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class InvalidPlan(Exception):
    """A plan that cannot be run, with every problem of it."""

    def __init__(self, problems: Sequence[TaskProblem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def read_tasks(raw: object, team: Team) -> tuple[Task, ...]:
    """The tasks of a plan, or InvalidPlan."""
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        raise InvalidPlan([TaskProblem("tasks", "a plan needs a list of tasks")])
    if not raw:
        raise InvalidPlan([TaskProblem("tasks", "a plan needs at least one task")])
    if len(raw) > limits.TASKS:
        raise InvalidPlan([TaskProblem("tasks", f"a plan has at most {limits.TASKS} tasks, this one has {len(raw)}")])
    problems: list[TaskProblem] = []
    tasks = [_read_task(each, f"tasks[{at}]", problems) for at, each in enumerate(raw)]
    problems += _find_problems(tasks, team)
    if problems:
        raise InvalidPlan(problems[: limits.PROBLEMS])
    return tuple(tasks)


def plan_hash(tasks: Sequence[Task]) -> str:
    """What was shown is what runs: both carry this."""
    shown = msgspec.json.encode([task.document for task in tasks], order="sorted")
    return hashlib.sha256(shown).hexdigest()


def executors(team: Team) -> list[Member]:
    """Those who may run any task, by order."""
    return [each for each in team.ais if each.role in (EXECUTOR, "")]


def candidates(task: Task, team: Team) -> list[Member]:
    """Who may run this task, the first choice first."""
    if task.member:
        found = team.find(task.member)
        return [found] if found and not found.is_human else []
    if task.role and task.role != EXECUTOR:
        return [each for each in team.ais if each.role == task.role]
    return executors(team)


def _read_task(raw: object, path: str, problems: list[TaskProblem]) -> Task:
    document = dict(raw) if isinstance(raw, Mapping) else {}
    if not document:
        problems.append(TaskProblem(path, "a task is an object with id and title"))
    document = {text.clean(str(key)): clean_json(value) for key, value in document.items()}

    def read(name: str, limit: int) -> str:
        value = document.get(name)
        if value is None:
            return ""
        if name in ("id", "member") and type(value) is int:  # a number as id counts as its decimal string
            value = str(value)
        if not isinstance(value, str):
            problems.append(TaskProblem(f"{path}.{name}", "must be text"))
            return ""
        if len(value) > limit:
            problems.append(TaskProblem(f"{path}.{name}", f"has {len(value)} characters, the limit is {limit}"))
        return value.strip()

    task_id = read("id", limits.NAME_CHARS)
    title = read("title", limits.TITLE_CHARS)
    if document and not task_id:
        problems.append(TaskProblem(f"{path}.id", "is missing"))
    if document and not title:
        problems.append(TaskProblem(f"{path}.title", "is missing"))
    depends_on = _read_dependencies(document.get("depends_on"), f"{path}.depends_on", problems)
    document = {**document, "id": task_id, "title": title, "depends_on": list(depends_on)}
    if len(msgspec.json.encode(document)) > limits.TASK_BYTES:
        problems.append(TaskProblem(path, f"is larger than {limits.TASK_BYTES} bytes"))
    return Task(
        id=task_id,
        title=title,
        document=document,
        objective=read("objective", limits.TASK_BYTES),
        depends_on=depends_on,
        role=read("role", limits.NAME_CHARS),
        member=read("member", limits.NAME_CHARS),
    )


def clean_json(value: Any, depth: int = 0) -> Any:
    """The same value with safe text, and nothing that JSON or its readers cannot hold: it is stored and shown later."""
    if depth > limits.TASK_DEPTH:
        return None
    match value:
        case str():
            return text.clean(value)
        case dict():
            return {text.clean(str(key)): clean_json(each, depth + 1) for key, each in value.items()}
        case list() | tuple():
            return [clean_json(each, depth + 1) for each in value]
        case float():
            return value if isfinite(value) else None
        case None | bool():
            return value
        case int() if abs(value) < 2**53:  # beyond that readers disagree
            return value
        case _:
            return text.clean(str(value))


def _read_dependencies(raw: object, path: str, problems: list[TaskProblem]) -> tuple[str, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        problems.append(TaskProblem(path, "must be a list of task ids"))
        return ()
    ids: list[str] = []
    for at, each in enumerate(raw):
        if type(each) is int or isinstance(each, str):
            ids.append(str(each).strip())
        else:
            problems.append(TaskProblem(f"{path}[{at}]", "must be a task id"))
    return tuple(dict.fromkeys(ids))


def _find_problems(tasks: Sequence[Task], team: Team) -> Iterator[TaskProblem]:
    first: dict[str, int] = {}
    for at, task in enumerate(tasks):
        if not task.id:  # said already
            continue
        earlier = first.setdefault(task.id, at)
        if earlier != at:
            yield TaskProblem(f"tasks[{at}].id", f"{task.id!r} is the id of tasks[{earlier}] already")
    for at, task in enumerate(tasks):
        for dependency in task.depends_on:
            if dependency not in first:
                yield TaskProblem(f"tasks[{at}].depends_on", f"no task has the id {dependency!r}")
        if not candidates(task, team):
            named = f"member {task.member!r}" if task.member else f"role {task.role or EXECUTOR!r}"
            names = ", ".join(each.id for each in team.ais)
            field = ".member" if task.member else ".role" if task.role else ""
            yield TaskProblem(f"tasks[{at}]{field}", f"nobody can run it: no AI has the {named}; there are {names}")
    circle = find_circle({task.id: task.depends_on for task in tasks if task.id})
    if circle:
        at = first[circle[0]]
        yield TaskProblem(f"tasks[{at}].depends_on", f"tasks wait for each other: {' → '.join(circle)}")


def find_circle(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Ids that depend on each other in a circle, the first one again at the end; empty when there is none."""
    ordered = set(find_order(depends_on))
    left = [task for task in depends_on if task not in ordered]
    if not left:
        return []
    trail = left[:1]
    while trail[-1] not in trail[:-1]:
        trail.append(next(each for each in depends_on[trail[-1]] if each in left))
    return trail[trail.index(trail[-1]) :]


def find_order(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Ids, each after those that it depends on; without those in a circle and behind one. Unknown ids do not count."""
    missing = {task: len({each for each in needed if each in depends_on}) for task, needed in depends_on.items()}
    followers: dict[str, list[str]] = {}
    for task, needed in depends_on.items():
        for each in set(needed):
            followers.setdefault(each, []).append(task)
    ordered = [task for task, count in missing.items() if not count]
    for task in ordered:  # grows on the way
        for follower in followers.get(task, ()):
            missing[follower] -= 1
            if not missing[follower]:
                ordered.append(follower)
    return ordered
