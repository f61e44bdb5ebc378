"""How a piece of work evolves: one function a fact. Decides nothing; the machines say where each trigger leads."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import limits
from moot.core.machines.agent import AGENT
from moot.core.machines.agent import Trigger as SlotTrigger
from moot.core.machines.workflow import Trigger
from moot.core.plan import events, fold_tasks
from moot.core.plan.runs import as_task, make_ready, make_unready
from moot.core.plan.state import TaskRun, Work


def _start_plan(work: Work, fact: events.PlanStarted) -> Work:
    """What waited to be tried again belongs to the plan before this one."""
    return replace(
        work,
        tasks={task_id: replace(run, wait=None) if run.wait else run for task_id, run in work.tasks.items()},
        episodes={},
        plan_id=fact.plan_id,
        feedback=fact.feedback,
        proposed=(),
        discussed=work.proposed or work.discussed,
        plan_steps=0,
        refusals=0,
        problems=(),
        counts=replace(work.counts, plans=work.counts.plans + 1),
    )


def _step_plan(work: Work, fact: events.PlanStepped) -> Work:
    return replace(work, plan_steps=fact.n)


def _refuse_plan(work: Work, fact: events.PlanRefused) -> Work:
    return replace(work, refusals=fact.n, problems=fact.problems)


def _complete_plan(work: Work, fact: events.PlanCompleted) -> Work:
    return replace(
        work,
        proposed=tuple([as_task(each) for each in fact.tasks]),
        kept=fact.kept,
        summary=fact.plan_summary,
        refusals=0,
        problems=(),
    )


def _approve_plan(work: Work, fact: events.PlanApproved) -> Work:
    """Tasks that were finished before and are the same stay finished."""
    runs = {each["id"]: TaskRun(task=as_task(each)) for each in fact.tasks}
    for task_id in fact.kept:
        runs[task_id] = replace(work.tasks[task_id], task=runs[task_id].task)
    return replace(
        work,
        tasks=make_ready(runs),
        dispatches={},
        proposed=(),
        kept=(),
        discussed=(),
        feedback="",
        episodes={},
    )


def _patch_plan(work: Work, fact: events.PlanPatched) -> Work:
    """The tasks as they are now; those that run on keep what they have."""
    runs = {}
    for document in fact.tasks:
        task = as_task(document)
        known = work.tasks.get(task.id)
        runs[task.id] = replace(known, task=task) if known else TaskRun(task=task)
    dispatches = {dispatch: task_id for dispatch, task_id in work.dispatches.items() if task_id in runs}
    work = fold_tasks.forget_episodes(work, *(task_id for task_id in work.tasks if task_id not in runs))
    return replace(
        work, tasks=make_ready(make_unready(runs)), dispatches=dispatches, refusals=0, problems=(), feedback=""
    )


def _change_workflow(work: Work, fact: events.WorkflowChanged) -> Work:
    reason = fact.reason if fact.trigger in _REPLANS and fact.reason else work.replan_reason
    return replace(work, status=fact.state, replan_reason=reason)


_REPLANS = (Trigger.MAJOR_FAILURE, Trigger.MAJOR_CHANGE, Trigger.USER_CHOOSE_REPLAN)


def _request_change(work: Work, fact: events.ChangeRequested) -> Work:
    return replace(fold_tasks.forget_episodes(work), feedback=fact.text, refusals=0, problems=())


def _save_snapshot(work: Work, fact: events.SnapshotSaved) -> Work:
    counts = replace(work.counts, snapshots=work.counts.snapshots + 1)
    return replace(work, latest_execution_snapshot_id=fact.snapshot_id, counts=counts)


def _end_episode(work: Work, fact: events.RecoverySucceeded | events.RecoveryFailed) -> Work:
    if not fact.job:
        return work
    return replace(work, episodes={job: each for job, each in work.episodes.items() if job != fact.job})


def _answer(work: Work, fact: events.AggregateCompleted) -> Work:
    return replace(work, answer=fact.text[: limits.RESULT_CHARS])


def _open_breaker(work: Work, fact: events.MemberUnavailable) -> Work:
    slots = work.slots[fact.member]
    states = {name: AGENT.follow(each, SlotTrigger.DISPATCH_FAILURES_EXCEEDED) for name, each in slots.states.items()}
    opened = replace(slots, states=states, is_open=True, probes=slots.probes + 1, delay_s=fact.retry_in_s)
    return fold_tasks.with_slots(work, fact.member, opened)


def _probe(work: Work, fact: events.MemberProbed) -> Work:
    return fold_tasks.with_slots(work, fact.member, replace(work.slots[fact.member], may_probe=True))


def _stay(work: Work, fact: object) -> Work:  # noqa: ARG001
    return work


FOLD: dict[type, Callable[[Work, Any], Work]] = {
    events.PlanStarted: _start_plan,
    events.PlanStepped: _step_plan,
    events.PlanRefused: _refuse_plan,
    events.PlanCompleted: _complete_plan,
    events.PlanApproved: _approve_plan,
    events.PlanCancelled: _stay,
    events.WorkflowChanged: _change_workflow,
    events.ChangeRequested: _request_change,
    events.SnapshotSaved: _save_snapshot,
    events.PlanPatched: _patch_plan,
    events.DispatchRequested: fold_tasks.request,
    events.DispatchAcked: fold_tasks.ack,
    events.DispatchNacked: fold_tasks.nack,
    events.SolverStarted: fold_tasks.start,
    events.SolverProgressed: fold_tasks.progress,
    events.SolverCompleted: fold_tasks.complete,
    events.SolverCancelled: fold_tasks.cancel,
    events.SolverRestarted: fold_tasks.restart,
    events.TaskFailed: fold_tasks.fail,
    events.LeaseExpired: fold_tasks.lose_lease,
    events.TaskReviewed: fold_tasks.review,
    events.TaskBlocked: fold_tasks.block,
    events.TaskSkipped: fold_tasks.skip,
    events.ExecutionFailed: _stay,
    events.RecoveryStarted: fold_tasks.retry,
    events.RecoverySucceeded: _end_episode,
    events.RecoveryFailed: _end_episode,
    events.AggregateStarted: _stay,
    events.AggregateCompleted: _answer,
    events.PipelineCompleted: _stay,
    events.FinalAnswered: _stay,
    events.Interrupted: _stay,
    events.MemberUnavailable: _open_breaker,
    events.MemberProbed: _probe,
    events.WaitEnded: fold_tasks.end_wait,
}
