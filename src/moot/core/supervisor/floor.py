"""Who has the floor while a supervisor's job is under way: a member, its tools, or a human (promise 1: never stuck)."""

from moot.core import budgets
from moot.core.draft import Draft
from moot.core.events import PauseReason, PauseRequested, SessionActivated, SessionPaused
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.state import State
from moot.core.supervisor import questions
from moot.core.supervisor.events import SupervisionEnded
from moot.core.supervisor.jobs import active_job, begin, concerns_job, notice, player_of, start_turn
from moot.core.supervisor.supervision import STUCK
from moot.core.team import Member


def advance(draft: Draft, *, starts_deferred: bool = False) -> None:
    """Let the job go on as far as it can without a human, then say who has the floor."""
    if may_act(draft.state):
        _act(draft)
    if _start_deferred(draft, is_asked=starts_deferred):
        _act(draft)
    _settle(draft)


def may_act(state: State) -> bool:
    """Nobody acts, nothing is asked, no pause was asked for: the node is to act."""
    job = active_job(state)
    if job is None or state.running or job.calls or state.interrupt is not Interrupt.EXECUTION:
        return False
    return not any(concerns_job(step) for step in state.open_steps.values())


def _act(draft: Draft) -> None:
    """Start the turn of whose turn it is, unless a bound is reached."""
    state = draft.state
    job = active_job(state)
    assert job is not None  # noqa: S101 - may_act has seen it
    limit = state.team.supervisor.max_steps
    player = player_of(draft, job.node)
    overrun = budgets.find_overrun(state, player)
    if overrun:
        draft.add(overrun)
        draft.add(PauseRequested(member=None))
    elif limit and job.steps >= limit:
        notice(draft, "step_limit", limit=limit)
        questions.ask_stuck(draft, "step_limit")
    else:
        if state.status is Status.PAUSED:
            draft.add(SessionActivated())
        start_turn(draft, job.node, player)


def _start_deferred(draft: Draft, *, is_asked: bool) -> bool:
    """What was put off begins when the job before it is done; after a cancelled one, when somebody asks."""
    state = draft.state
    if not state.door.deferred or active_job(state) is not None or state.interrupt is not Interrupt.EXECUTION:
        return False
    is_done = any(isinstance(fact, SupervisionEnded) and fact.outcome != "cancelled" for fact in draft.facts)
    if is_asked or is_done:
        first = state.door.deferred[0]
        begin(draft, first.text, first.member, is_deferred=True)
    return is_asked or is_done


def _settle(draft: Draft) -> None:
    """End every decision with a clear floor: members at work, or a named human."""
    state = draft.state
    job = active_job(state)
    is_running = bool(state.running) or bool(job and job.calls)
    if state.interrupt is Interrupt.PAUSING and not is_running:
        reason: PauseReason = "budget" if state.pause_requested_by is None and state.is_over_budget else "user_pause"
        draft.pause(_asker(state), reason)
    elif is_running or (state.door.inputs and state.interrupt is Interrupt.EXECUTION):
        if state.status is Status.PAUSED:
            draft.add(SessionActivated())
    elif draft.facts and (state.status is Status.ACTIVE or not isinstance(draft.facts[-1], SessionPaused)):
        holder, reason = _find_holder(state)
        draft.pause(holder, reason)


def _asker(state: State) -> Member:
    by = state.pause_requested_by
    return state.team.member(by) if by else state.team.first_human


# chat: the reasons are a closed list; what else stopped the job, the open step says (`error_type`).
_FAULTS: dict[str, PauseReason] = {"agent_error": "agent_error", "agent_timeout": "agent_timeout"}


def _find_holder(state: State) -> tuple[Member, PauseReason]:
    if state.interrupt in STOPPED:
        return _asker(state), state.pause_reason or "user_pause"
    for step in state.open_steps.values():
        if step.code == STUCK:
            return state.team.first_human, _FAULTS.get(step.error_type, "step")
    job = state.supervision
    owner = state.team.member(job.asked_by) if job else state.team.first_human
    asked = next(iter(state.open_steps.values()), None)
    if asked:
        return state.team.member(asked.asked_by) if asked.asked_by else owner, "step"
    return owner, "finished"
