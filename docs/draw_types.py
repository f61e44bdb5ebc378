"""`make docs`: writes the page's TypeScript types, from the structs that cross the wire.

`declare` takes any msgspec structs, and declares those that they refer to as well.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import inspect

from moot.core.flows.registry import FACTS
from moot.core.view import View
from moot.gateway.demo_operations import DemoDocument
from moot.gateway.documents import InboxDocument, MachineDocument, SessionEntry, TeamDocument
from moot.gateway.team_sources import ProblemsDocument, TeamSource
from moot.protocol.command_table import COMMANDS, Row
from moot.protocol.frames import UNLOGGED
from moot.runtime.ports import Takeover

FILE = Path(__file__).parents[1] / "web" / "js" / "types.generated.d.ts"
HEAD = """\
// Made by `make docs` from the structs that cross the wire: commands, the metadata of frames, the view, and
// the answers of REST. Edit those, not this file.

declare namespace Wire {
"""
ANSWERS = tuple(dict.fromkeys(kind for kinds in UNLOGGED.values() for kind in kinds))
PLAIN: dict[type, str] = {
    inspect.AnyType: "any",
    inspect.NoneType: "null",
    inspect.BoolType: "boolean",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.StrType: "string",
}


def draw() -> str:
    """Return the text of the file."""
    commands = {_quote(event): _write_command(row) for event, row in COMMANDS.items()}
    metadata = {_quote(fact.event): fact.__name__ for fact in FACTS}
    metadata |= {_quote(event): " | ".join(kind.__name__ for kind in kinds) for event, kinds in UNLOGGED.items()}
    documents = [
        View,
        SessionEntry,
        MachineDocument,
        TeamDocument,
        InboxDocument,
        DemoDocument,
        TeamSource,
        ProblemsDocument,
        Takeover,
    ]
    parts = [
        _write_interface("Commands", commands, "The fields of each command."),
        _write_interface("Metadata", metadata, "The metadata of each frame."),
        *declare([*FACTS, *ANSWERS, *documents, *(kind for row in COMMANDS.values() for kind in _shown_types(row))]),
    ]
    return HEAD + "\n".join(parts) + "}\n"


def declare(kinds: Iterable[Any]) -> list[str]:
    """Return an interface for each struct in `kinds` and for each that they refer to, in the order of their names.

    Raises LookupError if two of them have the same name.
    """
    found: dict[str, inspect.StructType] = {}
    for info in inspect.multi_type_info(list(kinds)):
        for struct in _structs_in(info, set()):
            name = struct.cls.__name__
            if found.setdefault(name, struct).cls is not struct.cls:
                raise LookupError(f"two structs are called {name}: rename one of {struct.cls}, {found[name].cls}")
    return [_declare(found[name]) for name in sorted(found)]


def _structs_in(info: inspect.Type, seen: set[type]) -> Iterator[inspect.StructType]:
    if isinstance(info, inspect.StructType):
        if info.cls in seen:
            return
        seen.add(info.cls)
        yield info
    for part in _parts_of(info):
        yield from _structs_in(part, seen)


def _parts_of(info: inspect.Type) -> list[inspect.Type]:
    match info:
        case inspect.StructType(fields=fields):
            return [field.type for field in fields]
        case inspect.Metadata(type=inner):
            return [inner]
        case inspect.UnionType(types=types):
            return list(types)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return [item]
        case inspect.TupleType(item_types=items):
            return list(items)
        case inspect.DictType(value_type=value):
            return [value]
        case _:
            return []


def _declare(struct: inspect.StructType) -> str:
    """A field can be absent only if its default is left out when the struct is encoded."""
    omits_defaults = struct.cls.__struct_config__.omit_defaults
    fields = dict(_write_field(field, may_be_absent=omits_defaults) for field in struct.fields)
    text = " ".join((struct.cls.__doc__ or "").split())
    is_generated = text.startswith(f"{struct.cls.__name__}(")  # msgspec's own docstring repeats the fields
    return _write_interface(struct.cls.__name__, fields, "" if is_generated else text)


def _write_field(field: inspect.Field, *, may_be_absent: bool) -> tuple[str, str]:
    if field.required or not may_be_absent:
        return _quote(field.encode_name), _write(field.type)
    is_null_omitted = field.default is None
    return f"{_quote(field.encode_name)}?", _write(_without_null(field.type) if is_null_omitted else field.type)


def _without_null(info: inspect.Type) -> inspect.Type:
    if isinstance(info, inspect.Metadata):
        return _without_null(info.type)
    if not isinstance(info, inspect.UnionType):
        return info
    return inspect.UnionType(tuple(kind for kind in info.types if not isinstance(kind, inspect.NoneType)))


def _shown_types(row: Row) -> list[Any]:
    return [row.documented.get(field.name, field.type) for field in row.fields]


def _write_command(row: Row) -> str:
    """A required field can be absent if `content` may stand for it."""
    by_content = {row.text: "string", row.items: "any[]"}
    parts = []
    for field, info in zip(row.fields, inspect.multi_type_info(_shown_types(row)), strict=True):
        mark = "" if field.required and field.name not in by_content else "?"
        parts.append(f"{field.name}{mark}: {_write(_without_null(info))}")
    parts += [f"{other}?: {_write(_without_null(inspect.type_info(kind)))}" for other, kind in _other_names(row)]
    contents = [kind for name, kind in by_content.items() if name]
    parts += [f"content?: {' | '.join(contents)}"] if contents else []
    return f"{{ {'; '.join(parts)} }}" if parts else "{}"


def _other_names(row: Row) -> list[tuple[str, Any]]:
    return [(row.also[field.name], field.type) for field in row.fields if field.name in row.also]


def _write_interface(name: str, fields: dict[str, str], text: str) -> str:
    comment = f"  /** {text} */\n" if text else ""
    lines = "".join(f"    {field}: {kind};\n" for field, kind in fields.items())
    return f"{comment}  interface {name} {{\n{lines}  }}\n"


def _write(info: inspect.Type) -> str:
    """Return the TypeScript of a type. Raises LookupError for one that no struct of the wire has had so far."""
    match info:
        case inspect.Metadata(type=inner):
            return _write(inner)
        case inspect.StructType(cls=cls):
            return cls.__name__
        case inspect.LiteralType(values=values):
            return " | ".join(json.dumps(value) for value in values)
        case inspect.EnumType(cls=cls):
            return " | ".join(json.dumps(member.value) for member in cls)
        case inspect.UnionType(types=types):
            return " | ".join(dict.fromkeys(_write(kind) for kind in types))
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return f"Array<{_write(item)}>"
        case inspect.TupleType(item_types=items):
            return f"[{', '.join(_write(item) for item in items)}]"
        case inspect.DictType(value_type=value):
            return f"Record<string, {_write(value)}>"
        case _ if type(info) in PLAIN:
            return PLAIN[type(info)]
        case _:
            raise LookupError(f"no TypeScript for {info}")


def _quote(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
