"""What a session is: the fold of its facts. `evolve` decides nothing and cannot fail on facts that `decide` made.

The state stays small however long the session gets: what a turn costs must not depend on how many came before.
"""

from enum import StrEnum

import msgspec
from msgspec import Struct

from moot.core import events
from moot.core.door import Door
from moot.core.events import PauseReason
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import SESSION, Status
from moot.core.plan.state import Work
from moot.core.routing import Entry
from moot.core.spending import NOTHING, Spent, find_limit, subtract
from moot.core.supervisor.supervision import Supervision
from moot.core.team import Language, Member, Team

FOLD_VERSION = 1  # raised when `evolve` makes another state of the same facts: snapshots of before are then ignored


class Message(Struct, frozen=True, array_like=True, gc=False):
    """A remembered message; the log has all of it, however long."""

    member: str
    text: str


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One member's contribution, under way or failed."""

    turn_id: str
    member: str
    index: int
    job: str = ""
    task_id: str = ""
    task_index: int = 0
    earlier: dict[str, int] = {}  # task id → the member's turns before this one

    @property
    def episode(self) -> str:
        """What its failures are counted under: the job, and the task where there are several."""
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
    """What a worker that asked is told: the option that was chosen, if any."""

    turn_id: str
    choice: str | None


class State(Struct, frozen=True, kw_only=True, gc=False):
    team: Team
    title: str
    language: Language
    status: Status = SESSION.initial
    waiting_for: str | None = None
    pause_reason: PauseReason | None = None
    interrupt: Interrupt = INTERRUPT.initial
    pause_requested_by: str | None = None
    team_task: str = ""
    history: tuple[Message, ...] = ()
    message_count: int = 0
    executing: str | None = None
    queue: tuple[Entry, ...] = ()
    running: tuple[Turn, ...] = ()
    failed: Turn | None = None
    turn_count: int = 0
    turns_by_member: dict[str, int] = {}
    task_turns: dict[str, dict[str, int]] = {}  # member → task id → turns
    hops: int = 0
    spent: Spent = NOTHING  # since the session began, or since a human went on after the budget was used up
    spent_by_member: dict[str, Spent] = {}  # since the session began
    granted: dict[str, Spent] = {}  # what a member had spent when its budget was granted again
    open_steps: dict[str, events.StepAsked] = {}
    closed_steps: dict[str, ClosedStep] = {}
    step_count: int = 0
    replies: dict[str, Reply] = {}  # step id → for workers that may still wait for it
    door: Door = Door()
    work: Work | None = None
    supervision: Supervision | None = None

    @property
    def is_at_work(self) -> bool:
        """A plan or a supervisor's job is under way."""
        job = self.work or self.supervision
        return job is not None and job.is_active

    @property
    def is_settled(self) -> bool:
        """Nothing happens without a human: one has the floor, or the session is over."""
        return self.status is not Status.ACTIVE and not self.door.inputs

    @property
    def budget_used_up(self) -> str:
        """Which limit of the budget is reached, as text; empty when none is."""
        return find_limit(self.team.budget, self.spent)

    @property
    def is_over_budget(self) -> bool:
        """The session, or a member, has used up what it may."""
        return bool(self.budget_used_up) or any(self.used_up_by(each) for each in self.team.budgeted)

    def used_up_by(self, member: Member) -> str:
        """The same for the budget of a member."""
        spent = self.spent_by_member.get(member.id)
        return find_limit(member.budget, subtract(spent, self.granted.get(member.id, NOTHING))) if spent else ""

    @property
    def members_at_work(self) -> list[str]:
        """Who was given a turn or a task that is not over, once for each."""
        work = self.work
        tasks = [work.tasks[task_id].member for task_id in work.dispatches.values()] if work else []
        return [*(turn.member for turn in self.running), *tasks]

    def turn(self, turn_id: str) -> Turn | None:
        for turn in self.running:
            if turn.turn_id == turn_id:
                return turn
        return None

    def is_under_way(self, turn_id: str) -> bool:
        """The turn, or the dispatch of a task, has not come to its end."""
        return self.turn(turn_id) is not None or (self.work is not None and turn_id in self.work.dispatches)


def encode(state: State) -> bytes:
    """The same log gives the same bytes."""
    return msgspec.json.encode(state)


_decoder = msgspec.json.Decoder(State)


def decode(data: bytes) -> State:
    return _decoder.decode(data)
