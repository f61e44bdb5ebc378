"""Which effects a state asks for. After a crash the shell starts exactly these."""

from moot.core.effects import Effect, RunTurn, StepDeadline, Understand, find_wake, watch_worker
from moot.core.flows.registry import flow_of
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.session import taking
from moot.core.session.state import State

_COMPLETED = Status.COMPLETED  # a global is faster to look up than a member of an enum


def outstanding(state: State) -> list[Effect]:
    """Return every effect that should be under way now."""
    effects: list[Effect] = []
    flow = flow_of(state)
    if (state.running or state.asides) and state.interrupt not in STOPPED:
        timeout_s = flow.turn_timeout_s(state)
        for turn in (*state.running, *state.asides):
            wake = find_wake(state, turn.turn_id) if state.parked else None
            if wake is not None:
                effects += wake
                continue
            effects.append(RunTurn(turn, state.run_key(turn.turn_id) if state.runs else turn.turn_id))
            effects += watch_worker(state, turn.turn_id, timeout_s)
    if state.open_steps:
        effects += [
            StepDeadline(step.step_id, step.expires_at, step.timeout_s)
            for step in state.open_steps.values()
            if step.expires_at
        ]
    if state.door.inputs:
        effects.append(Understand(state.door.inputs[0]))
    if state.status is not _COMPLETED:
        effects += flow.effects(state)
    if state.workspace.trees:
        effects += taking.list_effects(state)
    return effects
