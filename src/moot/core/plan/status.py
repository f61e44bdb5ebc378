"""How far the work is, from the state alone: no model is asked (plan: a status query)."""

from moot.core.events import NoticePosted
from moot.core.intent import CurrentTask, KnownTask, Said, SemanticInput, SystemState, WorkflowStatus
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import State as TaskState
from moot.core.state import State
from moot.core.supervisor.supervision import Supervision


def workflow_status(state: State) -> WorkflowStatus:
    work = state.work
    if state.supervision is not None:
        return _status_of_job(state, state.supervision)
    if work is None:
        if state.interrupt is not Interrupt.EXECUTION:
            return "paused"
        return "execution" if state.running or state.queue else "idle"
    if work.is_active and (state.interrupt is Interrupt.PAUSING or state.interrupt in STOPPED):
        return "paused"
    return work.status.lower()  # type: ignore[return-value]


def _status_of_job(state: State, job: Supervision) -> WorkflowStatus:
    if not job.is_active:
        return "completed"
    return "execution" if state.interrupt is Interrupt.EXECUTION else "paused"


def status_notice(state: State) -> NoticePosted:
    work = state.work
    if work is None:
        return NoticePosted(code="no_work")
    runs = work.tasks.values()
    names = tuple(run.task.title for run in runs if run.is_under_way) or ("-",)
    done = sum(run.is_finished for run in runs)
    return NoticePosted(
        code="plan_status", detail=workflow_status(state), count=done, limit=len(work.tasks), names=names
    )


def semantic_input(state: State, said: str) -> SemanticInput:
    """What an understander is given (seed 002 §8.1)."""
    work = state.work
    current = None
    tasks: tuple[KnownTask, ...] = ()
    if work is not None and work.is_active:
        runs = work.tasks.values()
        done = sum(run.is_finished for run in runs)
        current = CurrentTask(
            goal=work.question,
            progress=done / len(runs) if runs else 0.0,
            completed_tasks=done,
            failed_tasks=sum(run.state is TaskState.EXECUTION_FAILED for run in runs),
            blocked_tasks=sum(run.state is TaskState.BLOCKED for run in runs),
        )
        shown = [run.task for run in runs] or list(work.proposed)
        tasks = tuple(
            KnownTask(id=task.id, title=task.title, status=work.tasks[task.id].state if task.id in work.tasks else "")
            for task in shown
        )
    if state.supervision is not None and state.supervision.is_active:
        current = CurrentTask(goal=state.supervision.goal)
    history = state.history[:-1] if state.history and state.history[-1].text == said else state.history
    return SemanticInput(
        raw_input=said,
        system_state=SystemState(
            workflow_status=workflow_status(state),
            current_task=current,
            last_activity=history[-1].text[:200] if history else "",
            available_resources=tuple(each.id for each in state.team.ais),
        ),
        recent_history=tuple(
            Said(role="user" if state.team.member(each.member).is_human else "agent", content=each.text)
            for each in history
        ),
        tasks=tasks,
        language=state.language,
    )
