"""The supervisor flow's part of a session's state, and how it follows the facts."""

from typing import Any

from msgspec import field
from msgspec.structs import replace

from moot.core.facts import Fact, Fold, Follow
from moot.core.flows.supervisor import supervisor_events as facts
from moot.core.flows.supervisor import supervisor_fold
from moot.core.flows.supervisor.state_update import start_state
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK, Supervision
from moot.core.flows.supervisor.supervisor_fold import job_fold
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR
from moot.core.machines import input_routing, interrupt
from moot.core.machines.interrupt import INTERRUPT
from moot.core.session import events
from moot.core.session.state import Slice, State


class SupervisorSlice(Slice, frozen=True, kw_only=True, gc=False, tag="supervisor"):
    job: Supervision | None = None
    inputs: dict[str, Any] = field(default_factory=dict)  # what people gave for the next job

    @property
    def is_active(self) -> bool:
        return self.job is not None and self.job.is_active

    @property
    def asked_by(self) -> str:
        return self.job.asked_by if self.job else ""

    @property
    def goal(self) -> str:
        return self.job.goal if self.job else ""


fold: Fold[State] = Fold()
follow: Follow[State] = Follow()


def find_job(state: State) -> Supervision | None:
    """Return the newest job; None if there was none or the session has another flow."""
    return state.slice.job if isinstance(state.slice, SupervisorSlice) else None


def current_job(state: State) -> Supervision:
    """Return the newest job. Raises LookupError if there was none, which callers rule out."""
    job = find_job(state)
    if job is None:
        raise LookupError("no job was begun")
    return job


def _with_job(state: State, job: Supervision) -> State:
    inputs = state.slice.inputs if isinstance(state.slice, SupervisorSlice) else {}
    return replace(state, slice=SupervisorSlice(job=job, inputs=inputs))


def _change_job(state: State, fact: Fact) -> State:
    return _with_job(state, job_fold.table[type(fact)](current_job(state), fact))


@fold.on(facts.SupervisionStarted)
def _start(state: State, fact: facts.SupervisionStarted) -> State:
    """A new job begins with the shared state that the team file starts with."""
    names = {"threadId": fact.thread_id, "creativeId": fact.creative_id}
    shared = start_state(state.team.supervisor)
    shared |= {key: name for key, name in names.items() if name and key in shared and shared[key] is None}
    shared |= state.part(SupervisorSlice).inputs
    job = Supervision(goal=fact.goal, asked_by=fact.asked_by, number=fact.number, state=shared)
    door = state.door.move(input_routing.start_job)
    left = door.deferred[1:] if fact.is_deferred else door.deferred
    started = replace(state, slice=SupervisorSlice(job=job))  # the inputs are used up
    return replace(started, door=replace(door, deferred=left), interrupt=INTERRUPT.initial)


@fold.on(facts.StateUpdated)
def _update(state: State, fact: facts.StateUpdated) -> State:
    """Change the state of the running job. Inputs that come before a job are kept for it."""
    job = find_job(state)
    if job is not None and job.is_active:
        return _change_job(state, fact)
    inputs = {**state.part(SupervisorSlice).inputs, **fact.changes}
    return replace(state, slice=SupervisorSlice(job=job, inputs=inputs))


@fold.on(facts.InputNoted)
def _note(state: State, fact: facts.InputNoted) -> State:
    door = state.door.move(input_routing.hear)
    return replace(_change_job(state, fact), door=door, interrupt=interrupt.hear(state.interrupt))


@fold.on(facts.SupervisionEnded)
def _end(state: State, fact: facts.SupervisionEnded) -> State:
    is_cancelled = fact.outcome == "cancelled"
    door = state.door.move(input_routing.cancel_job if is_cancelled else input_routing.complete)
    return replace(
        _change_job(state, fact), door=door, interrupt=interrupt.end(state.interrupt, is_cancelled=is_cancelled)
    )


for _kind in job_fold.table:
    if _kind not in fold.table:
        fold.on(_kind)(_change_job)


# facts of every session


@follow.on(events.TurnStarted)
def _start_turn(before: State, after: State, fact: events.TurnStarted) -> State:
    return _with_job(after, supervisor_fold.start_turn(current_job(before), fact.job))


@follow.on(events.TurnCompleted)
def _complete_turn(before: State, after: State, _: events.TurnCompleted) -> State:
    job = current_job(before)
    return _with_job(after, supervisor_fold.complete_turn(job, job.node))


@follow.on(events.StepClosed)
def _close_step(before: State, after: State, fact: events.StepClosed) -> State:
    """Let the agent act that asked or whose output was rejected; a stuck job goes on."""
    job, step = find_job(before), before.open_steps.get(fact.step_id)
    if job is None or step is None or step.turn_id:
        return after
    if step.code == STUCK:
        node = SUPERVISOR if fact.outcome == "superseded" else job.node
        counts = {"steps": 0, "unusable_in_a_row": 0, "sent_back": 0, "repeated": 0, "followed": 0}
        return _with_job(after, replace(job, node=node, **counts))
    if fact.outcome != "answered":
        return after
    if step.code == REVIEW_OUTPUT and fact.choice == "reject":
        return _with_job(after, replace(job, node=step.job, feedback=fact.answer or ""))
    if step.key:
        answer = {"selected_ids": list(fact.selected_ids), "custom_input": fact.answer or ""}
        return _with_job(after, replace(job, node=step.job, answers={**job.answers, step.key: answer}))
    return after
