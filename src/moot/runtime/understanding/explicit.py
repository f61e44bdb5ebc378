"""Reads markers and slash commands. They are certain, so they are read before the words are interpreted."""

from moot.core.intake import slash
from moot.core.intake.intent import (
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
from moot.core.intake.markers import Markers, parse

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


def read_explicit(request: SemanticInput) -> IntentAnalysis | None:
    """Return the analysis of a marker or slash command, None if the message has none."""
    slash_command = slash.parse(request.raw_input)
    if slash_command:
        reason = f"/{slash_command.name}"
        if slash_command.name in _COMMANDS:
            control, action = _COMMANDS[slash_command.name]
            return _analyse(request, "control_instruction", action, reason, control=control)
        return _analyse(request, "same_task_no_change", "continue", reason)
    markers = parse(request.raw_input)
    if markers.done:
        return _analyse(request, "control_instruction", "cancel", "[DONE]", control="cancel")
    if markers.next or markers.drop or markers.team_task is not None:
        return _analyse(request, "same_task_no_change", "continue", "markers", entities=_names(markers))
    return None


def _names(markers: Markers) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(target.name for target in markers.next), *markers.drop]))


def _analyse(
    request: SemanticInput,
    relation: Relation,
    action: Action,
    reason: str,
    *,
    control: ControlAction | None = None,
    entities: tuple[str, ...] = (),
) -> IntentAnalysis:
    return IntentAnalysis(
        normalized_intent=NormalizedIntent(
            goal=" ".join(request.raw_input.split())[:GOAL_CHARS],
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
