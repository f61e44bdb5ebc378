"""What a human input means: the input of understanding, its analysis, and the routing decision.

An understander reads a `SemanticInput` and returns an `IntentAnalysis`; routing turns that into a `RoutingDecision`.
"""

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from moot.core.session.attachments import HandedFile
from moot.core.session.team import DEFAULT_LANGUAGE, Language

Action = Literal["create", "modify", "query", "cancel", "continue", "clarify"]
Scope = Literal["full_task", "partial_task", "meta_control"]
Urgency = Literal["high", "medium", "low"]
Relation = Literal[
    "same_task_no_change",
    "same_task_minor_change",
    "same_task_major_change",
    "different_task",
    "control_instruction",
]
NextPhase = Literal["plan_loop", "execution", "replan", "new_task", "wait_user", "control"]
Delta = Literal["none", "minor", "major"]
ControlAction = Literal["pause", "resume", "cancel", "status_query"]
Route = Literal["continue_execution", "minor_replan", "full_replan", "new_task", "control_action", "wait_user_decision"]
PatchOp = Literal["add", "modify", "remove", "reorder"]
WorkflowStatus = Literal[
    "idle", "plan_loop", "execution", "paused", "replan_evaluation", "wait_user_decision", "completed", "failed"
]


class NormalizedIntent(Struct, frozen=True, kw_only=True, gc=False):
    goal: str
    action: Action
    scope: Scope
    urgency: Urgency


class TaskRelation(Struct, frozen=True, kw_only=True, gc=False):
    type: Relation
    confidence: float  # 0–1
    reasoning: str


class ContextDependency(Struct, frozen=True, kw_only=True, gc=False):
    needs_current_task_context: bool
    needs_execution_history: bool
    needs_resource_status: bool
    referenced_entities: tuple[str, ...] = ()


class SuggestedRoute(Struct, frozen=True, kw_only=True, gc=False):
    next_phase: NextPhase
    reason: str
    requires_user_confirmation: bool


class Deltas(Struct, frozen=True, kw_only=True, gc=False):
    goal_similarity: float  # 0–1
    scope_delta: Delta
    constraint_delta: Delta
    deliverable_delta: Delta
    resource_impact: Delta
    timeline_impact: Delta


class TaskRelationAssessment(Struct, frozen=True, kw_only=True, gc=False):
    """How an input relates to the work that is under way."""

    relation_type: Literal[
        "same_task_no_major_change", "same_task_minor_change", "same_task_major_change", "different_task"
    ]
    reasoning: str
    confidence: float
    assessment: Deltas
    recommended_action: Literal["continue", "minor_replan", "full_replan", "new_task"]
    replan_rationale: str | None = None
    new_task_justification: str | None = None


class PlanPatch(Struct, frozen=True, kw_only=True, gc=False):
    """A change to a plan that is under way: `changes` are fields of the task, or `{after: id | null}` to reorder."""

    op: PatchOp
    task_id: str
    changes: dict[str, Any] = {}


class IntentAnalysis(Struct, frozen=True, kw_only=True, gc=False):
    """The meaning of an input. `clarification` is a question that must be answered first, or empty."""

    normalized_intent: NormalizedIntent
    task_relation: TaskRelation
    context_dependency: ContextDependency
    suggested_route: SuggestedRoute
    assessment: TaskRelationAssessment | None = None
    control_action: ControlAction | None = None
    plan_patches: tuple[PlanPatch, ...] = ()
    clarification: str = ""


class AddressingType(StrEnum):
    SEND_TO_AI = "send_to_ai"
    WAIT_FOR_HUMAN = "wait_for_human"
    CONTINUE_QUEUE = "continue_queue"
    ERROR_UNRESOLVED = "error_unresolved"


class Addressing(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Whom a message of a chat gives the floor to. `member` is set where the type implies one."""

    type: AddressingType
    member: str | None = None
    addressees: tuple[str, ...] = ()
    available_members: tuple[str, ...] = ()


class Payload(Struct, frozen=True, kw_only=True, gc=False):
    plan_patches: tuple[PlanPatch, ...] = ()
    control_action: ControlAction | None = None
    new_task_justification: str | None = None
    replan_trigger: str | None = None


class RoutingDecision(Struct, frozen=True, kw_only=True, gc=False):
    """What to do with an input. `message_code` is the code of `user_message`, empty if a model wrote it."""

    route: Route
    confidence: float
    payload: Payload
    user_confirmation_required: bool
    user_message: str
    message_code: str = ""


class CurrentTask(Struct, frozen=True, kw_only=True, gc=False):
    goal: str
    progress: float = 0.0  # 0–1
    completed_tasks: int = 0
    failed_tasks: int = 0
    blocked_tasks: int = 0


class SystemState(Struct, frozen=True, kw_only=True, gc=False):
    workflow_status: WorkflowStatus = "idle"
    current_task: CurrentTask | None = None
    last_activity: str = ""
    available_resources: tuple[str, ...] = ()


class Said(Struct, frozen=True, kw_only=True, gc=False):
    role: Literal["user", "agent"]
    content: str
    timestamp: str = ""


class KnownTask(Struct, frozen=True, kw_only=True, gc=False):
    """A task of the plan, as far as a person may refer to it ("the second one", "the cover")."""

    id: str
    title: str = ""
    status: str = ""


class SemanticInput(Struct, frozen=True, kw_only=True, gc=False):
    """What an understander reads."""

    raw_input: str
    system_state: SystemState = SystemState()
    recent_history: tuple[Said, ...] = ()
    tasks: tuple[KnownTask, ...] = ()
    language: Language = DEFAULT_LANGUAGE
    images: tuple[HandedFile, ...] = ()
