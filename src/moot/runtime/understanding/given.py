"""An analysis that somebody else made (a model, a caller), read with care: what may be missing is filled in.

Types and enums are strict. Numbers out of range are left to `is_sound`: whoever routes asks the person then.
"""

from typing import Any

from msgspec import convert

from moot.core.intent import IntentAnalysis
from moot.core.text import clean

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
    """ValueError (msgspec's ValidationError is one) when a field has the wrong type or an unknown word."""
    given = convert(raw, dict[str, Any])
    filled = {name: _join(defaults, given.get(name)) for name, defaults in _DEFAULTS.items()}
    relation = filled["task_relation"]
    if isinstance(relation, dict) and isinstance(relation.get("type"), str):
        relation["type"] = _ALIASES.get(relation["type"], relation["type"])
    judged = given.get("assessment")
    if isinstance(judged, dict) and judged.get("relation_type") == "same_task_no_change":
        filled["assessment"] = {**judged, "relation_type": "same_task_no_major_change"}
    return convert(_tidy({**given, **filled}), IntentAnalysis)


def _join(defaults: dict[str, Any], given: object) -> object:
    if given is None:
        return dict(defaults)
    return {**defaults, **given} if isinstance(given, dict) else given


def _tidy(value: Any, depth: int = DEPTH) -> Any:
    """No control characters, no endless texts, no endless nesting."""
    match value:
        case str():
            return clean(value)[:TEXT_CHARS]
        case dict() | list() if depth == 0:
            raise ValueError(f"nested deeper than {DEPTH} levels")
        case dict():
            return {clean(str(key)): _tidy(each, depth - 1) for key, each in value.items()}
        case list():
            return [_tidy(each, depth - 1) for each in value]
        case _:
            return value
