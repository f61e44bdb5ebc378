"""The facts of a session: everything that a log can say. Names are never reused or renamed; new fields have defaults.

A fact is what happened (`MessagePosted(member=…, text=…)`), in the past tense. The codec puts it into its envelope with
seq, time and source. Fields without a default are always written: they are the contract of spec/5.
"""

from typing import ClassVar, Literal

from msgspec import Struct

from moot.core.intent import IntentAnalysis, Payload, Route
from moot.core.plan.events import Json, PlanFact
from moot.core.routing import Action
from moot.core.settings import Budget, ChatSettings, PlanSettings, RouteThresholds, UnderstandingType
from moot.core.supervisor.events import SupervisorFact
from moot.core.supervisor_settings import SupervisorSettings
from moot.core.team import Flow, Language, Member
from moot.core.usage import NO_USAGE, Usage

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
    "undecided",  # this and the next two: logged by Moot 0.1 before they were steps
    "step_limit",
    "iteration_limit",
]
Selection = Literal["single", "multiple", "none"]


class Option(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    id: str
    label: str
    description: str = ""


class SessionCreated(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Always the first. The team as the log remembers it: nothing of what runs an AI."""

    event: ClassVar[str] = "agent.session_created"
    team: str
    flow: Flow
    members: tuple[Member, ...]
    language: Language
    title: str
    understanding: UnderstandingType = "explicit"
    thresholds: RouteThresholds = RouteThresholds()
    chat: ChatSettings = ChatSettings()
    plan: PlanSettings = PlanSettings()
    supervisor: SupervisorSettings = SupervisorSettings()
    budget: Budget = Budget()


class MessagePosted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`text` is what is shown and handed on; `raw` is what was said, where markers were taken out of it."""

    event: ClassVar[str] = "message.posted"
    member: str
    text: str
    raw: str | None = None
    turn_id: str | None = None


class TeamTaskSet(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The shared goal, from `[TEAM_TASK: …]`."""

    event: ClassVar[str] = "session.team_task_set"
    member: str
    team_task: str


class LanguageChanged(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Of notices, from here on."""

    event: ClassVar[str] = "session.language_changed"
    language: Language


class SessionRenamed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A new title."""

    event: ClassVar[str] = "session.renamed"
    title: str
    member: str | None  # who did it, where that is known


class Input(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something a human said that has to be understood; `asked` counts the questions about it so far."""

    input_id: str
    member: str
    text: str
    asked: int = 0


class UnderstandingStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Somebody is asked what an input means."""

    event: ClassVar[str] = "understanding.started"
    input: Input


class UnderstandingCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`fallback_reason`: why the rules answered instead of the model."""

    event: ClassVar[str] = "understanding.completed"
    input_id: str
    analysis: IntentAnalysis
    fallback_reason: str | None = None


class RoutingDecided(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How a message was routed: in chat the action and the members it put into the queue, elsewhere the route."""

    event: ClassVar[str] = "routing.decided"
    confidence: float
    action: Action | None = None
    queue_updates: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    input_id: str | None = None
    route: Route | None = None
    payload: Payload | None = None
    user_confirmation_required: bool | None = None  # None in chat, so that no is said elsewhere
    user_message: str = ""


class QueueChanged(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The whole queue. `priorities` stands beside `pending` and is left out while all are P2."""

    event: ClassVar[str] = "queue.changed"
    executing: str | None
    pending: tuple[str, ...]
    priorities: tuple[str, ...] = ()


class TurnStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`index`: how many turns this member had before. `hop`: AI turns since a human last spoke, this one included."""

    event: ClassVar[str] = "turn.started"
    turn_id: str
    member: str
    index: int
    hop: int
    retry_of: str | None = None
    job: str = ""  # plan flow: plan, patch, review, aggregate; supervisor flow: the node
    task_id: str = ""  # of the task that the job is about
    task_index: int = 0  # how many turns the member had before for this task


class TurnStepped(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that an agent thinks, does or sees on the way."""

    event: ClassVar[str] = "turn.step"
    turn_id: str
    member: str
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class TurnCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """It came to its end; a message follows if something was said."""

    event: ClassVar[str] = "turn.completed"
    turn_id: str
    member: str
    usage: Usage = Usage()


class TurnFailed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """It ended with an error; `error_type` says whether trying again helps."""

    event: ClassVar[str] = "turn.failed"
    turn_id: str
    member: str
    error_type: str
    message: str
    usage: Usage = NO_USAGE


class TurnCancelled(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """It was stopped."""

    event: ClassVar[str] = "turn.cancelled"
    turn_id: str
    member: str
    reason: str


class SessionActivated(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An AI has the floor."""

    event: ClassVar[str] = "session.activated"


class PauseRequested(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`/pause` while a turn runs: it finishes, then the queue waits."""

    event: ClassVar[str] = "session.pause_requested"
    member: str | None


class SessionPaused(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A human has the floor: who, and why."""

    event: ClassVar[str] = "session.paused"
    waiting_for: str
    reason: PauseReason


class SessionCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """It is over."""

    event: ClassVar[str] = "session.completed"
    reason: str


class NoticePosted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message for people: a code of the catalogue and the parameters that its texts name."""

    event: ClassVar[str] = "notice.posted"
    code: str
    names: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    who: str = ""
    detail: str = ""
    limit: int = 0
    minutes: float = 0.0
    count: int = 0


class StepAsked(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A question that waits for one answer. `default` is what happens when nobody answers in time."""

    event: ClassVar[str] = "agent.user_confirm"
    step_id: str
    kind: str
    options: tuple[Option, ...]
    expires_at: str | None
    default: str | None
    code: str = ""  # of the notice catalogue, when Moot itself asks
    asked_by: str | None = None
    question: str = ""  # when somebody else asks
    task_id: str | None = None
    job: str = ""  # that failed, when it is no task; the agent that asks
    error_type: str = ""
    input: Input | None = None  # that the question is about
    tasks: tuple[Json, ...] | None = None
    plan_summary: str | None = None
    plan_id: str = ""
    plan_hash: str = ""
    names: tuple[str, ...] = ()  # parameters of the code's text, as in a notice
    who: str = ""
    detail: str = ""
    key: str = ""  # of an agent's question: what it is about, asked once
    turn_id: str = ""  # of the turn or dispatch whose worker waits for the answer
    selection: Selection | None = None
    allow_custom_input: bool = False


class StepClosed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A question is answered, expired or withdrawn."""

    event: ClassVar[str] = "agent.user_confirm_closed"
    step_id: str
    outcome: Literal["answered", "expired", "superseded", "cancelled"]
    by: str | None = None
    confirmed: bool | None = None
    choice: str | None = None
    answer: str | None = None
    tasks: tuple[Json, ...] | None = None  # as they were edited
    selected_ids: tuple[str, ...] = ()


Fact = (
    SessionCreated
    | MessagePosted
    | TeamTaskSet
    | LanguageChanged
    | SessionRenamed
    | UnderstandingStarted
    | UnderstandingCompleted
    | RoutingDecided
    | QueueChanged
    | TurnStarted
    | TurnStepped
    | TurnCompleted
    | TurnFailed
    | TurnCancelled
    | SessionActivated
    | PauseRequested
    | SessionPaused
    | SessionCompleted
    | NoticePosted
    | StepAsked
    | StepClosed
    | PlanFact
    | SupervisorFact
)
