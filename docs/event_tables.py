"""Events and commands with their fields, from the types."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from docs.tables import fields_of, make_table
from moot.core.flows.registry import FACTS, FLOWS
from moot.protocol.command_table import ABOUT_CONNECTION, COMMANDS, Row
from moot.protocol.frames import UNLOGGED
from moot.protocol.schema import command_schemas

GOLDEN = Path(__file__).parents[1] / "tests" / "data" / "golden"
HEAD = ("event", "means", "fields")
GROUPS = {  # by how their names begin
    "The session": ("agent.session_created", "session.", "member."),
    "What is said": ("message.", "notice.", "queue.", "turn."),
    "Understanding and routing": ("understanding.", "routing."),
    "Questions and permissions": ("agent.user_confirm", "permission."),
    "Plans": ("plan.", "workflow.", "agent.final_answer", "agent.interrupted", "aggregate.", "pipeline."),
    "Tasks": ("task.", "solver.", "error."),
    "Supervisor": ("supervisor.",),
    "Workspaces": ("workspace.",),
}


def draw_logged() -> str:
    timeline = read_timeline()
    facts: tuple[Any, ...] = FACTS
    nowhere = [fact.event for fact in facts if not fact.event.startswith(tuple(sum(GROUPS.values(), ())))]
    if nowhere:
        raise LookupError(f"no group for {nowhere}")
    parts = []
    for group, beginnings in GROUPS.items():
        found = [fact for fact in facts if fact.event.startswith(beginnings)]
        rows = [(*_describe(fact.event, fact), timeline.get(fact.event, "")) for fact in found]
        parts.append(f"### {group}\n\n{make_table((*HEAD, 'timeline'), rows)}")
    return "\n".join(parts)


def draw_unlogged() -> str:
    return make_table(HEAD, (_describe(event, kind) for event, kinds in UNLOGGED.items() for kind in kinds))


def draw_commands() -> str:
    return make_table((*HEAD, "for"), (_describe_command(row) for row in COMMANDS.values()))


def _describe_command(row: Row) -> tuple[str, str, str, str]:
    schemas, _ = command_schemas("{name}")
    properties = schemas[row.event]["properties"]
    names = [(field.name, field.required) for field in row.fields] + [(name, False) for name in row.also.values()]
    fields = [_list_fields([name]) + _remark(properties[name[0]].get("description")) for name in names]
    flows = [name for name, flow in FLOWS.items() if row.kind in flow.commands]
    scope = "the connection" if row.event in ABOUT_CONNECTION else f"{flows[0]} sessions" if flows else "every session"
    return f"`{row.event}`", row.description, "<br>".join(fields), scope


def read_timeline() -> dict[str, str]:
    """What the timeline calls an event: read from the golden logs, which have every kind."""
    text = "".join(file.read_text(encoding="utf-8") for file in GOLDEN.glob("*.jsonl"))
    frames = [json.loads(line) for line in text.split("\n") if line]
    return {frame["event"]: frame["timeline"] for frame in frames if "timeline" in frame}


def _describe(event: str, kind: type[Struct]) -> tuple[str, str, str]:
    said = " ".join((kind.__doc__ or "").split())
    means = "" if said.startswith(f"{kind.__name__}(") else said  # msgspec's own says nothing new
    return f"`{event}`", means, _list_fields((field.encode_name, field.required) for field in fields_of(kind))


def _remark(description: str | None) -> str:
    return f": {description}" if description else ""


def _list_fields(names: Iterable[tuple[str, bool]]) -> str:
    return " ".join(f"`{name}`{'' if is_required else '?'}" for name, is_required in names)
