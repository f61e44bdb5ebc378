"""The facts that every flow has. Names are never reused or renamed; new fields have defaults.

A fact is what happened (`MessagePosted(member=…, text=…)`), in the past tense. The codec puts it into its envelope with
seq, time and source. Fields without a default are always written; docs/events.md lists them.
"""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from moot.core.facts import Fact, Json
from moot.core.flows.flow_settings import LoggedSettings
from moot.core.intake.intent import Addressing, IntentAnalysis, Payload, Route
from moot.core.session.attachments import Attachment
from moot.core.session.desk_events import DESK_FACTS
from moot.core.session.grants import Grant
from moot.core.session.settings import Budget, RouteThresholds, UnderstandingType, WorkspaceSettings
from moot.core.session.team import Language, Member
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NO_USAGE, NOTHING, Spent, Usage
from moot.core.session.workspace_events import WORKSPACE_FACTS

PauseReason = Literal[
    "addressed",
    "fallback",
    "unresolved",
    "agent_error",
    "agent_timeout",
    "hop_limit",
    "step",
    "user_pause",
    "budget",
    "finished",
    "stopped",
    "undecided",  # this and the next two: logged by Moot 0.1 before they were steps
    "step_limit",
    "iteration_limit",
    "misshapen",  # this and the next one: only causes of a question (`StepAsked.error_type`)
    "correction_repeated",
]
Selection = Literal["single", "multiple", "none"]


class Option(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    id: str
    label: str
    description: str = ""


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A call of a tool. `call_id` is Moot's name for it, `id` the agent's own."""

    call_id: str
    name: str
    args: dict[str, Any] = {}
    id: str = ""


class SessionCreated(LoggedSettings, frozen=True, kw_only=True):
    """The first event of every session. Holds the team, without what runs its AI members."""

    event: ClassVar[str] = "agent.session_created"
    known_flows: ClassVar[set[str]] = set()  # the registry of flows adds them
    team: str
    flow: str
    members: tuple[Member, ...]
    language: Language
    title: str
    understanding: UnderstandingType = "explicit"
    thresholds: RouteThresholds = RouteThresholds()
    budget: Budget = Budget()
    permission_timeout_s: float = 0.0
    session_id: str = ""  # the original one, also in a copy
    workspace: WorkspaceSettings = WorkspaceSettings()

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown flow, as for an unknown event: no other code can fold this session."""
        if self.flow not in self.known_flows:
            raise ValueError(f"unknown flow {self.flow!r}: was it written by a newer version?")


class MessagePosted(Fact, frozen=True, kw_only=True):
    """A member wrote a message. `raw` is the original, if markers were removed from it to get `text`. `to` are the
    members it was addressed to, by a marker, a mention or the team's default.

    `has_decision`: the text contains JSON that Moot acts on (a decision, state, tool calls), which people do not see.
    """

    event: ClassVar[str] = "message.posted"
    timeline: ClassVar[str] = "user_input_received"
    author: ClassVar[str] = "member"
    content: ClassVar[str] = "text"
    member: str
    text: str
    raw: str | None = None
    turn_id: str | None = None
    has_decision: bool = False
    to: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_on_timeline(self) -> bool:
        """Only messages of humans are on the timeline."""
        return self.turn_id is None


class TeamTaskSet(Fact, frozen=True, kw_only=True):
    """The shared goal was set with `[TEAM_TASK: …]`."""

    event: ClassVar[str] = "session.team_task_set"
    author: ClassVar[str] = "member"
    member: str
    team_task: str


class LanguageChanged(Fact, frozen=True, kw_only=True):
    """The language of the session changed."""

    event: ClassVar[str] = "session.language_changed"
    language: Language


class SessionRenamed(Fact, frozen=True, kw_only=True):
    """The session has a new title."""

    event: ClassVar[str] = "session.renamed"
    author: ClassVar[str] = "member"
    title: str
    member: str | None  # who renamed it, if that is known


class Input(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A human input that has to be understood. `asked` counts the questions about it so far.

    `goal` is what the person wants in the words of a model that understood the input; empty if no model did.
    """

    input_id: str
    member: str
    text: str
    asked: int = 0
    goal: str = ""
    attachments: tuple[Attachment, ...] = ()


class UnderstandingStarted(Fact, frozen=True, kw_only=True):
    """An input is given to an understander, which analyses what it means."""

    event: ClassVar[str] = "understanding.started"
    timeline: ClassVar[str] = "semantic_understanding_started"
    input: Input


class UnderstandingCompleted(Fact, frozen=True, kw_only=True):
    """An input was understood. `fallback_reason`: why the rules did it instead of the model."""

    event: ClassVar[str] = "understanding.completed"
    timeline: ClassVar[str] = "semantic_understanding_completed"
    input_id: str
    analysis: IntentAnalysis
    fallback_reason: str | None = None
    usage: Usage = NO_USAGE


class RoutingDecided(Fact, frozen=True, kw_only=True):
    """How a message was routed: in chat the action and the members it put into the queue, elsewhere the route."""

    event: ClassVar[str] = "routing.decided"
    timeline: ClassVar[str] = "routing_decision_made"
    confidence: float
    action: Addressing | None = None
    queue_updates: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    input_id: str | None = None
    route: Route | None = None
    payload: Payload | None = None
    user_confirmation_required: bool | None = None  # None in chat; elsewhere True or False
    user_message: str = ""  # in the session's language
    message_code: str = ""  # of the text of `user_message`, unless a model wrote it


class InputDeferred(Fact, frozen=True, kw_only=True):
    """Another goal was put off until the current work is over."""

    event: ClassVar[str] = "workflow.deferred"
    author: ClassVar[str] = "member"
    text: str
    member: str


class TurnStarted(Fact, frozen=True, kw_only=True):
    """A turn began. `index`: the member's earlier turns. `hop`: AI turns since a human last spoke, with this one."""

    event: ClassVar[str] = "turn.started"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    index: int
    hop: int
    retry_of: str | None = None
    job: str = ""  # what the turn is for, in flows that have jobs
    task_id: str = ""  # of the task that the job is for
    task_index: int = 0  # how many turns the member had before for this task
    started_at: str = ""
    question_id: str = ""  # of an aside: the question of a team-mate that it answers
    stands_in_for: str = ""  # the member whose usage limit is reached
    seq: int = 0  # of this event, where trees are recorded: commits name it


class TurnStepped(Fact, frozen=True, kw_only=True):
    """What an agent thinks, does or sees during its turn. `tool` is the use of a tool that it is about, as data."""

    event: ClassVar[str] = "turn.step"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    tool: ToolUse | None = None
    diff: str | None = None  # of the files that the tool changed, unified


class TurnCompleted(Fact, frozen=True, kw_only=True):
    """A turn succeeded; a message follows if the agent wrote one."""

    event: ClassVar[str] = "turn.completed"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    usage: Usage = Usage()


class TurnFailed(Fact, frozen=True, kw_only=True):
    """A turn failed. `error_type` says whether to retry it; `partial` is what it had written."""

    event: ClassVar[str] = "turn.failed"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    error_type: str
    message: str
    usage: Usage = NO_USAGE
    partial: str = ""


class TurnCancelled(Fact, frozen=True, kw_only=True):
    """A turn was stopped. `partial` is what it had written."""

    event: ClassVar[str] = "turn.cancelled"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    reason: str
    partial: str = ""


class TurnSpent(Fact, frozen=True, kw_only=True):
    """What a turn had cost when it was stopped. This is known only afterwards."""

    event: ClassVar[str] = "turn.spent"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    usage: Usage


class SessionActivated(Fact, frozen=True, kw_only=True):
    """An AI has the floor. `is_routed`: not by what a human said just now, but by an answer, a command or a result."""

    event: ClassVar[str] = "session.activated"
    is_routed: bool = False


PauseTrigger = Literal["esc", "pause_button"]  # what a person pressed; other requests count as the button


class PauseRequested(Fact, frozen=True, kw_only=True):
    """A pause was requested while turns run: they finish, then the session pauses."""

    event: ClassVar[str] = "session.pause_requested"
    author: ClassVar[str] = "member"
    member: str | None
    trigger: PauseTrigger = "pause_button"


class SessionPaused(Fact, frozen=True, kw_only=True):
    """A human has the floor. `reason` says why."""

    event: ClassVar[str] = "session.paused"
    waiting_for: str
    reason: PauseReason


class SessionCompleted(Fact, frozen=True, kw_only=True):
    """The session ended."""

    event: ClassVar[str] = "session.completed"
    reason: str


class NoticePosted(Fact, frozen=True, kw_only=True):
    """A message for people: a code of the text catalogue and the parameters of its template."""

    event: ClassVar[str] = "notice.posted"
    code: str
    names: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    who: str = ""
    detail: str = ""
    limit: int = 0
    minutes: float = 0.0
    count: int = 0


class StepAsked(Fact, frozen=True, kw_only=True):
    """A question that waits for one answer. `default` is chosen if nobody answers in time.

    One fact for every kind of question: a plan to confirm, an input or a failure to decide about, an output to check,
    an agent's own question, a permission (docs/decisions/031-one-fact-for-questions.md).

    `timeout_s` is how long people have while the server runs. `expires_at` is when that will be, by the clock of the
    moment; it is shown and decides nothing.
    """

    event: ClassVar[str] = "agent.user_confirm"
    timeline: ClassVar[str] = "user_confirmation_required"
    step_id: str
    kind: str
    options: tuple[Option, ...]
    expires_at: str | None
    default: str | None
    code: str = ""  # of the text catalogue, if Moot itself asks
    asked_by: str | None = None
    question: str = ""  # the text, if an agent asks
    task_id: str | None = None
    job: str = ""  # the turn that failed, if it is not a task's; or the agent that asks
    error_type: str = ""
    input: Input | None = None  # if the question is about an input
    tasks: tuple[Json, ...] | None = None
    plan_summary: str | None = None
    plan_id: str = ""
    plan_hash: str = ""
    names: tuple[str, ...] = ()  # parameters of the code's text, as in a notice
    who: str = ""
    detail: str = ""
    key: str = ""  # of an agent's question; the same key is asked only once
    turn_id: str = ""  # of the turn or dispatch whose worker waits for the answer
    selection: Selection | None = None
    allow_custom_input: bool = False
    timeout_s: float | None = None
    member: str = ""  # who asks for a permission, or asks people; with what it is for in the next three
    tool: ToolUse | None = None
    diff: str | None = None
    grant: Grant | None = None  # what an answer for the rest of the session would be about

    @property
    def is_for_member(self) -> bool:
        """Whether a member asks people in its own words: the answer is for it, also after the turn that asked."""
        return self.kind == "ask_user" and bool(self.member)

    def frame_content(self) -> Json | None:
        """Repeat the tasks of a plan, where some clients look for them."""
        return None if self.tasks is None else {"tasks": self.tasks, "plan_summary": self.plan_summary or ""}


class StepClosed(Fact, frozen=True, kw_only=True):
    """A question was answered, expired or was withdrawn."""

    event: ClassVar[str] = "agent.user_confirm_closed"
    author: ClassVar[str] = "by"
    step_id: str
    outcome: Literal["answered", "expired", "superseded", "cancelled"]
    by: str | None = None
    confirmed: bool | None = None
    choice: str | None = None
    answer: str | None = None
    tasks: tuple[Json, ...] | None = None  # the edited plan
    selected_ids: tuple[str, ...] = ()


class PermissionGranted(Fact, frozen=True, kw_only=True):
    """People decided what a member may do for the rest of the session. `pattern` is a command, or `*` for any use of
    the tool. `allowed` is false for a no."""

    event: ClassVar[str] = "permission.granted"
    author: ClassVar[str] = "by"
    member: str
    tool: str
    pattern: str
    allowed: bool = True
    by: str | None = None


class PermissionRevoked(Fact, frozen=True, kw_only=True):
    """What people had decided about a member for the rest of the session holds no longer: it asks again."""

    event: ClassVar[str] = "permission.revoked"
    author: ClassVar[str] = "by"
    member: str
    tool: str
    pattern: str
    by: str | None = None


class BudgetCounted(Fact, frozen=True, kw_only=True):
    """What is counted against budgets of a period or of several sessions, when it has changed.

    `day` is today's. Budgets whose period ended before begin anew. `elsewhere`: what other sessions of the team have
    spent in the period of the team's budget.
    """

    event: ClassVar[str] = "session.budget_counted"
    day: str
    elsewhere: Spent = NOTHING


SESSION_FACTS: tuple[type[Fact], ...] = (
    SessionCreated,
    BudgetCounted,
    MessagePosted,
    TeamTaskSet,
    LanguageChanged,
    SessionRenamed,
    UnderstandingStarted,
    UnderstandingCompleted,
    RoutingDecided,
    InputDeferred,
    TurnStarted,
    TurnStepped,
    TurnCompleted,
    TurnFailed,
    TurnCancelled,
    TurnSpent,
    SessionActivated,
    PauseRequested,
    SessionPaused,
    SessionCompleted,
    NoticePosted,
    StepAsked,
    StepClosed,
    PermissionGranted,
    PermissionRevoked,
    *DESK_FACTS,
    *WORKSPACE_FACTS,
)
