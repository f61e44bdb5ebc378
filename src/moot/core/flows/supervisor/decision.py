"""Read the supervisor's decision from its message (docs/supervisor.md). Nothing is guessed."""

from collections.abc import Collection
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.facts import Json
from moot.core.flows.supervisor.supervisor_settings import END
from moot.core.json_text import cut_objects, find_object

TEXT_CHARS = 200  # of the texts that people see; the agent gets the whole ones
INSTRUCTION_CHARS = 8_000
FOCUS_AREAS = 5
_SEPARATORS = str.maketrans("，;；", ",,,")

# no_json: no object with next_agent. The others concern the value of next_agent. early_end: END, but the job may not
# end yet; not_ready: an agent whose precondition is missing and that has no fallback.
Fault = Literal["no_json", "empty", "not_text", "unknown", "early_end", "not_ready"]


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """A decision of the supervisor. `next_agent` is an agent of the team or END."""

    next_agent: str
    guidance: str = ""
    context_from_previous: str = ""
    focus_areas: tuple[str, ...] = ()


class Instructions(Struct, frozen=True, kw_only=True, gc=False):
    """The texts of a decision, not shortened."""

    guidance: str = ""
    context: str = ""


class Unusable(Struct, frozen=True, kw_only=True, gc=False):
    """Why a message has no usable decision. `given` is the invalid value of `next_agent`."""

    fault: Fault
    given: str = ""


def extract_decision(message: str, agents: Collection[str]) -> Decision | Unusable:
    """Read a decision. The last object with `next_agent` counts, even if only an earlier one is usable."""
    return read_decision(find_document(message), agents)


def find_document(message: str) -> Json | None:
    """Return the object of a message that says who acts next, as it is written there; None if there is none."""
    return find_object(message, "next_agent")


def read_decision(document: Json | None, agents: Collection[str]) -> Decision | Unusable:
    if document is None:
        return Unusable(fault="no_json")
    chosen = document["next_agent"]
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
        guidance=_read_text(document.get("guidance")),
        context_from_previous=_read_text(document.get("context_from_previous")),
        focus_areas=_read_areas(document.get("focus_areas")),
    )


def read_instructions(document: Json) -> Instructions:
    """Read the whole texts of a decision, which the chosen agent is given."""
    guidance, context = (document.get(name) for name in ("guidance", "context_from_previous"))
    return Instructions(
        guidance=guidance.strip()[:INSTRUCTION_CHARS] if isinstance(guidance, str) else "",
        context=context.strip()[:INSTRUCTION_CHARS] if isinstance(context, str) else "",
    )


def without_json(message: str) -> str:
    """Return a message without the JSON that Moot acts on: a decision, state, tool calls, a question."""
    for key in ("next_agent", "state", "tool_calls", "ask"):
        message = cut_objects(message, key)
    return message


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
    """Return a value as text: other types than text as JSON, null as the empty string."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}..."
