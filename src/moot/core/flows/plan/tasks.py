"""Read and check the tasks of a plan, as planners and people write them (docs/plan.md).

A task is an object with `id` and `title`; the rest is optional. Unknown keys are kept, so that the tasks can be sent
back exactly as they were shown.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from moot.core import limits, text
from moot.core.session.team import DEFAULT_LANGUAGE, Language, Member, Team, normalise
from moot.core.texts import render

Json = dict[str, Any]  # a task as it was written
EXECUTOR = "executor"
LEADING_ROLES = ("planner", "reviewer", "aggregator", "supervisor")  # of members that direct others
LARGEST_INT = 2**53 - 1  # JSON parsers disagree on larger ones


class Task(Struct, frozen=True, kw_only=True, gc=False):
    """A task. `document` is the whole object as written, cleaned."""

    id: str
    title: str
    document: Json
    objective: str = ""
    depends_on: tuple[str, ...] = ()
    role: str = ""
    member: str = ""


class TaskProblem(Struct, frozen=True):
    """Something wrong with a plan: a path such as `tasks[2].depends_on`, and the code and parameters of a text."""

    path: str
    code: str
    params: dict[str, Any] = {}

    def tell(self, language: Language) -> str:
        return f"{self.path}: {render(f'plan_problem.{self.code}', language, **self.params)}"


class InvalidPlan(Exception):
    """A plan that cannot be run, with its problems."""

    def __init__(self, problems: Sequence[TaskProblem]) -> None:
        super().__init__("; ".join(problem.tell(DEFAULT_LANGUAGE) for problem in problems))
        self.problems = tuple(problems)

    def tell(self, language: Language) -> tuple[str, ...]:
        return tuple(problem.tell(language) for problem in self.problems)


def read_tasks(raw: object, team: Team) -> tuple[Task, ...]:
    """Return the tasks of a plan. Raises InvalidPlan."""
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        raise InvalidPlan([TaskProblem("tasks", "no_list")])
    if not raw:
        raise InvalidPlan([TaskProblem("tasks", "no_tasks")])
    if len(raw) > limits.TASKS:
        raise InvalidPlan([TaskProblem("tasks", "too_many", {"limit": limits.TASKS, "count": len(raw)})])
    problems: list[TaskProblem] = []
    tasks = [_read_task(document, f"tasks[{at}]", problems) for at, document in enumerate(raw)]
    problems += _find_problems(tasks, team)
    if problems:
        raise InvalidPlan(problems[: limits.PROBLEMS])
    return tuple(tasks)


def plan_hash(tasks: Sequence[Task]) -> str:
    """Return a hash of the tasks. It proves that the plan that runs is the one that was shown."""
    shown = msgspec.json.encode([task.document for task in tasks], order="sorted")
    return hashlib.sha256(shown).hexdigest()


def has_role(member: Member, role: str) -> bool:
    """Whether the member has this role. Roles are compared like names: `Executor` is `executor`."""
    return normalise(member.role) == normalise(role)


def executors(team: Team) -> list[Member]:
    """Return the members that may run any task, by order."""
    return [member for member in team.ais if not member.role or has_role(member, EXECUTOR)]


def may_do_tasks(member: Member) -> bool:
    """Whether plans give tasks to members of this kind: AIs that do not plan, review or aggregate."""
    return not member.is_human and not any(has_role(member, role) for role in LEADING_ROLES)


def list_files(task: Task) -> tuple[str, ...]:
    """Return the paths that a task says it changes; none if it does not say."""
    named = task.document.get("files")
    paths = named if isinstance(named, list) else [named] if isinstance(named, str) else []
    return tuple(
        path.strip().removeprefix("./").rstrip("/") for path in paths if isinstance(path, str) and path.strip()
    )


def are_apart(one: Task, other: Task) -> bool:
    """Whether two tasks say that they change different files. A folder holds everything below it."""
    mine, theirs = list_files(one), list_files(other)
    if not mine or not theirs or any("*" in path for path in (*mine, *theirs)):
        return False
    return not any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in mine for b in theirs)


def candidates(task: Task, team: Team) -> list[Member]:
    """Return the members that may run this task, the first choice first.

    The only reviewer of a team is never one of them: nobody else could review its result.
    """
    if task.member:
        named = team.find(task.member)
        return [] if named is None or named.is_human or is_only_reviewer(named, team) else [named]
    if task.role and normalise(task.role) != EXECUTOR:
        return [member for member in team.ais if has_role(member, task.role) and may_do_tasks(member)]
    return executors(team)


def is_only_reviewer(member: Member, team: Team) -> bool:
    """Whether nobody else of the team could review what this member makes."""
    reviewers = [each for each in team.ais if has_role(each, "reviewer")]
    return reviewers == [member]


def _read_task(raw: object, path: str, problems: list[TaskProblem]) -> Task:
    document = dict(raw) if isinstance(raw, Mapping) else {}
    if not document:
        problems.append(TaskProblem(path, "no_object"))
    document = {text.clean(str(key)): clean_json(value) for key, value in document.items()}

    def read(name: str, limit: int) -> str:
        value = document.get(name)
        if value is None:
            return ""
        if name in ("id", "member") and type(value) is int:  # a number as id counts as its decimal string
            value = str(value)
        if not isinstance(value, str):
            problems.append(TaskProblem(f"{path}.{name}", "no_text"))
            return ""
        if len(value) > limit:
            problems.append(TaskProblem(f"{path}.{name}", "too_long", {"length": len(value), "limit": limit}))
        return value.strip()

    task_id = read("id", limits.NAME_CHARS)
    title = read("title", limits.TITLE_CHARS)
    if document and not task_id:
        problems.append(TaskProblem(f"{path}.id", "missing"))
    if document and not title:
        problems.append(TaskProblem(f"{path}.title", "missing"))
    depends_on = _read_dependencies(document.get("depends_on"), f"{path}.depends_on", problems)
    document = {**document, "id": task_id, "title": title, "depends_on": list(depends_on)}
    if len(msgspec.json.encode(document)) > limits.TASK_BYTES:
        problems.append(TaskProblem(path, "too_large", {"limit": limits.TASK_BYTES}))
    return Task(
        id=task_id,
        title=title,
        document=document,
        objective=read("objective", limits.TASK_BYTES),
        depends_on=depends_on,
        role=read("role", limits.NAME_CHARS),
        member=read("member", limits.NAME_CHARS),
    )


def clean_json(value: Any) -> Any:
    """Clean a value that a planner wrote. What cannot be stored becomes text or null."""
    return text.clean_data(value, depth=limits.TASK_DEPTH + 1, largest_int=LARGEST_INT, instead=_as_text)


def _as_text(value: object) -> str | None:
    is_lost = isinstance(value, Mapping | list | tuple) or (isinstance(value, float) and not isfinite(value))
    return None if is_lost else text.clean(str(value))


def _read_dependencies(raw: object, path: str, problems: list[TaskProblem]) -> tuple[str, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        problems.append(TaskProblem(path, "no_ids"))
        return ()
    ids: list[str] = []
    for at, task_id in enumerate(raw):
        if type(task_id) is int or isinstance(task_id, str):
            ids.append(str(task_id).strip())
        else:
            problems.append(TaskProblem(f"{path}[{at}]", "no_id"))
    return tuple(dict.fromkeys(ids))


def _find_problems(tasks: Sequence[Task], team: Team) -> Iterator[TaskProblem]:
    first: dict[str, int] = {}
    for at, task in enumerate(tasks):
        if not task.id:  # reported already
            continue
        earlier = first.setdefault(task.id, at)
        if earlier != at:
            yield TaskProblem(f"tasks[{at}].id", "taken", {"name": task.id, "other": f"tasks[{earlier}]"})
    for at, task in enumerate(tasks):
        for dependency in task.depends_on:
            if dependency not in first:
                yield TaskProblem(f"tasks[{at}].depends_on", "unknown", {"name": dependency})
        if not candidates(task, team):
            yield _find_nobody(task, at, team)
    cycle = find_cycle({task.id: task.depends_on for task in tasks if task.id})
    if cycle:
        at = first[cycle[0]]
        yield TaskProblem(f"tasks[{at}].depends_on", "circle", {"names": cycle})


def _find_nobody(task: Task, at: int, team: Team) -> TaskProblem:
    """Return the problem of a task that nobody may do, with the members or roles that there are."""
    able = [member for member in team.ais if may_do_tasks(member)]
    if task.member:
        params = {"name": task.member, "names": [member.id for member in able]}
        return TaskProblem(f"tasks[{at}].member", "nobody_named", params)
    roles = list(dict.fromkeys(member.role or EXECUTOR for member in able))
    path = f"tasks[{at}].role" if task.role else f"tasks[{at}]"
    return TaskProblem(path, "nobody_with_role", {"name": task.role or EXECUTOR, "names": roles})


def find_cycle(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Return ids that depend on each other in a cycle, with the first repeated at the end; empty if there is none."""
    try:
        _sorter(depends_on).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle[::-1]  # graphlib names what is depended on first
    return []


def find_order(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids, each after its dependencies, otherwise in their order; without those in or behind a cycle."""
    sorter = _sorter(depends_on)
    with suppress(CycleError):  # what does not wait for the cycle can still be ordered
        sorter.prepare()
    order: list[str] = []
    while ready := sorter.get_ready():
        order += ready
        sorter.done(*ready)
    return order


def _sorter(depends_on: Mapping[str, Sequence[str]]) -> TopologicalSorter[str]:
    """Return a sorter that keeps the order of `depends_on` where it can; dependencies on unknown ids are left out."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for task in depends_on:
        sorter.add(task)
    for task, dependencies in depends_on.items():
        sorter.add(task, *(dependency for dependency in dependencies if dependency in depends_on))
    return sorter
