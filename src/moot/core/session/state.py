"""The state of a session: the fold of its facts (`moot.core.evolve`).

Everything here belongs to every session. What only one flow needs is in the flow's own part, `State.slice`. The size
of the state does not grow with the length of the session, so that late turns cost no more than early ones.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from moot.core.intake.door import Door
from moot.core.machines.interrupt import INTERRUPT, STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import SESSION, Status
from moot.core.session import events
from moot.core.session.attachments import Attachment
from moot.core.session.events import PauseReason
from moot.core.session.grants import Grant
from moot.core.session.team import Language, Member, Team
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NOTHING, Spent, add_spent, find_limit, subtract
from moot.core.session.workspace import Workspace
from moot.core.text import is_blank, one_line

FOLD_VERSION = 8  # raised when `evolve` changes its result for the same facts: older snapshots are then ignored


class Message(Struct, frozen=True, array_like=True, gc=False):
    """A message of the history. It may be cut; the log keeps the whole text.

    `is_partial`: the turn was stopped or failed before the text was finished.
    """

    member: str
    text: str
    is_partial: bool = False
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_blank(self) -> bool:
        return not self.attachments and is_blank(self.text)


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
    tool: ToolUse | None = None  # the last one that it used
    question_id: str = ""  # of an aside: the question that it answers
    stands_in_for: str = ""  # the member whose usage limit is reached
    seq: int = 0  # of the event that started it, where trees are recorded
    unread: tuple[Message, ...] = ()  # what people wrote to the member in its last turn and what did not reach it

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
    answer: str | None = None  # in words


class Inquiry(Struct, frozen=True, kw_only=True, gc=False):
    """A question of one member to another. `turn_id` is empty once the turn that asked has ended."""

    question_id: str
    turn_id: str
    member: str
    to: str
    question: str


class Answered(Struct, frozen=True, array_like=True, gc=False):
    """What a member asked in a turn that is under way, and what it was told. `by` is the id of who answered."""

    question: str
    by: str
    answer: str


class Offered(Struct, frozen=True, kw_only=True, gc=False):
    """A message into a turn that is under way. `how` is empty until it is known whether the agent takes it."""

    number: int
    by: str
    to: str
    text: str
    how: str = ""
    is_queued: bool = False
    is_kept: bool = False
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_delivered(self) -> bool:
        return self.how in ("now", "boundary")


class TurnNotes(Struct, frozen=True, kw_only=True, gc=False):
    """What a member did with Moot's own tools in a turn that is under way, and what people told it there."""

    next: tuple[str, ...] = ()  # whom it hands over to
    blocked: str = ""  # why it cannot do its work
    awaits: tuple[str, ...] = ()  # the questions whose answers come after the turn
    answers: tuple[Answered, ...] = ()
    messages: tuple[Offered, ...] = ()


NO_NOTES = TurnNotes()


class Parked(Struct, frozen=True, kw_only=True, gc=False):
    """Why a turn waits. `until` is a wall-clock time; None: it waits for answers."""

    member: str
    until: str | None
    reason: str
    message: str = ""


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

    @property
    def goal(self) -> str:
        """The goal of the work that is, or was, under way; empty if there was none."""
        return ""

    def is_under_way(self, _turn_id: str, /) -> bool:
        """Whether this id names something that runs and is not one of `State.running`."""
        return False

    @property
    def workers(self) -> Mapping[str, str]:
        """The members at work that have none of `State.running`, by the id of what they do."""
        return {}


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
    budget_day: str = ""  # this and the next two: when and what `session.budget_counted` counted last
    spent_elsewhere: Spent = NOTHING
    granted_elsewhere: Spent = NOTHING  # what other sessions had spent when the budget was granted again
    spent_in_period: Spent = NOTHING  # of the team's budget, for its other sessions
    spent_by_member: dict[str, Spent] = {}  # since the session began
    granted: dict[str, Spent] = {}  # what a member had spent when its budget was granted again
    open_steps: dict[str, events.StepAsked] = {}
    closed_steps: dict[str, ClosedStep] = {}
    step_count: int = 0
    grants: dict[str, tuple[Grant, ...]] = {}  # by member
    replies: dict[str, Reply] = {}  # by step id, for workers that may still wait for them
    door: Door = Door()
    session_id: str = ""  # under which it was created
    workspace: Workspace = Workspace()
    opening: str = ""  # the beginning of what a human said first
    asides: tuple[Turn, ...] = ()  # in which members answer team-mates; nobody has the floor by them
    inquiries: dict[str, Inquiry] = {}  # questions of members to members without an answer, by their ids
    notes: dict[str, TurnNotes] = {}  # by the id of a turn or dispatch under way
    parked: dict[str, Parked] = {}  # by the id of a turn or dispatch under way
    unread: dict[str, tuple[Message, ...]] = {}  # by member: what did not reach it in its turn, for its next one
    runs: dict[str, int] = {}  # how often a turn under way was parked and went on

    @property
    def shown_title(self) -> str:
        """The title that a person gave; else the current goal, else what was said first, on one line."""
        goal = "" if self.title else self.slice.goal or self.team_task
        own = "\n".join(line for line in goal.splitlines() if not line.startswith(">"))  # a comment quotes lines
        return self.title or (one_line(own.strip() or goal) if goal else self.opening)

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
        """Nothing happens without a human: one has the floor, or the session is over, and git has nothing to do."""
        is_answering = bool(self.asides) and self.interrupt not in STOPPED  # a pause holds asides too
        is_quiet = self.status is not Status.ACTIVE and not self.door.inputs and not is_answering
        return is_quiet and self.workspace.pending is None and not self.is_removing_trees

    @property
    def is_removing_trees(self) -> bool:
        """The session is over, and its trees go."""
        return self.status is Status.COMPLETED and self.workspace.is_spent

    @property
    def budget_used_up(self) -> str:
        """The limit of the session's budget that is reached, as text; empty if none is."""
        elsewhere = subtract(self.spent_elsewhere, self.granted_elsewhere)
        return find_limit(self.team.budget, add_spent(self.spent, elsewhere))

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

    def aside(self, turn_id: str) -> Turn | None:
        for turn in self.asides:
            if turn.turn_id == turn_id:
                return turn
        return None

    def is_under_way(self, turn_id: str) -> bool:
        """Whether the turn, the aside or the dispatch of a task has not come to its end."""
        return (
            self.turn(turn_id) is not None
            or self.slice.is_under_way(turn_id)
            or (bool(self.asides) and self.aside(turn_id) is not None)
        )

    def worker_of(self, turn_id: str) -> str | None:
        """The id of the member whose turn, aside or task this is, if it is under way."""
        turn = self.turn(turn_id) or self.aside(turn_id)
        return turn.member if turn else self.slice.workers.get(turn_id)

    def run_key(self, turn_id: str) -> str:
        """The name of the present run of a turn: one that was parked and goes on is another run."""
        runs = self.runs.get(turn_id, 0)
        return f"{turn_id}#{runs}" if runs else turn_id


State = StateOf[Slice]
