"""The effects of the plan flow."""

from collections.abc import Iterable, Iterator

from moot.core import limits
from moot.core.effects import Deadline, Effect, LeaseCheck, RunTask, UseWorkspace, find_wake, watch_worker
from moot.core.flows.plan import integration
from moot.core.flows.plan.plan_commands import EndGrace, EndWait, ProbeMember
from moot.core.flows.plan.plan_slice import find_work
from moot.core.flows.plan.plan_state import TaskRun, Wait, Work
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import TaskState
from moot.core.session.commands import ExpireDispatch, ExpireLease
from moot.core.session.state import State
from moot.core.session.workspace_commands import CheckTask


def list_effects(state: State) -> Iterator[Effect]:
    """Yield the effects of the work under way: workers, deadlines, delays before retries, probes."""
    work = find_work(state)
    if work is None or not work.is_active:
        return
    if state.interrupt is Interrupt.PAUSING:
        yield Deadline("grace", limits.PAUSE_GRACE_S, EndGrace())
    elif state.interrupt is Interrupt.MINOR_REPLAN:  # tasks wait for the change; retries of the planner do not
        yield from _wait([episode.wait for episode in work.episodes.values() if episode.wait])
        return
    elif state.interrupt is not Interrupt.EXECUTION:
        return
    for dispatch_id, task_id in work.dispatches.items():
        yield from _run_task(state, work.tasks[task_id], dispatch_id)
    if state.interrupt is Interrupt.PAUSING:
        return
    if state.workspace.trees:
        yield from _integrate(state, work)
    yield from _wait([run.wait for run in work.tasks.values() if run.wait])
    yield from _wait([episode.wait for episode in work.episodes.values() if episode.wait])
    for member, slots in work.slots.items():
        if slots.is_open and work.needs_probe(member):
            yield Deadline(f"probe:{member}:{slots.probes}", slots.delay_s, ProbeMember(member=member))


def _integrate(state: State, work: Work) -> Iterator[Effect]:
    """Yield the checks of what is finished, and the merge of the first task in the queue."""
    for run in work.tasks.values():
        if run.gate == "check" and not run.is_over:
            yield UseWorkspace(CheckTask(task_id=run.task.id, tree=run.tree, turn_id=run.turn_id))
    for run in integration.list_queue(work)[:1]:
        tree = state.workspace.trees.get(run.tree)
        yield UseWorkspace(integration.describe_merge(run, tree.checked if tree and tree.has_passed else ""))


def _wait(waits: Iterable[Wait]) -> Iterator[Effect]:
    for wait in waits:
        yield Deadline(f"wait:{wait.number}", wait.delay_s, EndWait(number=wait.number))


def _run_task(state: State, run: TaskRun, dispatch_id: str) -> Iterator[Effect]:
    settings = state.team.plan
    wake = find_wake(state, dispatch_id)
    if wake is not None:
        yield from wake
        return
    worker = state.run_key(dispatch_id)
    yield RunTask(dispatch_id, worker, is_taken=dispatch_id in state.runs)
    if run.state is TaskState.DISPATCHING:
        late = ExpireDispatch(dispatch_id=dispatch_id)
        yield Deadline(f"dispatch:{dispatch_id}", settings.dispatch_timeout_s, late)
        return
    if run.state is TaskState.DISPATCHED:
        late = ExpireDispatch(dispatch_id=dispatch_id)
        yield Deadline(f"start:{dispatch_id}", settings.turn_timeout_s, late)
    else:
        yield from watch_worker(state, dispatch_id, settings.turn_timeout_s)
    yield LeaseCheck(f"lease:{worker}", limits.LEASE_S, worker, ExpireLease(dispatch_id=dispatch_id))
