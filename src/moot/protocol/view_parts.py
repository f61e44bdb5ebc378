"""What a screen shows of a session, as types. Everything that grows has a bound: the log keeps the rest."""

from msgspec import Struct

from moot.core.events import Option
from moot.core.machines.connection import CONNECTION
from moot.core.machines.input_routing import INPUT_ROUTING
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.session import SESSION, Status
from moot.core.notices import render
from moot.core.queue_line import YOU
from moot.core.team import Language, Member
from moot.protocol.supervisor_view import SupervisedJob
from moot.protocol.work_view import DeferredInput, Document, UnderstoodInput, Work

MESSAGES, NOTICES, TIMELINE, STEPS = 500, 100, 500, 50
STREAMED_CHARS = 100_000  # of a turn that is being written; the end of it is shown
THINKING_CHARS = 4_000  # of a thought that is being thought; likewise


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message. `author` is `{loop_id}.{role}`, `name` is what people call the member."""

    seq: int
    at: str
    member: str
    name: str
    author: str
    text: str
    turn_id: str | None = None


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    seq: int
    at: str
    code: str
    text: str


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open step."""

    step_id: str
    seq: int
    kind: str
    text: str
    options: tuple[Option, ...] = ()
    expires_at: str | None = None
    default: str | None = None
    asked_by: str | None = None
    who: str = ""  # the agent that wants to know, by its name
    code: str = ""
    task_id: str | None = None
    error_type: str = ""
    input: str = ""  # what somebody said, when the question is what becomes of it
    tasks: tuple[Document, ...] | None = None  # of the plan that is to be confirmed
    plan_summary: str = ""
    job: str = ""  # the agent whose question it is, or whose output is to be checked
    key: str = ""
    selection: str = ""  # single, multiple, none: of an agent's question
    allow_custom_input: bool = False


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    seq: int
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class RunningTurn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn under way; `streamed` is what it has written so far, as far as it was shown.

    `thinking` is the thought that it has not come to the end of: what follows it, a step or a word, ends it.
    """

    turn_id: str
    member: str
    name: str
    started_at: str
    job: str = ""
    task_id: str = ""
    steps: tuple[Step, ...] = ()
    streamed: str = ""
    thinking: str = ""


class Moment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the timeline: one of the twelve names, and the event that has it."""

    seq: int
    at: str
    name: str
    event: str
    member: str | None = None
    task_id: str | None = None
    passed: bool | None = None  # of a task's result and of a review


class Counters(Struct, frozen=True, kw_only=True):
    messages: int = 0
    turns: int = 0
    failed_turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Connection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The link, as far as this screen knows; `reset` is why the history was loaded again, if it was."""

    state: str = CONNECTION.initial
    attempt: int = 0
    retry_in_s: float = 0.0
    reason: str | None = None
    reset: str | None = None


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    session_id: str = ""
    seq: int = 0
    at: str = ""
    title: str = ""
    team: str = ""
    flow: str = ""
    language: Language = "en"
    team_task: str = ""
    members: tuple[Member, ...] = ()
    status: Status = SESSION.initial
    waiting_for: str | None = None
    pause_reason: str | None = None
    executing: str | None = None
    pending: tuple[str, ...] = ()
    hops: int = 0
    max_hops: int = 0
    messages: tuple[Line, ...] = ()
    notices: tuple[Notice, ...] = ()
    questions: tuple[Question, ...] = ()
    running: tuple[RunningTurn, ...] = ()
    timeline: tuple[Moment, ...] = ()
    counters: Counters = Counters()
    connection: Connection = Connection()
    input: UnderstoodInput | None = None  # the newest one that was to be understood
    deferred: tuple[DeferredInput, ...] = ()
    work: Work | None = None
    supervision: SupervisedJob | None = None
    input_routing: str = INPUT_ROUTING.initial
    interrupt: str = INTERRUPT.initial

    def name(self, member_id: str) -> str:
        return next((each.display_name for each in self.members if each.id == member_id), member_id)

    def queue_line(self, viewer: str | None = None) -> str | None:
        """`📋 Queue: [Claude ⏳] → Bob → You`; None when nothing runs and nothing waits."""

        def name(member_id: str) -> str:
            return YOU[self.language] if member_id == viewer else self.name(member_id)

        acting = (f"[{name(self.executing)} ⏳]",) if self.executing else ()
        names = acting + tuple(name(member_id) for member_id in self.pending)
        return render("queue", self.language, names=names) if names else None
