"""Reads an analysis that a model or a caller made, and fills in the fields that may be missing."""

from typing import Any

from msgspec import convert

from moot.core.intake.intent import IntentAnalysis
from moot.core.text import clean_data

_ALIASES = {"same_task_no_major_change": "same_task_no_change"}
TEXT_CHARS = 2_000
DEPTH = 16
_DEFAULTS: dict[str, dict[str, Any]] = {
    "normalized_intent": {"goal": "", "action": "modify", "scope": "partial_task", "urgency": "medium"},
    "task_relation": {"reasoning": ""},
    "context_dependency": {
        "needs_current_task_context": True,
        "needs_execution_history": False,
        "needs_resource_status": False,
    },
    "suggested_route": {"next_phase": "wait_user", "reason": "", "requires_user_confirmation": False},
}


def read_analysis(raw: object) -> IntentAnalysis:
    """Convert JSON data to an analysis.

    Numbers out of range pass; `is_sound` finds them.

    Raises:
        ValueError: a field has the wrong type or an unknown value.
    """
    fields = convert(raw, dict[str, Any])
    filled = {name: _fill(defaults, fields.get(name)) for name, defaults in _DEFAULTS.items()}
    relation = filled["task_relation"]
    if isinstance(relation, dict) and isinstance(relation.get("type"), str):
        relation["type"] = _ALIASES.get(relation["type"], relation["type"])
    assessment = fields.get("assessment")
    if isinstance(assessment, dict) and assessment.get("relation_type") == "same_task_no_change":
        filled["assessment"] = {**assessment, "relation_type": "same_task_no_major_change"}
    return convert(clean_data({**fields, **filled}, depth=DEPTH, chars=TEXT_CHARS), IntentAnalysis)


def _fill(defaults: dict[str, Any], value: object) -> object:
    if value is None:
        return dict(defaults)
    return {**defaults, **value} if isinstance(value, dict) else value
