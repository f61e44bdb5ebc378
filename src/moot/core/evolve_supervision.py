"""How the supervisor's job of a session evolves: the part of `evolve` that the other flows do without."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import door as doors
from moot.core import events
from moot.core.door import Door
from moot.core.machines.input_routing import Trigger as InputTrigger
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
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
    """The agent that asked acts again, so does one whose output was rejected; a job that was stuck goes on."""
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
    door = _move(doors.begin_work(state.door), JOB_MOVES[type(fact)])
    left = door.deferred[1:] if fact.is_deferred else door.deferred
    return replace(state, supervision=job, door=replace(door, deferred=left), interrupt=INTERRUPT.initial)


# facts of a job that move an input along its machine: there is nothing to plan, and what is heard changes no plan
JOB_MOVES: dict[type, tuple[InputTrigger, ...]] = {
    facts.SupervisionStarted: (InputTrigger.NEW_TASK_STARTED, InputTrigger.PLAN_APPROVED),
    facts.InputNoted: (
        InputTrigger.RESUMED,
        InputTrigger.PATCHES_APPLIED,
        InputTrigger.USER_REJECTED_CONTINUE_ANYWAY,
    ),
}
END_MOVES = {
    "complete": InputTrigger.ALL_DONE,
    "partial": InputTrigger.ALL_DONE,
    "cancelled": InputTrigger.CANCELLED,
}


def _move(door: Door, triggers: tuple[InputTrigger, ...]) -> Door:
    for trigger in triggers:
        door = door.move(trigger)
    return door


def go_on(held: Interrupt) -> Interrupt:
    """What is about the job lets it go on, when it was paused."""
    triggers = InterruptTrigger.RESUME_EXECUTION, InterruptTrigger.PATCH_PLAN_APPLIED, InterruptTrigger.CONTINUE_CURRENT
    for trigger in triggers:
        held = INTERRUPT.follow(held, trigger)
    return held


def end(held: Interrupt, outcome: str) -> Interrupt:
    """A job that comes to its end while it is being paused: what was put off waits."""
    return held if held is Interrupt.PAUSING and outcome != "cancelled" else INTERRUPT.initial


def _note(state: State, fact: facts.InputNoted) -> State:
    door = _move(state.door, JOB_MOVES[type(fact)])
    return replace(_job(state, fact), door=door, interrupt=go_on(state.interrupt))


def _end(state: State, fact: facts.SupervisionEnded) -> State:
    door = state.door.move(END_MOVES[fact.outcome])
    return replace(_job(state, fact), door=door, interrupt=end(state.interrupt, fact.outcome))


def _job(state: State, fact: facts.SupervisorFact) -> State:
    assert state.supervision is not None  # noqa: S101 - the first fact of a job is the one that begins it
    return replace(state, supervision=fold.FOLD[type(fact)](state.supervision, fact))


SUPERVISION: dict[type, Callable[[State, Any], State]] = {
    **dict.fromkeys(fold.FOLD, _job),
    facts.SupervisionStarted: _start,
    facts.InputNoted: _note,
    facts.SupervisionEnded: _end,
}
