"""What a human input means (seed 002 §8): what understanding is given, what it answers, and what routing makes of it.

`SemanticInput` is what an understander reads, `IntentAnalysis` what it says, `RoutingDecision` what follows from it.
"""

from typing import Any, Literal

from msgspec import Struct

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
    """How an input relates to the work that is under way (§8.4)."""

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
    """`clarification` is a question that must be answered before anything can be done; empty when none must."""

    normalized_intent: NormalizedIntent
    task_relation: TaskRelation
    context_dependency: ContextDependency
    suggested_route: SuggestedRoute
    assessment: TaskRelationAssessment | None = None
    control_action: ControlAction | None = None
    plan_patches: tuple[PlanPatch, ...] = ()
    clarification: str = ""


class Payload(Struct, frozen=True, kw_only=True, gc=False):
    plan_patches: tuple[PlanPatch, ...] = ()
    control_action: ControlAction | None = None
    new_task_justification: str | None = None
    replan_trigger: str | None = None


class RoutingDecision(Struct, frozen=True, kw_only=True, gc=False):
    route: Route
    confidence: float
    payload: Payload
    user_confirmation_required: bool
    user_message: str


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
    """What an understander is given (§8.1)."""

    raw_input: str
    system_state: SystemState = SystemState()
    recent_history: tuple[Said, ...] = ()
    tasks: tuple[KnownTask, ...] = ()
    language: Literal["zh", "en"] = "en"
    images: tuple[str, ...] = ()
