"""What people do to running work: pause, resume, cancel, retry, and single tasks."""

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import PauseRequested, SessionActivated
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import State
from moot.core.plan import finishing, questions
from moot.core.plan.events import PlanPatched, SolverCancelled, SolverRestarted
from moot.core.plan.jobs import cancel_review, restart_job, work_of
from moot.core.plan.state import TaskRun, Work
from moot.core.team import Member

DROPPED = "task_dropped"


def active_work(draft: Draft) -> Work:
    work = draft.state.work
    if work is None or not work.is_active:
        raise Refused("no_workflow")
    return work


def pause(draft: Draft, by: Member | None) -> None:
    """What runs gets a short grace, then all of it waits."""
    work = draft.state.work
    if work is None or not work.is_active:
        if draft.state.door.inputs:
            raise Refused("still_understanding")
        draft.pause(by or draft.team.first_human, "user_pause")
    elif draft.state.interrupt is Interrupt.EXECUTION:
        draft.add(PauseRequested(member=by.id if by else None))
    elif draft.state.interrupt is Interrupt.MINOR_REPLAN:
        raise Refused("plan_changes")


def resume(draft: Draft) -> None:
    state = draft.state
    if state.interrupt is Interrupt.PAUSING or state.interrupt in STOPPED:
        draft.add(SessionActivated())
    elif not state.door.deferred or (state.work and state.work.is_active):
        raise Refused("nothing_to_resume")


def cancel(draft: Draft, by: Member | None) -> None:  # noqa: ARG001 - one signature for all flows
    if draft.state.work is None or not draft.state.work.is_active:
        raise Refused("nothing_running")
    finishing.interrupt(draft, "user_cancel")


def find_run(draft: Draft, task_id: str) -> TaskRun:
    work = active_work(draft)
    if work.is_planning:
        raise Refused("plan_in_the_making")
    if task_id not in work.tasks:
        raise Refused("unknown_task", detail=task_id[:80], available=tuple(work.tasks))
    return work.tasks[task_id]


def cancel_task(draft: Draft, task_id: str) -> None:
    run = find_run(draft, task_id)
    if run.is_over:
        raise Refused("task_over", detail=task_id)
    drop_task(draft, run, "user_cancel")


def drop_task(draft: Draft, run: TaskRun, reason: str) -> None:
    """With its review, and with what was asked about it."""
    cancel_review(draft, run.task.id)
    questions.supersede_task(draft, run.task.id)
    draft.add(SolverCancelled(task=run.task.document, reason=reason))


def ask_about_dropped(draft: Draft) -> None:
    """Whatever depends on a cancelled task would wait for ever: a human decides, however it came to that."""
    if not any(isinstance(fact, SolverCancelled | SolverRestarted | PlanPatched) for fact in draft.facts):
        return
    runs = work_of(draft).tasks
    asked = {step.task_id for step in draft.state.open_steps.values() if step.code == DROPPED}
    for task_id, run in runs.items():
        if run.state is not State.CANCELLED or run.is_skipped or task_id in asked:
            continue
        waiting = tuple(
            each.task.title for each in runs.values() if task_id in each.task.depends_on and not each.is_over
        )
        if waiting:
            options = ("run_without", "cancel_dependants", "restart")
            questions.ask(draft, DROPPED, options, task_id=task_id, who=run.task.title, names=waiting)


def restart_started_task(draft: Draft, task_id: str) -> None:
    """What a human asks for: there is something to begin again."""
    if find_run(draft, task_id).is_untried:
        raise Refused("task_not_started", detail=task_id)
    restart_task(draft, task_id)


def restart_task(draft: Draft, task_id: str, member: str | None = None, reason: str = "user_restart") -> None:
    run = find_run(draft, task_id)
    if run.is_finished:
        raise Refused("task_over", detail=task_id)
    finishing.reopen(draft)
    cancel_review(draft, task_id)
    questions.supersede_task(draft, task_id)
    draft.add(SolverRestarted(task=run.task.document, reason=reason, member=member))


def retry(draft: Draft) -> None:
    """Everything that failed and waits for a decision starts again."""
    work = active_work(draft)
    asked = [step for step in draft.state.open_steps.values() if step.code in ("job_failed", "plan_refused")]
    blocked = [task_id for task_id, run in work.tasks.items() if run.state is State.BLOCKED and not run.is_over]
    if work.is_planning:
        blocked = []  # they belong to the plan before
    if not blocked and not asked:
        raise Refused("nothing_to_retry")
    for task_id in blocked:
        restart_task(draft, task_id, reason="retry")
    questions.supersede(draft, lambda step: step in asked)
    for step in asked:
        restart_job(draft, step.job, step.task_id or "")
