"""The keys of the team file as tables: type, default and meaning, from the types that read it."""

import json
from collections.abc import Iterator

import msgspec
from msgspec import Struct, inspect

from docs.tables import fields_of, make_table
from moot.agents.acp.acp_agent import AcpAgent
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.python import PythonAgent
from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.agent_specs import AgentSpec, McpServer, list_agent_types
from moot.config.quantities import CORE_BOUNDS
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.supervisor.supervisor_settings import Condition, SupervisedAgent, SupervisorSettings
from moot.core.session.settings import Budget

# Each has a table below this heading of the page; other structs are shown as keys of the one that holds them.
SECTIONS: dict[type, str] = {
    TeamFile: "the team",
    MemberSpec: "members",
    ScriptAgent: "script",
    ScriptEntry: "an entry",
    PythonAgent: "python",
    LlmAgent: "llm",
    McpServer: "an MCP server",
    CliAgent: "cli",
    AcpAgent: "acp",
    ChatSettings: "chat",
    Budget: "budget",
    PlanSettings: "plan",
    SupervisorSettings: "supervisor",
    SupervisedAgent: "an agent",
    Condition: "a condition",
}
PLAIN: dict[type, str] = {inspect.StrType: "text", inspect.BoolType: "`true` `false`", inspect.AnyType: "anything"}


def draw_keys(section: str) -> str:
    cls = next(cls for cls, name in SECTIONS.items() if name == section)
    return make_table(("key", "type", "default", "meaning"), list_keys(cls))


def list_keys(cls: type, prefix: str = "") -> Iterator[tuple[str, ...]]:
    for field in fields_of(cls):
        kind, meaning = _unwrap(field.type)
        inner = _find_struct(kind)
        if inner and inner not in SECTIONS and any(_unwrap(each.type)[1] for each in fields_of(inner)):
            if meaning:
                yield f"`{prefix}{field.encode_name}`", "mapping", "", meaning
            yield from list_keys(inner, f"{prefix}{field.encode_name}.")
            continue
        if not meaning:
            raise LookupError(f"{cls.__name__}.{field.name} has no description")
        if issubclass(cls, AgentSpec) and (choices := cls.choices().get(field.name)):
            kind = inspect.LiteralType(tuple(choices))
        if bounds := CORE_BOUNDS.get((cls, field.name)):
            kind = msgspec.structs.replace(kind, **bounds)
        key = f"`{prefix}{field.encode_name}`{' ✱' if field.required else ''}"
        yield key, _name_type(kind), _name_default(field), meaning


def _unwrap(kind: inspect.Type) -> tuple[inspect.Type, str]:
    """Without what is said about it, and the outermost of that."""
    meaning = ""
    while isinstance(kind, inspect.Metadata):
        meaning = meaning or (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    return kind, meaning


def _branches(kind: inspect.Type) -> list[inspect.Type]:
    types = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return [_unwrap(each)[0] for each in types if not isinstance(each, inspect.NoneType)]


def _find_struct(kind: inspect.Type) -> type | None:
    """The struct that it is, or may be."""
    structs = [each.cls for each in _branches(kind) if isinstance(each, inspect.StructType)]
    return structs[0] if len(structs) == 1 else None


def _name_type(kind: inspect.Type) -> str:
    return ", ".join(dict.fromkeys(map(_name_branch, _branches(_unwrap(kind)[0]))))


def _name_branch(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType(values=values):
            return " ".join(f"`{value}`" for value in values)
        case inspect.EnumType(cls=cls):
            return " ".join(f"`{each.value}`" for each in cls)
        case inspect.CustomType():
            return ", ".join(_name_struct(kind) for kind in list_agent_types().values())
        case inspect.StructType(cls=cls):
            return _name_struct(cls)
        case inspect.VarTupleType(item_type=item):
            return f"list of: {_name_type(item)}"
        case inspect.TupleType(item_types=(item, *_)):
            return f"pair of {_name_type(item)}"
        case inspect.DictType(value_type=value):
            return "mapping" if isinstance(value, inspect.AnyType) else f"mapping to: {_name_type(value)}"
        case inspect.StrType(max_length=int(most)):
            return f"text, at most {most} characters"
        case inspect.IntType() | inspect.FloatType():
            return ("whole number" if isinstance(kind, inspect.IntType) else "number") + _name_bounds(kind)
    return PLAIN[type(kind)]


def _name_struct(cls: type) -> str:
    if section := SECTIONS.get(cls):
        return f"[{section}](#{section.replace(' ', '-').lower()})"
    return "mapping: " + " ".join(f"`{field.encode_name}`" for field in fields_of(cls))


def _name_bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    """Those that somebody may meet: a billion and a year are there for the arithmetic."""
    if kind.gt is not None:
        return f" above {kind.gt:g}"
    if kind.le is not None and kind.le <= 1_000:
        return f" from {kind.ge or 0:g} to {kind.le:g}"
    return f", at least {kind.ge:g}" if kind.ge == 1 else ""


def _name_default(field: inspect.Field) -> str:
    default = field.default
    if default in (None, "", (), msgspec.NODEFAULT) or isinstance(default, Struct):
        return ""
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{json.dumps(default) if isinstance(default, bool) else default}`"
