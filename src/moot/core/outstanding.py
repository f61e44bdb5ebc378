"""What must be done next is a function of the state. After a crash the shell does what is outstanding: nothing else.

Each effect has a key, so that doing it twice is seen: the shell starts what is outstanding and not under way, and
stops what is under way and no longer outstanding.
"""

from msgspec import Struct

from moot.core.state import State, Turn


class RunTurn(Struct, frozen=True, gc=False):
    """Have a member act. A restart runs an unfinished turn again: a member's leases end with its process."""

    turn: Turn

    @property
    def key(self) -> str:
        return self.turn.turn_id


class TurnDeadline(Struct, frozen=True, gc=False):
    """Counted from when the turn was handed out."""

    turn_id: str
    after_s: float

    @property
    def key(self) -> str:
        return f"deadline:{self.turn_id}"


class StepDeadline(Struct, frozen=True, gc=False):
    step_id: str
    at: str

    @property
    def key(self) -> str:
        return f"step:{self.step_id}"


Effect = RunTurn | TurnDeadline | StepDeadline


def outstanding(state: State) -> list[Effect]:
    effects: list[Effect] = []
    for turn in state.running:
        effects += [RunTurn(turn), TurnDeadline(turn.turn_id, state.team.chat.turn_timeout_s)]
    if state.open_steps:
        effects += [
            StepDeadline(step.step_id, step.expires_at) for step in state.open_steps.values() if step.expires_at
        ]
    return effects
