"""The content of the panels beside the conversation: timeline, tasks, state machines, sessions."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from moot.core.flows.plan.plan_view import TaskRow
from moot.core.fsm import Machine
from moot.core.machines.catalogue import MACHINES
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState as Task
from moot.core.session.notices import tell_failure
from moot.core.session.state import State
from moot.core.session.workspace import MAIN
from moot.core.session.workspace_lines import tell_tree
from moot.core.view import View
from moot.telling.timeline import Row, describe
from moot.tui.conversation.item_lines import local_time
from moot.tui.hosts import Entry
from moot.tui.panes.job_panel import job_entries, job_head
from moot.tui.text.plain import HEADING, Content, plain, plain_line
from moot.tui.words import Words

SIGNS = {"ok": "✓", "failed": "✗", "cancelled": "■", "expired": "⌛", "superseded": "■"}
STYLES = {"ok": "green", "failed": "red", "cancelled": "yellow", "expired": "yellow"}
# the states of each column of the board, in display order
COLUMNS: dict[str, tuple[Task, ...]] = {
    "running": (Task.RUNNING, Task.EXECUTION_FAILED),
    "dispatching": (Task.DISPATCHING, Task.DISPATCH_FAILED, Task.DISPATCHED),
    "review": (Task.EXECUTION_SUCCEEDED, Task.REVIEWING, Task.REWORK_REQUIRED),
    "ready": (Task.CREATED, Task.READY),
    "failed": (Task.BLOCKED, Task.CANCELLED),
    "done": (Task.DONE,),
}
BAR = 10
SHOWN_ROWS = 300  # of the timeline


def timeline(rows: list[Row], state: State, words: Words, width: int) -> Iterator[tuple[str, Content]]:
    """Yield the newest rows. Unchanged rows come from a cache."""
    for row in rows[-SHOWN_ROWS:]:
        member = state.team.find(row.member) if row.member and row.category != "input" else None
        who = f" {member.display_name}" if member else ""
        yield str(row.seq), _row(row, words(f"event.{row.name}"), who, describe(row, state, words.language), width)


@lru_cache(maxsize=2_000)
def _row(row: Row, label: str, who: str, what: str, width: int) -> Content:
    sign = SIGNS.get(row.outcome, "▸" if row.lasts and not row.ended_at else "·")
    took = f" {duration(row)}" if row.ended_at else ""
    head = Content.assemble(
        plain_line(f"{local_time(row.at)} ", "dim"),
        plain_line(f"{sign} {label}", STYLES.get(row.outcome, "bold" if row.category == "input" else "")),
        plain_line(f"{who}{took}", "dim"),
    )
    if not what:
        return head
    shown = plain_line(what, "dim").truncate(max(10, width - 12), ellipsis=True)
    return Content.assemble(head, Content("\n           "), shown)


def duration(row: Row) -> str:
    ms = (datetime.fromisoformat(row.ended_at) - datetime.fromisoformat(row.at)) / timedelta(milliseconds=1)
    return f"{ms:.0f} ms" if ms < 1_000 else f"{ms / 1_000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.0f} min"


def board_head(view: View, words: Words) -> Content:
    """The goal and its progress."""
    work = view.work
    if view.supervision:
        return job_head(view.supervision, view, words)
    if work is None or not work.tasks:
        return plain(words("no_tasks"), "dim")
    done, count = work.done_count, len(work.tasks)
    more = [words("aggregating")] if work.is_aggregating else []
    more += [words(f"outcome.{work.outcome}")] if work.outcome else []
    filled = BAR * done // count
    bar = f"{'▓' * filled}{'░' * (BAR - filled)} {done}/{count}"
    lines = [plain_line(work.question, "bold"), plain_line(" · ".join([bar, *more]))]
    space = view.workspace
    if space and space.head != space.base:
        taken = words(f"tree.taken.{space.how}") if space.how and not space.has_work else words("tree.not_taken")
        lines.append(plain_line(f"⎇ {MAIN} +{space.added} −{space.removed} · {taken}", "dim"))
    return Content("\n").join(lines)


def board(view: View, words: Words, width: int) -> Iterator[tuple[str, Content]]:
    if view.supervision:
        yield from job_entries(view.supervision, view, words, width)
    tasks = view.work.rows if view.work else []
    for column, states in COLUMNS.items():
        for row in tasks:
            if row.state in states:
                yield row.id, _card(row, column, view, words)


def _card(row: TaskRow, column: str, view: View, words: Words) -> Content:
    sign = {"done": "✓", "running": "▶", "failed": "✗", "review": "◇"}.get(column, "○")
    style = {"done": "green", "running": "bold cyan", "failed": "red"}.get(column, "")
    facts = [words("task.skipped") if row.is_skipped else words(f"state.{row.state}")]
    facts += [view.name(row.member)] if row.member else []
    facts += [f"{row.done}/{row.total}" if row.total else str(row.done)] if row.done and column == "running" else []
    facts += [words("task.place", n=row.place)] if row.place and row.state == Task.DISPATCHED else []
    facts += [words("task.retries", n=row.retries, max=row.max_attempts)] if row.retries else []
    facts += [words("task.next_in", s=f"{row.retry_in_s:g}")] if row.retry_in_s else []
    lines = [plain_line(f"{sign} {row.title}", style), plain_line(f"  {' · '.join(facts)}", "dim")]
    lines += [plain_line(f"  {tell_tree(row.tree, words.language)}", "dim")] if row.tree else []
    trouble = row.feedback if column == "review" else ""
    if column in ("failed", "running"):
        trouble = tell_failure(row.error_type, row.message, words.language)
    lines += [plain_line(f"  {trouble[:200]}", "yellow")] if trouble else []
    lines += [plain_line(f"  {row.step[:80]}", "dim")] if row.step and column == "running" else []
    return Content("\n").join(lines)


def task_details(row: TaskRow, view: View, words: Words) -> Content:
    """All details of a task: description, state and result."""
    texts = {
        "": row.title,
        "plan.who": view.name(row.member) if row.member else "",
        "tab.state": words("task.skipped") if row.is_skipped else words(f"state.{row.state}"),
        "tree.branch": row.tree.branch if row.tree else "",
        "tree": tell_tree(row.tree, words.language) if row.tree else "",
        "plan.objective": str(row.task.get("objective") or ""),
        "feedback": row.feedback,
        "event.error.execution": f"{row.error_type}: {row.message}" if row.error_type else "",
        "event.task_execution_result": row.result,
    }
    parts = [
        Content.assemble(plain_line(f"{words(key)}: ", "dim"), plain(text)) if key else plain_line(text, "bold")
        for key, text in texts.items()
        if text
    ]
    return Content("\n").join(parts)


def machines(view: View, link: str | None, words: Words) -> Content:
    """The state of each machine and its possible transitions. `link` is None if there is no connection to show."""
    parts: list[Content] = []
    for machine in MACHINES:
        for subject, state in _states(machine.name, view, link):
            parts.append(_machine(machine, subject, state, words))
    return Content("\n").join(parts)


def _states(name: str, view: View, link: str | None) -> Iterator[tuple[str, str]]:
    work = view.work
    if name == "session":
        yield "", view.status
    elif name == "connection" and link:
        yield "", link
    elif name == "workflow" and work:
        yield "", work.status
    elif name == "input_routing":
        yield "", view.input_routing
    elif name == "interrupt":
        yield "", view.interrupt
    elif name == "task" and work:
        yield from ((row.title, row.state) for row in work.rows)
    elif name == "agent" and work:
        yield from work.slots.items()


def _machine(machine: Machine[Any, Any], subject: str, state: str, words: Words) -> Content:
    name = words(f"machine.{machine.name}") + (f" · {subject}" if subject else "")
    transitions = "\n    ".join(
        dict.fromkeys(f"{row.trigger} → {row.target}" for row in machine.rows if row.state == state)
    )
    told = words.term("state" if machine.name == "task" else "phase", state)
    return Content.assemble(
        plain_line(name, "bold"),
        Content("\n  ● "),
        plain_line(told, "bold green"),
        plain_line(f" {state}" if told != state else "", "dim"),
        plain(f"\n    {transitions}\n" if transitions else "\n", "dim"),
    )


def sessions(
    entries: Sequence[Entry], open_id: str, view: View, words: Words, width: int
) -> Iterator[tuple[str, Content]]:
    """Yield the sessions with title, state and last message, below the name of their project.

    The first one of a project decides where the project stands. Untitled sessions without messages are left out: they
    were opened once, and nothing was written.
    """
    projects: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.is_new or entry.title or entry.session_id == open_id:
            projects.setdefault(entry.folder or entry.team, []).append(entry)
    for members in projects.values():
        yield HEADING, _project(members[0]).truncate(max(10, width), ellipsis=True)
        yield from _sessions(members, open_id, view, words, width)


def _project(entry: Entry) -> Content:
    """Return the folder of the team file with the path to it; built-in teams have their name only."""
    if not entry.folder:
        return plain_line(entry.team, "bold")
    folder = PurePath(entry.folder)
    return Content.assemble(plain_line(folder.name or entry.folder, "bold"), plain_line(f" {folder.parent}", "dim"))


def _sessions(
    entries: Sequence[Entry], open_id: str, view: View, words: Words, width: int
) -> Iterator[tuple[str, Content]]:
    for entry in entries:
        is_open = entry.session_id == open_id
        state = _session_state(entry, view if is_open else None)
        sign = {"completed": "✓", "finished": "✓", "running": "⏳", "new": "○", "failed": "✗"}.get(state, "●")
        style = "bold yellow" if state in ("question", "plan", "permission") else "dim"
        lines = [
            plain_line(f"{'▸' if is_open else ' '} {entry.title or entry.team}", "bold" if is_open else ""),
            plain_line(f"  {sign} {local_day(entry.updated_at)} {words(f'list.{state}')}", style),
            *([plain_line(f"  {entry.last}", "dim")] if entry.last else []),
        ]
        yield entry.session_id, Content("\n").join([line.truncate(max(10, width), ellipsis=True) for line in lines])


def local_day(at: str) -> str:
    """Return the local time if `at` is today, else the date."""
    when = datetime.fromisoformat(at).astimezone()
    return when.strftime("%H:%M" if when.date() == datetime.now().astimezone().date() else "%m-%d")


def _session_state(entry: Entry, view: View | None) -> str:
    """Return what a session needs or does. Of the open one the view knows more than the list."""
    status = view.status if view and view.members else entry.status
    if status == Status.COMPLETED:
        return "completed"
    if status == Status.ACTIVE and not (view and view.questions):
        return "running"
    return entry.needs or "new"
