"""How far the work of a session is: the task board as lines."""

from moot.cli.lines.telling import Telling
from moot.core.machines.session import Status
from moot.core.machines.task import State as TaskState
from moot.core.plan.state import TaskRun
from moot.core.plan.status import workflow_status
from moot.core.state import State

MARKS = {
    TaskState.DONE: "✓",
    TaskState.CANCELLED: "✗",
    TaskState.BLOCKED: "✗",
    TaskState.EXECUTION_FAILED: "↻",
    TaskState.DISPATCH_FAILED: "↻",
    TaskState.CREATED: "·",
    TaskState.READY: "·",
}


def list_board(state: State) -> list[str]:
    """Nothing where there is no work."""
    work = state.work
    if work is None:
        return []
    tell = Telling(state, state)
    done = sum(run.is_finished for run in work.tasks.values())
    waits = state.status is Status.PAUSED and state.open_steps
    status = tell.say("status_wait_user_decision" if waits else f"status_{workflow_status(state)}")
    head = tell.say("board", status=status, count=done, limit=len(work.tasks))
    rows = [f"  {_mark(run)} {run.task.title}{_details(run, tell)}" for run in work.tasks.values()]
    return [head, *rows, *(tell.say("board_deferred", detail=each.text) for each in state.door.deferred)]


def _mark(run: TaskRun) -> str:
    return "✗" if run.is_skipped else MARKS.get(run.state, "▶")


def _details(run: TaskRun, tell: Telling) -> str:
    """Who has or had it, which attempt, and what went wrong where it is not done."""
    parts = [tell.name(run.member)] if run.member else []
    if run.attempt > 1:
        parts.append(tell.say("board_attempt", count=run.attempt))
    if run.error_type and not run.is_finished:
        parts.append(f"{run.error_type}: {tell.failure(run)}")
    return "".join(f" · {part}" for part in parts)
