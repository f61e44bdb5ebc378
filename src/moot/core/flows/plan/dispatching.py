"""Offering tasks to members and taking their answers."""

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.envelope import describe_source
from moot.core.flows.plan import recovery, staffing
from moot.core.flows.plan.jobs import ask_for_budget, count_turns, work_of
from moot.core.flows.plan.plan_events import (
    DispatchAcked,
    DispatchRequested,
    LeaseExpired,
    RecoverySucceeded,
    SolverCompleted,
    SolverProgressed,
    SolverStarted,
)
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_freed
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState
from moot.core.session.commands import CompleteTurn, ReportStep
from moot.core.session.usage import safe_usage

PAUSED = "paused"  # a lease that ends with a pause: nobody is to blame
RUNNABLE = (WorkflowState.EXECUTION, WorkflowState.REPLAN_EVALUATION, WorkflowState.WAIT_USER_DECISION)


def may_dispatch(work: Work) -> bool:
    """Work goes on while a question about one task waits, not while a plan does."""
    return work.status in RUNNABLE and not work.is_planning


def offer_tasks(draft: Draft) -> None:
    """Offer what can start, up to the limit, in the order of the plan."""
    team = draft.team
    free = team.plan.max_parallel - len(work_of(draft).dispatches)
    if free <= 0:
        return
    for task_id, run in work_of(draft).tasks.items():
        if run.state is not TaskState.READY or run.is_skipped:
            continue
        found = staffing.find_slot(run, work_of(draft), team)
        if found is None:
            continue
        member, slot = found
        ask_for_budget(draft, member)
        _offer(draft, task_id, run, member.id, slot)
        free -= 1
        if not free:
            return


def _offer(draft: Draft, task_id: str, run: TaskRun, member: str, slot: str) -> None:
    state, work = draft.state, work_of(draft)
    is_again = run.is_lease_lost and run.member == member
    draft.add(
        DispatchRequested(
            task_id=task_id,
            agent_id=slot,
            dispatch_id=f"d{work.counts.dispatches + 1}",
            member=member,
            attempt=run.attempt,
            state=task.offer(run.state),
            index=run.index if is_again else state.turns_by_member.get(member, 0),
            task_index=run.task_index if is_again else count_turns(draft, member, task_id),
            is_again=is_again,
            place=describe_source(draft.team, member),
        )
    )


def ack(draft: Draft, run: TaskRun, place: int | None) -> None:
    draft.add(
        DispatchAcked(
            task_id=run.task.id,
            agent_id=run.agent_id,
            dispatch_id=run.dispatch_id or "",
            member=run.member,
            state=task.take(run.state),
            place=place,
        )
    )


def start(draft: Draft, run: TaskRun) -> None:
    draft.add(
        SolverStarted(
            task=run.task.document,
            member=run.member,
            attempt=run.attempt,
            dispatch_id=run.dispatch_id or "",
            state=task.start(run.state),
            started_at=draft.at,
        )
    )


def progress(draft: Draft, run: TaskRun, command: ReportStep) -> None:
    """What a worker says of its total may be nonsense: the count only grows, a percentage stays between 0 and 100."""
    done = run.done_steps + 1
    total = command.total if command.total is not None and done <= command.total <= limits.STEPS else None
    draft.add(
        SolverProgressed(
            task_id=run.task.id,
            done=done,
            total=total,
            percent=round(100 * done / total, 1) if total else None,
            step=command.text,
            state=task.step(run.state),
            member=run.member,
            dispatch_id=run.dispatch_id or "",
            thought=command.thought,
            action=command.action,
            observation=command.observation,
        )
    )


def complete(draft: Draft, run: TaskRun, command: CompleteTurn) -> None:
    awaits_review = staffing.reviewer(draft.team, run.member) is not None
    state = task.succeed(run.state, awaits_review=awaits_review)
    draft.add(
        SolverCompleted(
            task=run.task.document,
            result=text.cut(text.clean(command.text)),
            state=state,
            member=run.member,
            dispatch_id=run.dispatch_id or "",
            awaits_review=awaits_review,
            ready=find_freed(work_of(draft), run, state),
            usage=safe_usage(command.usage),
        )
    )
    if run.retries:
        draft.add(RecoverySucceeded(task_id=run.task.id, attempt=run.retries))


def lose_lease(draft: Draft, run: TaskRun, reason: str) -> None:
    """A worker is gone: the same attempt is offered again; a task that kills its workers is not offered for ever."""
    if run.leases_lost >= limits.LEASES_LOST and reason != PAUSED:
        if run.state is TaskState.RUNNING:
            recovery.fail_task(draft, run, "config", f"its worker was lost {run.leases_lost + 1} times ({reason})")
        else:
            recovery.nack(draft, run, reason)
        return
    draft.add(
        LeaseExpired(
            task_id=run.task.id,
            dispatch_id=run.dispatch_id or "",
            member=run.member,
            reason=reason,
            state=task.lose_lease(run.state),
        )
    )


def lose_leases(draft: Draft, reason: str) -> None:
    """Every task that a worker holds is to be offered again; one that was only offered still is."""
    work = work_of(draft)
    for task_id in work.dispatches.values():
        run = work.tasks[task_id]
        if run.state in (TaskState.DISPATCHED, TaskState.RUNNING):
            lose_lease(draft, run, reason)
