"""Which effects a state asks for. After a crash the shell starts exactly these."""

from moot.core.effects import Effect, RunTurn, StepDeadline, Understand, watch_worker
from moot.core.flows.registry import flow_of
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.session.state import State


def outstanding(state: State) -> list[Effect]:
    """Return every effect that should be under way now."""
    effects: list[Effect] = []
    flow = flow_of(state)
    if state.running and state.interrupt not in STOPPED:
        timeout_s = flow.turn_timeout_s(state)
        for turn in state.running:
            effects.append(RunTurn(turn))
            effects += watch_worker(state, turn.turn_id, timeout_s)
    if state.open_steps:
        effects += [
            StepDeadline(step.step_id, step.expires_at, step.timeout_s)
            for step in state.open_steps.values()
            if step.expires_at
        ]
    if state.door.inputs:
        effects.append(Understand(state.door.inputs[0]))
    if state.status is not Status.COMPLETED:
        effects += flow.effects(state)
    return effects
