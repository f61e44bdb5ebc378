"""Analyses of messages for tests: `analyse("same_task_minor_change", 0.9)`."""

from typing import Any

from moot.core.intake.intent import (
    Action,
    ContextDependency,
    IntentAnalysis,
    NormalizedIntent,
    Relation,
    SuggestedRoute,
    TaskRelation,
)

_ACTIONS: dict[Relation, Action] = {
    "same_task_no_change": "continue",
    "same_task_minor_change": "modify",
    "same_task_major_change": "modify",
    "different_task": "create",
    "control_instruction": "query",
}


def analyse(
    relation: Relation,
    confidence: float = 0.95,
    *,
    goal: str = "",
    action: Action | None = None,
    must_confirm: bool = False,
    **fields: Any,
) -> IntentAnalysis:
    """Make an analysis as an understander would. `fields` are other fields of `IntentAnalysis`."""
    return IntentAnalysis(
        normalized_intent=NormalizedIntent(
            goal=goal, action=action or _ACTIONS[relation], scope="full_task", urgency="medium"
        ),
        task_relation=TaskRelation(type=relation, confidence=confidence, reasoning="a test says so"),
        context_dependency=ContextDependency(
            needs_current_task_context=True, needs_execution_history=False, needs_resource_status=False
        ),
        suggested_route=SuggestedRoute(
            next_phase="execution", reason="a test says so", requires_user_confirmation=must_confirm
        ),
        **fields,
    )


def control(action: str, confidence: float = 0.95) -> IntentAnalysis:
    """Make the analysis of a control: pause, resume, cancel or status_query."""
    actions: dict[str, Action] = {"pause": "modify", "resume": "continue", "cancel": "cancel", "status_query": "query"}
    return analyse("control_instruction", confidence, action=actions[action], control_action=action)
