"""Effects: what the shell must do because of a state, as data.

Each effect has a key, by which the shell recognises it: it starts what is outstanding and not under way, and stops what
is under way and no longer outstanding.
"""

from msgspec import Struct

from moot.core.session.commands import Command, ExpireStep, ExpireTurn
from moot.core.session.events import Input, ToolCall
from moot.core.session.state import State, Turn


class RunTurn(Struct, frozen=True, gc=False):
    """Have a member act. A restart runs an unfinished turn again, because its worker ended with its process."""

    turn: Turn

    @property
    def key(self) -> str:
        return self.turn.turn_id


class RunTask(Struct, frozen=True, gc=False):
    """Offer a task to a member and, if it takes it, have it run: one worker from the offer to the end."""

    dispatch_id: str

    @property
    def key(self) -> str:
        return self.dispatch_id


class RunTool(Struct, frozen=True, gc=False):
    """Run a tool of a member; its result is for the member's next turn."""

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
    """Submit `command` after this delay, counted from when the effect became outstanding."""

    key: str
    after_s: float
    command: Command


class LeaseCheck(Struct, frozen=True, gc=False):
    """Check regularly whether the worker of a dispatch is alive; submit `command` if it is not."""

    key: str
    every_s: float
    dispatch_id: str
    command: Command


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

    turn_id: str
    step_id: str
    choice: str | None

    @property
    def key(self) -> str:
        return f"answer:{self.step_id}"


Effect = RunTurn | RunTask | RunTool | DeliverAnswer | Understand | Deadline | LeaseCheck | StepDeadline


def watch_worker(state: State, turn_id: str, timeout_s: float) -> list[Effect]:
    """Return the deadline of a worker and the answers that it waits for.

    No deadline runs while a permission question is open; a new one starts when it is answered.
    """
    effects: list[Effect] = []
    if not state.open_steps or not any(step.turn_id == turn_id for step in state.open_steps.values()):
        effects.append(Deadline(f"deadline:{turn_id}", timeout_s, ExpireTurn(turn_id=turn_id)))
    for step_id, reply in state.replies.items():
        if reply.turn_id == turn_id:
            effects.append(DeliverAnswer(turn_id, step_id, reply.choice))
    return effects
