"""Commands of people about single tasks and failures."""

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.plan import evaluation, finishing, patches, planning, questions
from moot.core.flows.plan.jobs import cancel_review, restart_job, work_of
from moot.core.flows.plan.plan_events import PlanPatched, SolverCancelled, SolverRestarted, TaskSkipped
from moot.core.flows.plan.plan_slice import find_work
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_freed
from moot.core.machines.task import TaskState
from moot.core.session import steps


def active_work(draft: Draft) -> Work:
    """Return the work that is under way. Raises Refused if there is none."""
    work = find_work(draft.state)
    if work is None or not work.is_active:
        raise Refused("no_workflow")
    return work


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
    """Cancel a task, its review, its evaluation and the questions about it."""
    evaluation.withdraw(draft, run.task.id)
    cancel_review(draft, run.task.id)
    questions.supersede_task(draft, run.task.id)
    finishing.cancel_task(draft, run, reason)


def skip_task(draft: Draft, task_id: str, by: str | None) -> None:
    """Go on without a task: those that depend on it run without its result."""
    work = work_of(draft)
    run = work.tasks[task_id]
    ready = find_freed(work, run, run.state, is_skipped=True)
    draft.add(TaskSkipped(task_id=task_id, by=by, ready=ready))


def ask_about_dropped(draft: Draft) -> None:
    """Ask a human about each cancelled task that others depend on: they would wait for ever.

    Nobody is asked about the tasks of a plan that is being replaced.
    """
    work, kinds = work_of(draft), SolverCancelled | SolverRestarted | PlanPatched
    if work.is_planning or not any(isinstance(fact, kinds) for fact in draft.facts):
        return
    runs = work.tasks
    asked = {step.task_id for step in draft.state.open_steps.values() if step.code == questions.DROPPED}
    for task_id, run in runs.items():
        if run.state is not TaskState.CANCELLED or run.is_skipped or task_id in asked:
            continue
        waiting = tuple(
            each.task.title for each in runs.values() if task_id in each.task.depends_on and not each.is_over
        )
        if waiting:
            options = ("run_without", "cancel_dependants", "restart")
            steps.ask(draft, questions.DROPPED, options, task_id=task_id, who=run.task.title, names=waiting)


def restart_started_task(draft: Draft, task_id: str) -> None:
    """Restart a task for a human. Raises Refused if no member has started it yet."""
    if find_run(draft, task_id).is_untried:
        raise Refused("task_not_started", detail=task_id)
    restart_task(draft, task_id)


def restart_task(draft: Draft, task_id: str, member: str | None = None, reason: str = "user_restart") -> None:
    run = find_run(draft, task_id)
    if run.is_finished:
        raise Refused("task_over", detail=task_id)
    finishing.reopen(draft)
    evaluation.withdraw(draft, task_id)
    cancel_review(draft, task_id)
    questions.supersede_task(draft, task_id)
    patches.restart(draft, run.task, reason, member)


def retry(draft: Draft) -> None:
    """Restart everything that failed and waits for a decision, or ask again about a plan nobody answered in time.

    Raises Refused if there is nothing.
    """
    last = find_work(draft.state)
    if last and last.outcome == "timeout" and last.proposed:
        planning.bring_back(draft)
        return
    work = active_work(draft)
    asked = [step for step in draft.state.open_steps.values() if step.code in ("job_failed", "plan_refused")]
    blocked = [task_id for task_id, run in work.tasks.items() if run.state is TaskState.BLOCKED and not run.is_over]
    if work.is_planning:
        blocked = []  # they belong to the plan before
    if not blocked and not asked:
        raise Refused("nothing_to_retry")
    for task_id in blocked:
        restart_task(draft, task_id, reason="retry")
    steps.supersede(draft, lambda step: step in asked)
    for step in asked:
        restart_job(draft, step.job, step.task_id or "")
