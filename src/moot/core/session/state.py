"""The state of a session: the fold of its facts (`moot.core.evolve`).

Everything here belongs to every session. What only one flow needs is in the flow's own part, `State.slice`. The size
of the state does not grow with the length of the session, so that late turns cost no more than early ones.
"""

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from moot.core.intake.door import Door
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import SESSION, Status
from moot.core.session import events
from moot.core.session.events import PauseReason
from moot.core.session.team import Language, Member, Team
from moot.core.session.usage import NOTHING, Spent, find_limit, subtract

FOLD_VERSION = 4  # raised when `evolve` changes its result for the same facts: older snapshots are then ignored


class Message(Struct, frozen=True, array_like=True, gc=False):
    """A message of the history. It may be cut; the log keeps the whole text.

    `is_partial`: the turn was stopped or failed before the text was finished.
    """

    member: str
    text: str
    is_partial: bool = False


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One member's contribution, under way or failed."""

    turn_id: str
    member: str
    index: int
    job: str = ""
    task_id: str = ""
    task_index: int = 0
    earlier: dict[str, int] = {}  # task id → the member's turns before this one
    started_at: str = ""

    @property
    def episode(self) -> str:
        """The key under which its failures are counted: the job, with the task if it is for one."""
        return f"{self.job}:{self.task_id}" if self.task_id else self.job


class Outcome(StrEnum):
    ANSWERED = "answered"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


class ClosedStep(Struct, frozen=True, array_like=True, gc=False):
    outcome: Outcome
    by: str | None


class Reply(Struct, frozen=True, array_like=True, gc=False):
    """The answer for a worker that asked: the chosen option, if any."""

    turn_id: str
    choice: str | None


class Slice(Struct, frozen=True, kw_only=True, gc=False, tag_field="flow"):
    """A flow's own part of the state. The properties are what other modules may read of it."""

    @property
    def is_active(self) -> bool:
        """Whether work is under way: a plan, or a supervisor's job."""
        return False

    @property
    def is_approved(self) -> bool:
        """Whether the work is being carried out; `False` while it is still being planned."""
        return True

    @property
    def has_workers(self) -> bool:
        """Whether several workers may report at the same time, so that batching reports saves appends."""
        return False

    @property
    def asked_by(self) -> str:
        """The human who asked for the work that is, or was, under way; empty if there was none."""
        return ""

    @property
    def queue(self) -> tuple[str | None, tuple[str, ...]]:
        """The member who acts and the members who wait for the floor, in a flow with a queue."""
        return None, ()

    def is_under_way(self, _turn_id: str, /) -> bool:
        """Whether this id names something that runs and is not one of `State.running`."""
        return False


SliceT = TypeVar("SliceT", bound=Slice)
PartT = TypeVar("PartT", bound=Slice)


class StateOf(Struct, Generic[SliceT], frozen=True, kw_only=True, gc=False):
    """A session's state. Use the name `State`, unless the type of the slice matters (to decode a snapshot)."""

    team: Team
    title: str
    language: Language
    slice: SliceT
    status: Status = SESSION.initial
    waiting_for: str | None = None
    pause_reason: PauseReason | None = None
    interrupt: Interrupt = INTERRUPT.initial
    pause_requested_by: str | None = None
    team_task: str = ""
    history: tuple[Message, ...] = ()
    message_count: int = 0
    running: tuple[Turn, ...] = ()
    failed: Turn | None = None
    turn_count: int = 0
    failed_turns: int = 0  # turns and tasks that failed or were cancelled
    turns_by_member: dict[str, int] = {}
    hops: int = 0
    spent: Spent = NOTHING  # since the session began, or since a human went on after the budget was used up
    spent_by_member: dict[str, Spent] = {}  # since the session began
    granted: dict[str, Spent] = {}  # what a member had spent when its budget was granted again
    open_steps: dict[str, events.StepAsked] = {}
    closed_steps: dict[str, ClosedStep] = {}
    step_count: int = 0
    replies: dict[str, Reply] = {}  # by step id, for workers that may still wait for them
    door: Door = Door()

    def part(self, kind: type[PartT]) -> PartT:
        """The flow's own part of the state. Raises TypeError if this is a session of another flow."""
        slice_ = self.slice
        if not isinstance(slice_, kind):
            raise TypeError(f"a {self.team.flow} session has no {kind.__name__}")
        return slice_

    @property
    def floor_holder(self) -> Member:
        """The human who is waited for, or else the first human."""
        return self.team.member(self.waiting_for) if self.waiting_for else self.team.first_human

    @property
    def is_settled(self) -> bool:
        """Nothing happens without a human: one has the floor, or the session is over."""
        return self.status is not Status.ACTIVE and not self.door.inputs

    @property
    def budget_used_up(self) -> str:
        """The limit of the session's budget that is reached, as text; empty if none is."""
        return find_limit(self.team.budget, self.spent)

    @property
    def is_over_budget(self) -> bool:
        """Whether the session, or one of its members, has used up its budget."""
        return bool(self.budget_used_up) or any(self.used_up_by(member) for member in self.team.budgeted)

    def used_up_by(self, member: Member) -> str:
        """The limit of the member's own budget that is reached, as text; empty if none is."""
        spent = self.spent_by_member.get(member.id)
        return find_limit(member.budget, subtract(spent, self.granted.get(member.id, NOTHING))) if spent else ""

    def turn(self, turn_id: str) -> Turn | None:
        for turn in self.running:
            if turn.turn_id == turn_id:
                return turn
        return None

    def is_under_way(self, turn_id: str) -> bool:
        """Whether the turn, or the dispatch of a task, has not come to its end."""
        return self.turn(turn_id) is not None or self.slice.is_under_way(turn_id)


State = StateOf[Slice]
