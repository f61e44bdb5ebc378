"""Folds facts about a task, from its offer to its end: one function per kind of fact, used by the fold of the work."""

from collections.abc import Callable

from msgspec.structs import replace

from moot.core import limits
from moot.core.flows.plan import plan_events as events
from moot.core.flows.plan.plan_state import Slots, TaskRun, Wait, Work
from moot.core.flows.plan.runs import as_task, make_ready
from moot.core.machines import agent, task, workflow
from moot.core.machines.agent import AGENT
from moot.core.machines.agent import State as Slot
from moot.core.machines.task import TaskState


def request(work: Work, fact: events.DispatchRequested, earlier: dict[str, int] | None = None) -> Work:
    """Offer a task. `earlier` are the member's turns before this one, by task; None if it is the same turn again."""
    run = work.tasks[fact.task_id]
    offered = replace(
        run,
        state=fact.state,
        dispatch_id=fact.dispatch_id,
        agent_id=fact.agent_id,
        member=fact.member,
        attempt=fact.attempt,
        index=fact.index,
        task_index=fact.task_index,
        earlier=run.earlier if earlier is None else earlier,
        is_lease_lost=False,
        wait=None,
        tree=fact.tree,
        offered_at=fact.offered_at,
        seq=fact.seq,
        gate="",
    )
    slots = work.slots.get(fact.member, Slots())
    slot = slots.states.get(fact.agent_id, AGENT.initial)
    states = {**slots.states, fact.agent_id: agent.offer(slot)}
    return replace(
        work,
        tasks={**work.tasks, fact.task_id: offered},
        dispatches={**work.dispatches, fact.dispatch_id: fact.task_id},
        slots={**work.slots, fact.member: replace(slots, states=states, may_probe=False)},
        counts=replace(work.counts, dispatches=work.counts.dispatches + 1),
    )


def ack(work: Work, fact: events.DispatchAcked) -> Work:
    """Reserve the slot. Taking an offer closes the member's breaker."""
    run = work.tasks[fact.task_id]
    taken = replace(run, state=fact.state, place=fact.place)
    slots = _turn_slot(work.slots[fact.member], fact.agent_id, agent.take)
    return _with_both(work, taken, replace(slots, failures=0, is_open=False))


def nack(work: Work, fact: events.DispatchNacked) -> Work:
    run, count = work.tasks[fact.task_id], work.counts.waits + 1
    failed = replace(
        run,
        state=fact.state,
        dispatch_failures=run.dispatch_failures + 1,
        refused_by=(*run.refused_by, fact.member),
        wait=Wait(count, fact.retry_in_s, fact.retry_at) if fact.retry_in_s else None,
        message=fact.reason,
    )
    slots = _turn_slot(work.slots[fact.member], fact.agent_id, agent.release)
    released = _release(replace(work, counts=replace(work.counts, waits=count)), failed)
    return with_slots(released, fact.member, replace(slots, failures=slots.failures + 1))


def start(work: Work, fact: events.SolverStarted) -> Work:
    run = work.tasks[fact.task["id"]]
    started = replace(
        run,
        state=fact.state,
        done_steps=0,
        total=None,
        percent=None,
        step="",
        tool=None,
        started_at=fact.started_at,
        message=run.message if run.error_type else "",  # why it was not taken before
        dispatch_failures=0,
        refused_by=(),
    )
    slots = _turn_slot(work.slots[run.member], run.agent_id, agent.start)
    return _with_both(work, started, slots)


def progress(work: Work, fact: events.SolverProgressed) -> Work:
    run = work.tasks[fact.task_id]
    work = _move_slot(work, run, agent.step)
    progressed = replace(
        run,
        state=fact.state,
        done_steps=fact.done,
        total=fact.total,
        percent=fact.percent,
        step=fact.step[: limits.STEP_CHARS],
        tool=fact.tool or run.tool,
    )
    return _with_run(replace(work, status=workflow.iterate(work.status)), progressed)


def complete(work: Work, fact: events.SolverCompleted) -> Work:
    """Keep the result for the tasks that depend on it, and free the slot."""
    run = work.tasks[fact.task["id"]]
    result = fact.result[: limits.RESULT_CHARS]
    finished = replace(
        run,
        state=fact.state,
        result=result,
        retries=0,
        error_type="",
        message="",
        dispatch_id=None,
        gate=fact.gate,
        turn_id=fact.dispatch_id if fact.gate else run.turn_id,
    )
    tasks = {**work.tasks, run.task.id: finished}
    slots = _turn_slot(work.slots[run.member], run.agent_id, agent.succeed)
    return replace(
        work,
        tasks=make_ready(tasks, fact.ready),
        dispatches=_without(work, run),
        slots={**work.slots, run.member: slots},
    )


def fail(work: Work, fact: events.TaskFailed) -> Work:
    run = work.tasks[fact.task_id]
    work = _move_slot(work, run, agent.fail)
    failed = replace(
        run,
        state=fact.state,
        error_type=fact.error_type,
        message=fact.message,
    )
    return _release(work, failed)


def lose_lease(work: Work, fact: events.LeaseExpired) -> Work:
    run = work.tasks[fact.task_id]
    lost = replace(
        run,
        state=fact.state,
        is_lease_lost=True,
        leases_lost=run.leases_lost if fact.reason == "paused" else run.leases_lost + 1,
    )
    return _move_slot(_release(work, lost), run, agent.release)  # a new worker takes the place of the one that died


def retry(work: Work, fact: events.RecoveryStarted) -> Work:
    """Count a retry. A task with a delay waits in its failed state; without one it may start at once."""
    count = work.counts.waits + 1
    work = replace(work, counts=replace(work.counts, waits=count))
    wait = Wait(count, fact.delay_s, fact.retry_at)
    changes = {"retries": fact.attempt, "max_attempts": fact.max_attempts, "wait": wait}
    if fact.task_id is None or fact.job:
        episode = work.episodes[fact.job]
        return replace(work, episodes={**work.episodes, fact.job: replace(episode, **changes)})
    run = replace(work.tasks[fact.task_id], **changes)
    if fact.member:
        run = replace(run, given_to=fact.member, stands_in_for=fact.stands_in_for)
    return _with_run(work, run if fact.state is None else _next_attempt(run, fact.state))


def end_wait(work: Work, fact: events.WaitEnded) -> Work:
    run = work.tasks[fact.task_id]
    is_same_attempt = run.state is TaskState.DISPATCH_FAILED
    again = replace(run, state=fact.state, wait=None) if is_same_attempt else _next_attempt(run, fact.state)
    return _with_run(work, again)


def _next_attempt(run: TaskRun, state: TaskState) -> TaskRun:
    return replace(run, state=state, attempt=run.attempt + 1, wait=None, done_steps=0, gate="")


def review(work: Work, fact: events.TaskReviewed) -> Work:
    run = replace(work.tasks[fact.task_id], state=fact.state)
    if fact.passed:
        return _settle(work, run, fact.ready)
    run = replace(run, feedback=fact.feedback, gate="")
    if not fact.is_reworked:
        return _with_run(work, run)
    keeps = run.member if run.tree else run.given_to  # in its tree the same member goes on
    return _with_run(work, replace(_next_attempt(run, fact.state), rework=run.rework + 1, given_to=keeps))


def send_back(work: Work, fact: events.TaskSentBack) -> Work:
    """Give the work back to the same member, in the same tree."""
    run = replace(work.tasks[fact.task_id], state=fact.state, feedback=fact.feedback, gate="")
    if not fact.is_reworked:
        return _with_run(work, run)
    return _with_run(work, replace(_next_attempt(run, fact.state), rework=run.rework + 1, given_to=fact.member))


def pass_gate(work: Work, task_id: str, gate: str, **changes: object) -> Work:
    """Move the work of a task to another gate."""
    run = work.tasks.get(task_id)
    return work if run is None else _with_run(work, replace(run, gate=gate, **changes))


def merge(work: Work, task_id: str, state: str, ready: tuple[str, ...]) -> Work:
    """Finish a task whose work was merged; those that depend on it may start."""
    run = work.tasks.get(task_id)
    if run is None or not state:
        return work
    return _settle(work, replace(run, state=TaskState(state), gate="", side="", side_files=()), ready)


def request_review(work: Work, task_id: str) -> Work:
    """Move a task into review, because a reviewer was given it (`turn.started`)."""
    run = work.tasks[task_id]
    return _with_run(work, replace(run, state=task.request_review(run.state)))


def block(work: Work, fact: events.TaskBlocked) -> Work:
    return _with_run(work, replace(work.tasks[fact.task_id], state=fact.state, wait=None, gate=""))


def skip(work: Work, fact: events.TaskSkipped) -> Work:
    run = work.tasks[fact.task_id]
    return _settle(work, replace(run, is_skipped=True, wait=None, gate=""), fact.ready)


def cancel(work: Work, fact: events.SolverCancelled) -> Work:
    run = work.tasks[fact.task["id"]]
    work = forget_episodes(_abandon(work, run), run.task.id)
    return _release(work, replace(run, state=fact.state, wait=None, gate=""))


def restart(work: Work, fact: events.SolverRestarted) -> Work:
    """Restart a task from the beginning and forget its failures. What it depends on stays finished."""
    run = work.tasks[fact.task["id"]]
    fresh = TaskRun(
        task=as_task(fact.task),
        state=fact.state,
        attempt=run.attempt + 1,
        feedback=run.feedback,
        given_to=fact.member or run.given_to,
        tree=run.tree,
    )
    work = forget_episodes(_abandon(work, run), run.task.id)
    dispatches = {dispatch: task_id for dispatch, task_id in work.dispatches.items() if task_id != run.task.id}
    return replace(work, tasks=make_ready({**work.tasks, run.task.id: fresh}, fact.ready), dispatches=dispatches)


def forget_episodes(work: Work, *task_ids: str) -> Work:
    """Forget the failures of turns that are no longer needed: reviews of these tasks, and the aggregation."""
    gone = {"aggregate", "review_answer", *(f"review:{task_id}" for task_id in task_ids)}
    if gone.isdisjoint(work.episodes):
        return work
    return replace(work, episodes={job: each for job, each in work.episodes.items() if job not in gone})


def _with_run(work: Work, run: TaskRun) -> Work:
    return replace(work, tasks={**work.tasks, run.task.id: run})


def _with_both(work: Work, run: TaskRun, slots: Slots) -> Work:
    """Replace a task and the slots of the member that has it."""
    return replace(work, tasks={**work.tasks, run.task.id: run}, slots={**work.slots, run.member: slots})


def with_slots(work: Work, member: str, slots: Slots) -> Work:
    return replace(work, slots={**work.slots, member: slots})


def _settle(work: Work, run: TaskRun, ready: tuple[str, ...]) -> Work:
    """Replace a finished task and let those that depend on it start."""
    return replace(work, tasks=make_ready({**work.tasks, run.task.id: run}, ready))


def _release(work: Work, run: TaskRun) -> Work:
    """Replace a task that no member has any more."""
    tasks = {**work.tasks, run.task.id: replace(run, dispatch_id=None)}
    return replace(work, tasks=tasks, dispatches=_without(work, run))


def _without(work: Work, run: TaskRun) -> dict[str, str]:
    """Return the dispatches under way except that of this task."""
    return {dispatch: task_id for dispatch, task_id in work.dispatches.items() if dispatch != run.dispatch_id}


def _turn_slot(slots: Slots, agent_id: str, step: Callable[[Slot], Slot]) -> Slots:
    return replace(slots, states={**slots.states, agent_id: step(slots.states.get(agent_id, AGENT.initial))})


def _move_slot(work: Work, run: TaskRun, step: Callable[[Slot], Slot]) -> Work:
    return with_slots(work, run.member, _turn_slot(work.slots[run.member], run.agent_id, step))


def _abandon(work: Work, run: TaskRun) -> Work:
    """Free the slot of a task whose worker is stopped."""
    return _move_slot(work, run, agent.release) if run.is_under_way else work
