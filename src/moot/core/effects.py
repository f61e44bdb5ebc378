"""Effects: what the shell must do because of a state, as data.

Each effect has a key, by which the shell recognises it: it starts what is outstanding and not under way, and stops what
is under way and no longer outstanding.
"""

from msgspec import Struct

from moot.core.session.commands import Command, ExpireStep, ExpireTurn, WakeTurn
from moot.core.session.events import Input, ToolCall
from moot.core.session.state import State, Turn
from moot.core.session.workspace_commands import WorkspaceJob


class RunTurn(Struct, frozen=True, gc=False):
    """Have a member act. A restart runs an unfinished turn again, because its worker ended with its process."""

    turn: Turn
    key: str


class RunTask(Struct, frozen=True, gc=False):
    """Offer a task to a member and, if it takes it, have it run: one worker from the offer to the end.

    `is_taken`: the task was parked and goes on; nobody is asked again whether they take it.
    """

    dispatch_id: str
    key: str
    is_taken: bool = False


class RunTool(Struct, frozen=True, gc=False):
    """Run a tool of a member; its result is for the member's next turn."""

    call: ToolCall
    member: str

    @property
    def key(self) -> str:
        return self.call.call_id


class UseWorkspace(Struct, frozen=True, gc=False):
    """Have git do something to the trees. It is checked against git first, so that doing it twice is harmless."""

    job: WorkspaceJob

    @property
    def key(self) -> str:
        return self.job.key


class Understand(Struct, frozen=True, gc=False):
    """Find out what a human input means."""

    input: Input

    @property
    def key(self) -> str:
        return f"understand:{self.input.input_id}:{self.input.asked}"


class Deadline(Struct, frozen=True, gc=False):
    """Submit `command` after this delay, counted from when the effect became outstanding."""

    key: str
    after_s: float
    command: Command


class LeaseCheck(Struct, frozen=True, gc=False):
    """Check regularly whether the worker of a dispatch is alive; submit `command` if it is not."""

    key: str
    every_s: float
    worker: str  # the key of the effect that runs it
    command: Command


class Wake(Struct, frozen=True, gc=False):
    """Let a parked turn go on when the wall clock shows this time."""

    turn_id: str
    until: str

    @property
    def key(self) -> str:
        return f"wake:{self.turn_id}:{self.until}"

    @property
    def command(self) -> Command:
        return WakeTurn(turn_id=self.turn_id)


class StepDeadline(Struct, frozen=True, gc=False):
    """Close a question that nobody answers in `timeout_s`; logs of older versions have only `at`, a wall-clock time."""

    step_id: str
    at: str
    timeout_s: float | None = None

    @property
    def key(self) -> str:
        return f"step:{self.step_id}"

    @property
    def command(self) -> Command:
        return ExpireStep(step_id=self.step_id)


class DeliverAnswer(Struct, frozen=True, gc=False):
    """Give a worker the answer to its question. One that runs again after a crash gets it before it asks again."""

    worker: str  # the key of the effect that runs it
    step_id: str
    choice: str | None
    answer: str | None = None

    @property
    def key(self) -> str:
        return f"answer:{self.worker}:{self.step_id}"


class DeliverMessage(Struct, frozen=True, gc=False):
    """Give a worker what a person wrote to its member while the turn runs."""

    worker: str  # the key of the effect that runs it
    number: int
    by: str
    text: str

    @property
    def key(self) -> str:
        return f"message:{self.worker}:{self.number}"


Effect = (
    RunTurn
    | RunTask
    | RunTool
    | UseWorkspace
    | DeliverAnswer
    | DeliverMessage
    | Understand
    | Deadline
    | LeaseCheck
    | Wake
    | StepDeadline
)


def find_wake(state: State, turn_id: str) -> list[Effect] | None:
    """Return what a parked turn waits for instead of running; None if it is not parked."""
    parked = state.parked.get(turn_id)
    if parked is None:
        return None
    return [Wake(turn_id, parked.until)] if parked.until else []


def watch_worker(state: State, turn_id: str, timeout_s: float) -> list[Effect]:
    """Return the deadline of a worker, the answers that it waits for, and what people wrote to its member.

    No deadline runs while a question of the turn is open; a new one starts when it is answered.
    """
    effects: list[Effect] = []
    if not state.open_steps or not any(step.turn_id == turn_id for step in state.open_steps.values()):
        effects.append(Deadline(f"deadline:{turn_id}", timeout_s, ExpireTurn(turn_id=turn_id)))
    if state.replies:
        effects += [
            DeliverAnswer(state.run_key(turn_id), step_id, reply.choice, reply.answer)
            for step_id, reply in state.replies.items()
            if reply.turn_id == turn_id
        ]
    if turn_id in state.notes:
        effects += [
            DeliverMessage(state.run_key(turn_id), message.number, message.by, message.text)
            for message in state.notes[turn_id].messages
            if not message.how
        ]
    return effects
