"""How the supervisor's job of a session evolves: the part of `evolve` that the other flows do without."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import events
from moot.core.machines.input_routing import Trigger as InputTrigger
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import Trigger as InterruptTrigger
from moot.core.state import State
from moot.core.supervisor import events as facts
from moot.core.supervisor import fold
from moot.core.supervisor.state_update import start_state
from moot.core.supervisor.supervision import REVIEW_OUTPUT, STUCK, Supervision
from moot.core.supervisor_settings import SUPERVISOR


def start_turn(state: State, node: str) -> State:
    assert state.supervision is not None  # noqa: S101 - such a turn belongs to a job
    return replace(state, supervision=fold.start_turn(state.supervision, node))


def complete_turn(state: State) -> State:
    job = state.supervision
    return state if job is None else replace(state, supervision=fold.complete_turn(job, job.node))


def close_step(state: State, step: events.StepAsked | None, fact: events.StepClosed) -> State:
    """Questions of a job: the agent that asked acts again, so does one whose output was rejected; a stuck job goes on."""
    job = state.supervision
    if job is None or step is None:
        return state
    if step.code == STUCK:
        node = SUPERVISOR if fact.outcome == "superseded" else job.node
        job = replace(job, node=node, steps=0, unusable_in_a_row=0)
    elif fact.outcome != "answered":
        return state
    elif step.code == REVIEW_OUTPUT and fact.choice == "reject":
        job = replace(job, node=step.job, feedback=fact.answer or "")
    elif step.key:
        answer = {"selected_ids": list(fact.selected_ids), "custom_input": fact.answer or ""}
        job = replace(job, node=step.job, answers={**job.answers, step.key: answer})
    return replace(state, supervision=job)


def _start(state: State, fact: facts.SupervisionStarted) -> State:
    """A new job begins with what the team file starts the shared state with."""
    job = Supervision(goal=fact.goal, asked_by=fact.asked_by, state=start_state(state.team.supervisor))
    door = state.door
    for trigger in (InputTrigger.NEW_TASK_STARTED, InputTrigger.PLAN_APPROVED):
        door = door.move(trigger)
    left = door.deferred[1:] if fact.is_deferred else door.deferred
    return replace(state, supervision=job, door=replace(door, deferred=left), interrupt=INTERRUPT.initial)


_HEARD = (InputTrigger.RESUMED, InputTrigger.PATCHES_APPLIED, InputTrigger.USER_REJECTED_CONTINUE_ANYWAY)
_GOES_ON = (
    InterruptTrigger.RESUME_EXECUTION,
    InterruptTrigger.PATCH_PLAN_APPLIED,
    InterruptTrigger.CONTINUE_CURRENT,
)


def _note(state: State, fact: facts.InputNoted) -> State:
    """What is about the job lets it go on, when it was paused."""
    door, held = state.door, state.interrupt
    for trigger in _HEARD:
        door = door.move(trigger)
    for going_on in _GOES_ON:
        held = INTERRUPT.follow(held, going_on)
    return replace(_job(state, fact), door=door, interrupt=held)


def _end(state: State, fact: facts.SupervisionEnded) -> State:
    trigger = InputTrigger.CANCELLED if fact.outcome == "cancelled" else InputTrigger.ALL_DONE
    return replace(_job(state, fact), door=state.door.move(trigger), interrupt=INTERRUPT.initial)


def _job(state: State, fact: facts.SupervisorFact) -> State:
    assert state.supervision is not None  # noqa: S101 - the first fact of a job is the one that begins it
    return replace(state, supervision=fold.FOLD[type(fact)](state.supervision, fact))


SUPERVISION: dict[type, Callable[[State, Any], State]] = {
    **dict.fromkeys(fold.FOLD, _job),
    facts.SupervisionStarted: _start,
    facts.InputNoted: _note,
    facts.SupervisionEnded: _end,
}
