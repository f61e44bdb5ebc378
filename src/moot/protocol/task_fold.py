"""How a row of the task board changes: one function a fact. It shows what the core decided and decides nothing."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core.machines.task import State
from moot.protocol.work_view import RESULT_CHARS, STEP_CHARS, Document, TaskRow

Said = dict[str, Any]
Rows = dict[str, TaskRow]


def _request(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001 - one signature for all
    offered = replace(row, member=said["member"], agent_id=said["agent_id"], attempt=said["attempt"])
    return _wait(offered, State.DISPATCHING, None, "")


def _ack(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return replace(row, state=State.DISPATCHED, place=said.get("place"))


def _nack(row: TaskRow, said: Said, at: str) -> TaskRow:
    delay_s = said.get("retry_in_s")
    refused = replace(row, message=said["reason"][:STEP_CHARS])
    if delay_s == 0:
        return _wait(refused, State.READY, None, "")
    return _wait(refused, State.DISPATCH_FAILED, delay_s, at)


def _start(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    begun = replace(row, state=State.RUNNING, starts=row.starts + 1, done=0, total=None, percent=None)
    return replace(begun, step="", message="" if not row.error_type else row.message)


def _progress(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    if said["done"] < row.done:
        return row
    return replace(row, done=said["done"], total=said["total"], percent=said["percent"], step=said["step"][:STEP_CHARS])


def _complete(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    state = State.EXECUTION_SUCCEEDED if said.get("awaits_review") else State.DONE
    return replace(row, state=state, result=said["result"][:RESULT_CHARS], retries=0, error_type="", message="")


def _fail(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return replace(
        row, state=State.EXECUTION_FAILED, error_type=said["error_type"], message=said["message"][:STEP_CHARS]
    )


def _lose_lease(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return replace(row, state=State.READY)


def _retry(row: TaskRow, said: Said, at: str) -> TaskRow:
    counted = replace(row, retries=said["attempt"], max_attempts=said["max_attempts"])
    delay_s = said.get("delay_s", 0.0)
    return _wait(counted, row.state, delay_s, at) if delay_s else _next_attempt(counted)


def _end_wait(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    if row.state == State.DISPATCH_FAILED:
        return _wait(row, State.READY, None, "")
    return _next_attempt(row)


def _next_attempt(row: TaskRow) -> TaskRow:
    return replace(_wait(row, State.READY, None, ""), attempt=row.attempt + 1)


def _wait(row: TaskRow, state: str, delay_s: float | None, since: str) -> TaskRow:
    return replace(row, state=state, retry_in_s=delay_s, retry_from=since if delay_s else "")


def _review(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    if said["pass"]:
        return replace(row, state=State.DONE)
    rejected = replace(row, feedback=said.get("feedback", "")[:STEP_CHARS])
    if not said.get("is_reworked"):
        return replace(rejected, state=State.REWORK_REQUIRED)
    return replace(rejected, state=State.READY, attempt=row.attempt + 1)


def _block(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return _wait(row, State.BLOCKED, None, "")


def _skip(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return replace(_wait(row, row.state, None, ""), is_skipped=True)


def _cancel(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return _wait(row, State.CANCELLED, None, "")


def _restart(row: TaskRow, said: Said, at: str) -> TaskRow:  # noqa: ARG001
    return TaskRow(
        task=said["task"],
        attempt=row.attempt + 1,
        starts=row.starts,
        member=said.get("member") or "",
        feedback=row.feedback,
    )


CHANGES: dict[str, Callable[[TaskRow, Said, str], TaskRow]] = {
    "task.dispatch_requested": _request,
    "task.dispatch_acked": _ack,
    "task.dispatch_nacked": _nack,
    "solver.start": _start,
    "solver.progress": _progress,
    "solver.completed": _complete,
    "solver.cancelled": _cancel,
    "solver.restarted": _restart,
    "task.failed": _fail,
    "task.lease_expired": _lose_lease,
    "task.reviewed": _review,
    "task.blocked": _block,
    "task.skipped": _skip,
    "error.recovery_started": _retry,
    "task.retry_due": _end_wait,
}


def change(rows: Rows, event: str, said: Said, at: str) -> Rows:
    """The board after a fact about one task."""
    task_id = said.get("task_id") or said.get("task", {}).get("id")
    row = rows.get(task_id or "")
    if row is None:  # about a planner's or an aggregator's turn
        return rows
    return make_ready({**rows, row.id: CHANGES[event](row, said, at)})


def stop_waiting(rows: Rows) -> Rows:
    """What waited to be tried again belongs to the plan before."""
    return {task_id: _wait(row, row.state, None, "") for task_id, row in rows.items()}


def request_review(rows: Rows, task_id: str) -> Rows:
    """A reviewer was given the task."""
    row = rows.get(task_id)
    if row is None or row.state != State.EXECUTION_SUCCEEDED:
        return rows
    return {**rows, task_id: replace(row, state=State.REVIEWING)}


def approve(rows: Rows, tasks: list[Document], kept: list[str]) -> Rows:
    """The board of a new plan; what was finished before and still fits stays."""
    fresh = {task["id"]: TaskRow(task=task) for task in tasks}
    same = {task_id: replace(rows[task_id], task=fresh[task_id].task) for task_id in kept if task_id in rows}
    return make_ready({**fresh, **same})


def patch(rows: Rows, tasks: list[Document]) -> Rows:
    """The board of a plan that was changed a little; one that could start may have something to wait for now."""
    patched = {task["id"]: replace(rows.get(task["id"]) or TaskRow(task=task), task=task) for task in tasks}
    unready = {
        task_id: replace(row, state=State.CREATED) if row.state == State.READY and not _may_start(row, patched) else row
        for task_id, row in patched.items()
    }
    return make_ready(unready)


def make_ready(rows: Rows) -> Rows:
    """Tasks whose dependencies are finished may start."""
    free = {
        task_id: replace(row, state=State.READY)
        for task_id, row in rows.items()
        if row.state == State.CREATED and not row.is_skipped and _may_start(row, rows)
    }
    return {**rows, **free} if free else rows


def _may_start(row: TaskRow, rows: Rows) -> bool:
    needed = row.task.get("depends_on") or ()
    return all(rows[each].is_finished for each in needed if each in rows)
