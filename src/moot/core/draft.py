"""Facts in the making: what a command adds, with the state as it will be once they are logged."""

from moot.core.events import (
    Fact,
    PauseReason,
    QueueChanged,
    SessionCompleted,
    SessionPaused,
    StepClosed,
    TurnCancelled,
)
from moot.core.evolve import evolve
from moot.core.markers import Priority
from moot.core.routing import Entry
from moot.core.state import State, Turn
from moot.core.team import Member

_P2 = Priority.P2


class Draft:
    """Collects facts and evolves its own copy of the state with each, so that later choices see earlier ones.

    `at` is the time, `chance` a number from 0 to 1 for jitter: both come from outside, deciding needs no clock or dice.
    """

    __slots__ = ("at", "chance", "facts", "state", "team")

    def __init__(self, state: State, at: str = "", chance: float = 1.0) -> None:
        self.state = state
        self.team = state.team
        self.at = at
        self.chance = chance
        self.facts: list[Fact] = []

    def add(self, fact: Fact) -> None:
        self.state = state = evolve(self.state, fact)
        self.facts.append(fact)
        if state.open_steps:
            self._withdraw()

    def _withdraw(self) -> None:
        """A turn that is over, however it ended, waits for no answer any more."""
        for step in self.state.open_steps.values():
            if step.turn_id and not self.state.is_under_way(step.turn_id):
                self.add(StepClosed(step_id=step.step_id, outcome="superseded"))  # which looks for the next one
                return

    def set_queue(self, executing: str | None, queue: tuple[Entry, ...]) -> None:
        """Log the queue if it is not what it was."""
        if executing == self.state.executing and queue == self.state.queue:
            return
        pending = tuple([entry.member for entry in queue])
        special = [entry for entry in queue if entry.priority is not _P2]
        priorities = tuple([entry.priority for entry in queue]) if special else ()
        self.add(QueueChanged(executing=executing, pending=pending, priorities=priorities))

    def pause(self, waiting_for: Member, reason: PauseReason) -> None:
        self.add(SessionPaused(waiting_for=waiting_for.id, reason=reason))

    def cancel_turn(self, turn: Turn, reason: str) -> None:
        self.add(TurnCancelled(turn_id=turn.turn_id, member=turn.member, reason=reason))

    def cancel_turns(self, reason: str) -> None:
        for turn in self.state.running:
            self.cancel_turn(turn, reason)

    def end(self, reason: str) -> None:
        """The session is over: running turns are killed, the queue is emptied, questions are withdrawn."""
        self.cancel_turns("session_ended")
        self.set_queue(None, ())
        for step_id in self.state.open_steps:
            self.add(StepClosed(step_id=step_id, outcome="cancelled"))
        self.add(SessionCompleted(reason=reason))
