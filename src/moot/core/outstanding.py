"""What must be done next is a function of the state. After a crash the shell does what is outstanding: nothing else.

Each effect has a key, so that doing it twice is seen: the shell starts what is outstanding and not under way, and
stops what is under way and no longer outstanding.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from moot.core import limits
from moot.core.commands import (
    CompleteTool,
    EndGrace,
    EndWait,
    ExpireDispatch,
    ExpireLease,
    ExpireStep,
    ExpireTurn,
    ProbeMember,
    TimerCommand,
)
from moot.core.events import Input
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import State as TaskState
from moot.core.plan.state import TaskRun, Wait, Work
from moot.core.state import State, Turn
from moot.core.supervisor.events import ToolCall
from moot.core.supervisor.supervision import Supervision


class RunTurn(Struct, frozen=True, gc=False):
    """Have a member act. A restart runs an unfinished turn again: a member's leases end with its process."""

    turn: Turn

    @property
    def key(self) -> str:
        return self.turn.turn_id


class RunTask(Struct, frozen=True, gc=False):
    """Offer a task to a member and, if it takes it, have it run: one worker from the offer to the end."""

    run: TaskRun
    dispatch_id: str

    @property
    def key(self) -> str:
        return self.dispatch_id


class RunTool(Struct, frozen=True, gc=False):
    """Have a tool of a member run; its result is for the member's next turn."""

    call: ToolCall
    member: str

    @property
    def key(self) -> str:
        return self.call.call_id


class Understand(Struct, frozen=True, gc=False):
    """Find out what a human input means."""

    input: Input

    @property
    def key(self) -> str:
        return f"understand:{self.input.input_id}:{self.input.asked}"


class Deadline(Struct, frozen=True, gc=False):
    """Say `command` after so long, counted from when this became outstanding."""

    key: str
    after_s: float
    command: TimerCommand


class LeaseCheck(Struct, frozen=True, gc=False):
    """Look every so often whether the worker of a dispatch is alive; say `command` when it is not."""

    key: str
    every_s: float
    dispatch_id: str
    command: TimerCommand


class StepDeadline(Struct, frozen=True, gc=False):
    step_id: str
    at: str

    @property
    def key(self) -> str:
        return f"step:{self.step_id}"

    @property
    def command(self) -> TimerCommand:
        return ExpireStep(step_id=self.step_id)


class DeliverAnswer(Struct, frozen=True, gc=False):
    """Tell a worker what came of its question. One that runs again after a crash is told before it asks again."""

    turn_id: str
    step_id: str
    choice: str | None

    @property
    def key(self) -> str:
        return f"answer:{self.step_id}"


Effect = RunTurn | RunTask | RunTool | DeliverAnswer | Understand | Deadline | LeaseCheck | StepDeadline


def outstanding(state: State) -> list[Effect]:
    effects: list[Effect] = []
    if state.running and state.interrupt not in STOPPED:
        timeout_s = _turn_timeout_s(state)
        for turn in state.running:
            turn_id = turn.turn_id
            effects.append(RunTurn(turn))
            effects += _of_worker(state, turn_id, timeout_s)
    if state.open_steps:
        effects += [
            StepDeadline(step.step_id, step.expires_at) for step in state.open_steps.values() if step.expires_at
        ]
    if state.door.inputs:
        effects.append(Understand(state.door.inputs[0]))
    if state.work is not None and state.work.is_active and state.status is not Status.COMPLETED:
        effects += _of_work(state, state.work)
    if state.supervision is not None and state.supervision.calls:
        effects += _of_tools(state, state.supervision)
    return effects


def _of_worker(state: State, turn_id: str, timeout_s: float) -> Iterator[Effect]:
    """Its time does not count while it waits for an answer, and begins anew with it."""
    if not state.open_steps or not any(step.turn_id == turn_id for step in state.open_steps.values()):
        yield Deadline(f"deadline:{turn_id}", timeout_s, ExpireTurn(turn_id=turn_id))
    for step_id, reply in state.replies.items():
        if reply.turn_id == turn_id:
            yield DeliverAnswer(turn_id, step_id, reply.choice)


def _turn_timeout_s(state: State) -> float:
    if state.supervision is not None:
        return state.team.supervisor.turn_timeout_s
    return state.team.chat.turn_timeout_s if state.work is None else state.team.plan.turn_timeout_s


def _of_tools(state: State, job: Supervision) -> Iterator[Effect]:
    for call in job.calls.values():
        yield RunTool(call, job.caller)
        late = CompleteTool(call_id=call.call_id, error="the tool took too long")
        yield Deadline(f"deadline:{call.call_id}", state.team.supervisor.turn_timeout_s, late)


def _of_work(state: State, work: Work) -> Iterator[Effect]:
    if state.interrupt is Interrupt.PAUSING:
        yield Deadline("grace", limits.PAUSE_GRACE_S, EndGrace())
    elif state.interrupt is Interrupt.MINOR_REPLAN:  # the tasks wait for the change, its retries do not
        yield from _of_waits([episode.wait for episode in work.episodes.values() if episode.wait])
        return
    elif state.interrupt is not Interrupt.EXECUTION:
        return
    for dispatch_id, task_id in work.dispatches.items():
        yield from _of_task(state, work.tasks[task_id], dispatch_id)
    if state.interrupt is Interrupt.PAUSING:
        return
    yield from _of_waits([run.wait for run in work.tasks.values() if run.wait])
    yield from _of_waits([episode.wait for episode in work.episodes.values() if episode.wait])
    for member, slots in work.slots.items():
        if slots.is_open and work.needs_probe(member):
            yield Deadline(f"probe:{member}:{slots.probes}", slots.delay_s, ProbeMember(member=member))


def _of_waits(waits: Iterable[Wait]) -> Iterator[Effect]:
    for wait in waits:
        yield Deadline(f"wait:{wait.number}", wait.delay_s, EndWait(number=wait.number))


def _of_task(state: State, run: TaskRun, dispatch_id: str) -> Iterator[Effect]:
    settings = state.team.plan
    yield RunTask(run, dispatch_id)
    if run.state is TaskState.DISPATCHING:
        late = ExpireDispatch(dispatch_id=dispatch_id)
        yield Deadline(f"dispatch:{dispatch_id}", settings.dispatch_timeout_s, late)
        return
    if run.state is TaskState.DISPATCHED:
        late = ExpireDispatch(dispatch_id=dispatch_id)
        yield Deadline(f"start:{dispatch_id}", settings.turn_timeout_s, late)
    else:
        yield from _of_worker(state, dispatch_id, settings.turn_timeout_s)
    yield LeaseCheck(f"lease:{dispatch_id}", limits.LEASE_S, dispatch_id, ExpireLease(dispatch_id=dispatch_id))
