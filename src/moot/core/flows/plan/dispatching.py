"""Offering tasks to members and taking their answers."""

from collections.abc import Collection

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.envelope import describe_source
from moot.core.flows.plan import integration, recovery, staffing
from moot.core.flows.plan.jobs import ask_for_budget, count_turns, work_of
from moot.core.flows.plan.plan_events import (
    DispatchAcked,
    DispatchRequested,
    LeaseExpired,
    RecoverySucceeded,
    SolverCompleted,
    SolverProgressed,
    SolverStarted,
    TasksTakeTurns,
)
from moot.core.flows.plan.plan_state import TaskRun, Work
from moot.core.flows.plan.runs import find_freed
from moot.core.flows.plan.tasks import are_apart
from moot.core.machines import task
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState
from moot.core.session.commands import CompleteTurn, ReportStep
from moot.core.session.team import Member
from moot.core.session.usage import safe_usage

_READY = TaskState.READY  # a global is faster to look up than a member of an enum
PAUSED = "paused"  # a lease that ends with a pause: nobody is to blame
RUNNABLE = (WorkflowState.EXECUTION, WorkflowState.REPLAN_EVALUATION, WorkflowState.WAIT_USER_DECISION)


def may_dispatch(work: Work) -> bool:
    """Whether tasks may be offered: also while a question about one task is open, but not while a plan is made."""
    return work.status in RUNNABLE and not work.is_planning


def offer_tasks(draft: Draft) -> None:
    """Offer the tasks that can start, in the order of the plan, up to the limit on parallel tasks."""
    team = draft.team
    free = team.plan.max_parallel - len(work_of(draft).dispatches)
    if free <= 0:
        return
    for task_id, run in work_of(draft).tasks.items():
        if run.state is not _READY or run.is_skipped:
            continue
        found = staffing.find_slot(run, work_of(draft), team)
        if found is None:
            continue
        member, slot = found
        if _must_wait(draft, run, member):
            continue
        ask_for_budget(draft, member)
        _offer(draft, task_id, run, member.id, slot)
        free -= 1
        if not free:
            return


def _must_wait(draft: Draft, run: TaskRun, member: Member) -> bool:
    """Whether a task waits because another one is editing the same folder. People are told so once in a plan.

    In trees of their own, tasks never wait for each other.
    """
    if draft.team.has_trees or not member.edits:
        return False
    work = work_of(draft)
    others = [work.tasks[task_id] for task_id in work.dispatches.values()]
    busy = [each for each in others if draft.team.member(each.member).edits and not are_apart(run.task, each.task)]
    if busy and not work.is_told_to_wait:
        draft.add(TasksTakeTurns(task_id=run.task.id, waits_for=busy[0].task.id))
    return bool(busy)


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
            tree=integration.choose_tree(draft, run, draft.team.member(member)),
            offered_at=draft.at if draft.team.has_trees else "",
            seq=draft.next_seq,
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
    """Log a step of a task. The number of steps only grows, and the percentage is kept between 0 and 100."""
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
            tool=command.tool,
            diff=command.diff,
        )
    )


def complete(draft: Draft, run: TaskRun, command: CompleteTurn) -> None:
    awaits_review = staffing.reviewer(draft.team, run.member) is not None
    gate = integration.find_gate(draft, run)
    state = task.succeed(run.state, awaits_review=awaits_review or bool(gate))
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
            gate=gate,
        )
    )
    if run.retries:
        draft.add(RecoverySucceeded(task_id=run.task.id, attempt=run.retries))


def lose_lease(draft: Draft, run: TaskRun, reason: str) -> None:
    """Take a task from a worker that is gone. The same attempt is offered again, a limited number of times."""
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


def lose_leases(draft: Draft, reason: str, kept: Collection[str] = ()) -> None:
    """Take the tasks from all workers but those of the dispatches `kept`, to offer them again.

    Offers that no worker has taken stay open. A parked task has no worker: it goes on when its time comes, unless
    people pause the work.
    """
    work = work_of(draft)
    for dispatch_id, task_id in work.dispatches.items():
        run = work.tasks[task_id]
        if dispatch_id in kept or (dispatch_id in draft.state.parked and reason != PAUSED):
            continue
        if run.state in (TaskState.DISPATCHED, TaskState.RUNNING):
            lose_lease(draft, run, reason)
