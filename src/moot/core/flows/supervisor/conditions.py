"""Conditions on the shared state. Its values come from agents and may have any type."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, assert_never

from moot.core import text
from moot.core.flows.supervisor.supervisor_settings import Condition, Coverage

SharedState = Mapping[str, Any]


def look_up(state: SharedState, key: str) -> Any:
    """Return the value at `a.b.c`; None if a part of the path is missing."""
    value: Any = state
    for name in key.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def holds(condition: Condition, state: SharedState) -> bool:
    value = look_up(state, condition.key)
    match condition.expected:
        case "present":
            return value is not None
        case "non_blank":
            return isinstance(value, str) and not text.is_blank(value)
        case "non_empty":
            return isinstance(value, (str, list, tuple, Mapping)) and len(value) > 0
        case True | False as wanted:
            return value is wanted
        case _:
            assert_never(condition.expected)


def holds_any(conditions: tuple[Condition, ...], state: SharedState) -> bool:
    """Whether one of the conditions holds. An empty tuple is always satisfied."""
    return not conditions or any(holds(condition, state) for condition in conditions)


def is_covered(coverage: Coverage, state: SharedState) -> bool:
    """Whether every item has a counterpart. An empty `items` list is never covered."""
    items, by = look_up(state, coverage.items), look_up(state, coverage.by)
    if not isinstance(items, (list, tuple)) or not items:
        return False
    if isinstance(by, Mapping):
        return all(_is_something(by.get(_name(item, position))) for position, item in enumerate(items))
    return isinstance(by, (list, tuple)) and sum(map(_is_something, by)) >= len(items)


def _name(item: Any, position: int) -> str:
    named = item.get("id") if isinstance(item, Mapping) else item
    return str(named) if isinstance(named, (str, int)) else str(position)


def _is_something(value: Any) -> bool:
    return value is not None and value is not False and not (isinstance(value, str) and text.is_blank(value))


def read_number(value: Any) -> float | None:
    """Return a finite number; None for booleans, text, NaN and anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
