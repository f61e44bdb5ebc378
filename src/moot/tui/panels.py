"""The content of the panels beside the conversation: timeline, tasks, state machines, sessions."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from moot.core.flows.plan.plan_view import TaskRow
from moot.core.fsm import Machine
from moot.core.machines.catalogue import MACHINES
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState as Task
from moot.core.session.notices import tell_failure
from moot.core.session.state import State
from moot.core.view import View
from moot.telling.timeline import Row, describe
from moot.tui.conversation import local_time
from moot.tui.hosts import Entry
from moot.tui.job_panel import job_entries, job_head
from moot.tui.plain import Content, plain, plain_line
from moot.tui.viewer_state import ViewerState
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
    return Content("\n").join([plain_line(work.question, "bold"), plain_line(" · ".join([bar, *more]))])


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


def _machine(machine: Machine, subject: str, state: str, words: Words) -> Content:  # type: ignore[type-arg]
    name = words(f"machine.{machine.name}") + (f" · {subject}" if subject else "")
    transitions = "\n    ".join(
        dict.fromkeys(f"{row.trigger} → {row.target}" for row in machine.rows if row.state == state)
    )
    return Content.assemble(
        plain_line(name, "bold"),
        Content("\n  ● "),
        plain_line(str(state), "bold green"),
        plain_line(f" ({words('current')})", "dim"),
        plain(f"\n    {transitions}\n" if transitions else "\n", "dim"),
    )


def sessions(
    entries: list[Entry], open_id: str, viewer_state: ViewerState, words: Words, width: int
) -> Iterator[tuple[str, Content]]:
    """Yield the sessions with title, state and last message. Untitled sessions without messages are left out."""
    view = viewer_state.view
    for entry in entries:
        is_open = entry.session_id == open_id
        status, waiting = (
            (view.status, view.waiting_for) if is_open and viewer_state.seq else (entry.status, entry.waiting_for)
        )
        state = _session_state(status, waiting, viewer_state.viewer if entry.team == view.team else None)
        message = viewer_state.story.last_message if is_open else None
        last = f"{message.name}: {message.text}" if message else entry.last
        if state == "new" and not (is_open or entry.title):
            continue  # opened once, nothing was written
        sign = {"completed": "✓", "running": "⏳", "waits": "●"}.get(state, "○")
        lines = [
            plain_line(f"{'▸' if is_open else ' '} {entry.title or entry.team}", "bold" if is_open else ""),
            plain_line(f"  {sign} {local_day(entry.updated_at)} {words(f'list.{state}')}", "dim"),
            *([plain_line(f"  {last}", "dim")] if last else []),
        ]
        yield entry.session_id, Content("\n").join([line.truncate(max(10, width), ellipsis=True) for line in lines])


def local_day(at: str) -> str:
    """Return the local time if `at` is today, else the date."""
    when = datetime.fromisoformat(at).astimezone()
    return when.strftime("%H:%M" if when.date() == datetime.now().astimezone().date() else "%m-%d")


def _session_state(status: str, waiting_for: str | None, viewer: str | None) -> str:
    if status == Status.COMPLETED:
        return "completed"
    if status == Status.ACTIVE:
        return "running"
    if waiting_for is None:
        return "new"
    return "waits" if viewer is None or waiting_for == viewer else "others"
