"""Markers and slash commands: certain, and read before anybody guesses what the words mean."""

from moot.core import slash
from moot.core.intent import (
    Action,
    ContextDependency,
    ControlAction,
    IntentAnalysis,
    NormalizedIntent,
    Relation,
    SemanticInput,
    SuggestedRoute,
    TaskRelation,
)
from moot.core.markers import Markers, parse

GOAL_CHARS = 200
_COMMANDS: dict[str, tuple[ControlAction, Action]] = {
    "pause": ("pause", "modify"),
    "resume": ("resume", "continue"),
    "continue": ("resume", "continue"),
    "status": ("status_query", "query"),
    "cancel": ("cancel", "cancel"),
    "stop": ("cancel", "cancel"),
    "end": ("cancel", "cancel"),
}


def read_explicit(given: SemanticInput) -> IntentAnalysis | None:
    """What markers and slash commands say; None when there are none and an understander may guess."""
    typed = slash.parse(given.raw_input)
    if typed:
        command = _COMMANDS.get(typed.name)
        if command:
            return _analyse(given, "control_instruction", command[1], f"/{typed.name}", control=command[0])
        return _analyse(given, "same_task_no_change", "continue", f"/{typed.name}")
    markers = parse(given.raw_input)
    if markers.done:
        return _analyse(given, "control_instruction", "cancel", "[DONE]", control="cancel")
    if markers.next or markers.drop or markers.team_task is not None:
        return _analyse(given, "same_task_no_change", "continue", "markers", entities=_names(markers))
    return None


def _names(markers: Markers) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(target.name for target in markers.next), *markers.drop]))


def _analyse(
    given: SemanticInput,
    relation: Relation,
    action: Action,
    reason: str,
    *,
    control: ControlAction | None = None,
    entities: tuple[str, ...] = (),
) -> IntentAnalysis:
    return IntentAnalysis(
        normalized_intent=NormalizedIntent(
            goal=" ".join(given.raw_input.split())[:GOAL_CHARS],
            action=action,
            scope="meta_control" if control else "partial_task",
            urgency="high" if control in ("pause", "cancel") else "medium",
        ),
        task_relation=TaskRelation(type=relation, confidence=1.0, reasoning=reason),
        context_dependency=ContextDependency(
            needs_current_task_context=True,
            needs_execution_history=False,
            needs_resource_status=control is not None,
            referenced_entities=entities,
        ),
        suggested_route=SuggestedRoute(
            next_phase="control" if control else "execution",
            reason=reason,
            requires_user_confirmation=False,
        ),
        control_action=control,
    )
