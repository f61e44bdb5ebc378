"""How a task evolves from its offer to its end: one function a fact, used by the fold of the work."""

from msgspec.structs import replace

from moot.core import limits
from moot.core.machines.agent import AGENT
from moot.core.machines.agent import State as Slot
from moot.core.machines.agent import Trigger as SlotTrigger
from moot.core.machines.task import TASK, State, Trigger
from moot.core.plan import events
from moot.core.plan.runs import as_task, make_ready
from moot.core.plan.state import Slots, TaskRun, Wait, Work


def request(work: Work, fact: events.DispatchRequested, earlier: dict[str, int] | None = None) -> Work:
    """`earlier`: the member's turns before this one, by task; None when it is the same turn again."""
    run = work.tasks[fact.task_id]
    offered = replace(
        run,
        state=TASK.advance(run.state, Trigger.ORCHESTRATOR_DISPATCH),
        dispatch_id=fact.dispatch_id,
        agent_id=fact.agent_id,
        member=fact.member,
        attempt=fact.attempt,
        index=fact.index,
        task_index=fact.task_index,
        earlier=run.earlier if earlier is None else earlier,
        is_lease_lost=False,
        wait=None,
    )
    slots = work.slots.get(fact.member, Slots())
    slot = slots.states.get(fact.agent_id, AGENT.initial)
    states = {**slots.states, fact.agent_id: AGENT.follow(slot, SlotTrigger.RECOVER_OR_RESET)}
    return replace(
        work,
        tasks={**work.tasks, fact.task_id: offered},
        dispatches={**work.dispatches, fact.dispatch_id: fact.task_id},
        slots={**work.slots, fact.member: replace(slots, states=states, may_probe=False)},
        counts=replace(work.counts, dispatches=work.counts.dispatches + 1),
    )


def ack(work: Work, fact: events.DispatchAcked) -> Work:
    """The first ack closes a breaker."""
    run = work.tasks[fact.task_id]
    taken = replace(run, state=TASK.advance(run.state, Trigger.DISPATCH_ACK))
    slots = _turn_slot(work.slots[fact.member], fact.agent_id, SlotTrigger.DISPATCH_ACK)
    return _with_both(work, taken, replace(slots, failures=0, is_open=False))


_REFUSED = {"timeout": Trigger.TIMEOUT, "no_resource": Trigger.NO_RESOURCE}


def nack(work: Work, fact: events.DispatchNacked) -> Work:
    run, count = work.tasks[fact.task_id], work.counts.waits + 1
    trigger = _REFUSED.get(fact.reason, Trigger.DISPATCH_NACK)
    if run.state is State.DISPATCHED:
        trigger = Trigger.START_TIMEOUT
    waits = fact.retry_in_s is not None
    failed = replace(
        run,
        state=TASK.advance(run.state, trigger),
        dispatch_failures=run.dispatch_failures + 1,
        refused_by=(*run.refused_by, fact.member),
        wait=Wait(count, fact.retry_in_s) if fact.retry_in_s is not None else None,
        message=fact.reason,
    )
    if waits and not fact.retry_in_s:
        failed = replace(failed, state=TASK.advance(failed.state, Trigger.RECOVERABLE_RETRY), wait=None)
    slots = _turn_slot(work.slots[fact.member], fact.agent_id, SlotTrigger.RELEASED)
    released = _release(replace(work, counts=replace(work.counts, waits=count)), failed)
    return with_slots(released, fact.member, replace(slots, failures=slots.failures + 1))


def start(work: Work, fact: events.SolverStarted) -> Work:
    run = work.tasks[fact.task["id"]]
    started = replace(
        run,
        state=TASK.advance(run.state, Trigger.TASK_EXECUTION_STARTED),
        done_steps=0,
        dispatch_failures=0,
        refused_by=(),
    )
    slots = _turn_slot(work.slots[run.member], run.agent_id, SlotTrigger.TASK_EXECUTION_STARTED)
    return _with_both(work, started, slots)


def progress(work: Work, fact: events.SolverProgressed) -> Work:
    run = work.tasks[fact.task_id]
    work = _move_slot(work, run, SlotTrigger.AGENT_STEP_COMPLETED)
    return _with_run(work, replace(run, state=TASK.advance(run.state, Trigger.TASK_PROGRESS), done_steps=fact.done))


def complete(work: Work, fact: events.SolverCompleted) -> Work:
    """The result is kept for those who depend on it."""
    run = work.tasks[fact.task["id"]]
    state = TASK.advance(run.state, Trigger.TASK_EXECUTION_SUCCESS)
    if not fact.awaits_review:
        state = TASK.advance(state, Trigger.REVIEW_OFF)
    result = fact.result[: limits.RESULT_CHARS]
    finished = replace(run, state=state, result=result, retries=0, dispatch_id=None)
    tasks = {**work.tasks, run.task.id: finished}
    slots = _turn_slot(work.slots[run.member], run.agent_id, SlotTrigger.TASK_EXECUTION_SUCCESS)
    return replace(
        work,
        tasks=tasks if fact.awaits_review else make_ready(tasks, run.task.id),
        dispatches=_without(work, run),
        slots={**work.slots, run.member: slots},
    )


def fail(work: Work, fact: events.TaskFailed) -> Work:
    run = work.tasks[fact.task_id]
    work = _move_slot(work, run, SlotTrigger.TASK_EXECUTION_FAILURE)
    failed = replace(
        run,
        state=TASK.advance(run.state, Trigger.TASK_EXECUTION_FAILURE),
        error_type=fact.error_type,
        message=fact.message,
    )
    return _release(work, failed)


def lose_lease(work: Work, fact: events.LeaseExpired) -> Work:
    run = work.tasks[fact.task_id]
    slots = work.slots[run.member]
    states = {**slots.states, run.agent_id: Slot.IDLE}  # the slot died with its worker; a new one takes its place
    lost = replace(
        run,
        state=TASK.advance(run.state, Trigger.LEASE_EXPIRED),
        is_lease_lost=True,
        leases_lost=run.leases_lost if fact.reason == "paused" else run.leases_lost + 1,
    )
    return with_slots(_release(work, lost), run.member, replace(slots, states=states))


def retry(work: Work, fact: events.RecoveryStarted) -> Work:
    """With a delay the task waits where it failed; without one it may start at once."""
    count = work.counts.waits + 1
    work = replace(work, counts=replace(work.counts, waits=count))
    wait = Wait(count, fact.delay_s)
    if fact.task_id is None or fact.job:
        episode = work.episodes[fact.job]
        return replace(work, episodes={**work.episodes, fact.job: replace(episode, retries=fact.attempt, wait=wait)})
    run = replace(work.tasks[fact.task_id], retries=fact.attempt, wait=wait)
    return _with_run(work, run) if fact.delay_s else _with_run(work, _next_attempt(run))


def end_wait(work: Work, fact: events.WaitEnded) -> Work:
    run = work.tasks[fact.task_id]
    if run.state is State.DISPATCH_FAILED:
        again = replace(run, state=TASK.advance(run.state, Trigger.RECOVERABLE_RETRY), wait=None)
        return _with_run(work, again)
    return _with_run(work, _next_attempt(run))


def _next_attempt(run: TaskRun) -> TaskRun:
    return replace(
        run, state=TASK.advance(run.state, Trigger.RETRY_OR_REASSIGN), attempt=run.attempt + 1, wait=None, done_steps=0
    )


def review(work: Work, fact: events.TaskReviewed) -> Work:
    run = work.tasks[fact.task_id]
    if fact.passed:
        return _settle(work, replace(run, state=TASK.advance(run.state, Trigger.REVIEW_PASS)))
    rejected = replace(run, state=TASK.advance(run.state, Trigger.REVIEW_REJECT), feedback=fact.feedback)
    if not fact.is_reworked:
        return _with_run(work, rejected)
    again = replace(
        rejected,
        state=TASK.advance(rejected.state, Trigger.REPLAN_OR_RETRY),
        rework=run.rework + 1,
        attempt=run.attempt + 1,
        done_steps=0,
    )
    return _with_run(work, again)


def request_review(work: Work, task_id: str) -> Work:
    """A reviewer was given the task (`turn.started`)."""
    return _move(work, task_id, Trigger.REVIEW_REQUESTED)


def block(work: Work, fact: events.TaskBlocked) -> Work:
    run = work.tasks[fact.task_id]
    is_missing = run.state is State.DISPATCH_FAILED and run.message == "no_resource"
    trigger = Trigger.UNRECOVERABLE_RESOURCE_MISSING if is_missing else Trigger.RETRIES_EXHAUSTED
    return _with_run(work, replace(run, state=TASK.advance(run.state, trigger), wait=None))


def skip(work: Work, fact: events.TaskSkipped) -> Work:
    run = work.tasks[fact.task_id]
    return _settle(work, replace(run, is_skipped=True, wait=None))


def cancel(work: Work, fact: events.SolverCancelled) -> Work:
    """A task that failed for good is one that might begin anew: that is what is cancelled then."""
    run = work.tasks[fact.task["id"]]
    work = forget_episodes(_abandon(work, run), run.task.id)
    was = TASK.initial if run.state is State.BLOCKED else run.state
    return _release(work, replace(run, state=TASK.advance(was, Trigger.CANCELLED), wait=None))


def restart(work: Work, fact: events.SolverRestarted) -> Work:
    """From the beginning: what was finished before it counts on, its own failures do not."""
    run = work.tasks[fact.task["id"]]
    fresh = TaskRun(
        task=as_task(fact.task),
        attempt=run.attempt + 1,
        feedback=run.feedback,
        given_to=fact.member or run.given_to,
    )
    work = forget_episodes(_abandon(work, run), run.task.id)
    dispatches = {dispatch: task_id for dispatch, task_id in work.dispatches.items() if task_id != run.task.id}
    return replace(work, tasks=make_ready({**work.tasks, run.task.id: fresh}), dispatches=dispatches)


def forget_episodes(work: Work, *task_ids: str) -> Work:
    """Failures of turns that nobody waits for any more: reviews of these tasks, and an answer made without them."""
    gone = {"aggregate", *(f"review:{task_id}" for task_id in task_ids)}
    if gone.isdisjoint(work.episodes):
        return work
    return replace(work, episodes={job: each for job, each in work.episodes.items() if job not in gone})


def _with_run(work: Work, run: TaskRun) -> Work:
    return replace(work, tasks={**work.tasks, run.task.id: run})


def _with_both(work: Work, run: TaskRun, slots: Slots) -> Work:
    """A task and the slots of the member that has it."""
    return replace(work, tasks={**work.tasks, run.task.id: run}, slots={**work.slots, run.member: slots})


def with_slots(work: Work, member: str, slots: Slots) -> Work:
    return replace(work, slots={**work.slots, member: slots})


def _move(work: Work, task_id: str, trigger: Trigger) -> Work:
    run = work.tasks[task_id]
    return _with_run(work, replace(run, state=TASK.advance(run.state, trigger)))


def _settle(work: Work, run: TaskRun) -> Work:
    """A task is finished: those that depend on it may start."""
    return replace(work, tasks=make_ready({**work.tasks, run.task.id: run}, run.task.id))


def _release(work: Work, run: TaskRun) -> Work:
    """Nobody has the task any more."""
    tasks = {**work.tasks, run.task.id: replace(run, dispatch_id=None)}
    return replace(work, tasks=tasks, dispatches=_without(work, run))


def _without(work: Work, run: TaskRun) -> dict[str, str]:
    """What is under way but for this task."""
    return {dispatch: task_id for dispatch, task_id in work.dispatches.items() if dispatch != run.dispatch_id}


def _turn_slot(slots: Slots, agent_id: str, trigger: SlotTrigger) -> Slots:
    moved = AGENT.follow(slots.states.get(agent_id, AGENT.initial), trigger)
    return replace(slots, states={**slots.states, agent_id: moved})


def _move_slot(work: Work, run: TaskRun, trigger: SlotTrigger) -> Work:
    return with_slots(work, run.member, _turn_slot(work.slots[run.member], run.agent_id, trigger))


def _abandon(work: Work, run: TaskRun) -> Work:
    """The worker of a task is stopped: its slot is free again."""
    if not run.is_under_way:
        return work
    slots = work.slots[run.member]
    return with_slots(work, run.member, replace(slots, states={**slots.states, run.agent_id: Slot.IDLE}))
