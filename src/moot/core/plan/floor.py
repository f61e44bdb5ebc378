"""Who has the floor while work is under way: the members, or a human (promise 1: never stuck)."""

from moot.core.draft import Draft
from moot.core.events import PauseReason, SessionActivated, SessionPaused
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import State
from moot.core.plan import workflow
from moot.core.plan.dispatching import PAUSED, lose_leases, may_dispatch
from moot.core.state import State as Session
from moot.core.team import Member

HELD = (State.DISPATCHED, State.RUNNING)


def is_held(state: Session) -> bool:
    """A pause was asked for, or the change that followed one is being made: no task is offered."""
    return state.interrupt is not Interrupt.EXECUTION


def is_running(state: Session) -> bool:
    """Somebody is at work right now."""
    if state.interrupt in STOPPED:
        return False
    work = state.work
    if state.running:
        return True
    return work is not None and any(work.tasks[task_id].state in HELD for task_id in work.dispatches.values())


def is_busy(state: Session) -> bool:
    """Something happens without a human: a turn, an offer, a delay that ends, an input that is being understood."""
    if is_running(state):
        return True
    work = state.work
    if work is None or not work.is_active:
        return bool(state.door.inputs)
    if state.interrupt not in (Interrupt.EXECUTION, Interrupt.MINOR_REPLAN):
        return False
    if state.door.inputs or any(episode.wait for episode in work.episodes.values()):
        return True
    if is_held(state):
        return False
    runs = work.tasks.values()
    if work.dispatches:
        return True
    return any(run.wait for run in runs) or (
        may_dispatch(work) and any(run.state is State.READY and not run.is_over for run in runs)
    )


def settle(draft: Draft) -> None:
    """End every decision with a clear floor: members at work, or a named human."""
    if not draft.facts:
        return  # nothing has changed
    state = draft.state
    if state.interrupt is Interrupt.PAUSING and not is_running(state):
        checkpoint(draft)
        return
    if is_busy(state):
        if state.status is Status.PAUSED and state.interrupt not in STOPPED:
            draft.add(SessionActivated())
        return
    if state.status is Status.ACTIVE or not isinstance(draft.facts[-1], SessionPaused):
        holder, reason = _holder(state)
        draft.pause(holder, reason)


def _holder(state: Session) -> tuple[Member, PauseReason]:
    if state.interrupt in STOPPED:
        by = state.pause_requested_by
        return state.team.member(by) if by else state.team.first_human, state.pause_reason or "user_pause"
    asked = next(iter(state.open_steps.values()), None)
    if asked:
        return state.team.member(asked.asked_by) if asked.asked_by else _owner(state), "step"
    return _owner(state), "finished"


def _owner(state: Session) -> Member:
    work = state.work
    return state.team.member(work.asked_by) if work and work.asked_by else state.team.first_human


def checkpoint(draft: Draft) -> None:
    """PAUSED: what still runs is stopped and begins again, with the same attempt, when the work goes on."""
    state = draft.state
    reason: PauseReason = "budget" if state.pause_requested_by is None and state.is_over_budget else "user_pause"
    if state.work is not None and state.work.is_active:
        lose_leases(draft, PAUSED)
        workflow.save_snapshot(draft, "pause")
    by = state.pause_requested_by
    draft.pause(draft.team.member(by) if by else draft.team.first_human, reason)
