"""What the supervisor decided (spec/3: decision), read from whatever it wrote. Nothing is guessed."""

from collections.abc import Collection
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.json_text import cut_objects, find_object
from moot.core.supervisor_settings import END

TEXT_CHARS = 200
FOCUS_AREAS = 5
_SEPARATORS = str.maketrans("，;；", ",,,")

# no_json: no object with next_agent; the rest is about the value of next_agent. early_end: END before it may;
# not_ready: an agent whose precondition is missing and that has no fallback
Fault = Literal["no_json", "empty", "not_text", "unknown", "early_end", "not_ready"]


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """All four keys, always; `next_agent` is an agent of the team or END."""

    next_agent: str
    guidance: str = ""
    context_from_previous: str = ""
    focus_areas: tuple[str, ...] = ()


class Unusable(Struct, frozen=True, kw_only=True, gc=False):
    """Why a message holds no decision; `given` is what stood there instead of an agent's name."""

    fault: Fault
    given: str = ""


def extract_decision(said: str, agents: Collection[str]) -> Decision | Unusable:
    """The last object with `next_agent` counts, also when an earlier one would have been usable."""
    found = find_object(said, "next_agent")
    if found is None:
        return Unusable(fault="no_json")
    chosen = found["next_agent"]
    if chosen is None:
        return Unusable(fault="empty")
    if not isinstance(chosen, str):
        return Unusable(fault="not_text", given=_cut(_write(chosen)))
    chosen = chosen.strip()
    if not chosen:
        return Unusable(fault="empty")
    if chosen != END and chosen not in agents:
        return Unusable(fault="unknown", given=_cut(chosen))
    return Decision(
        next_agent=chosen,
        guidance=_read_text(found.get("guidance")),
        context_from_previous=_read_text(found.get("context_from_previous")),
        focus_areas=_read_areas(found.get("focus_areas")),
    )


def without_decision(said: str) -> str:
    """What a supervisor thinks aloud around its decision, which is told as what comes of it."""
    return cut_objects(said, "next_agent")


def _read_text(value: Any) -> str:
    return _cut(value.strip()) if isinstance(value, str) else ""


def _read_areas(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        items: list[Any] = value.translate(_SEPARATORS).split(",")
    else:
        items = value if isinstance(value, list) else []
    written = (_cut(_write(item).strip()) for item in items)
    return tuple(area for area in written if area)[:FOCUS_AREAS]


def _write(value: Any) -> str:
    """A value as text: what is no text is written as JSON, null is nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}..."
