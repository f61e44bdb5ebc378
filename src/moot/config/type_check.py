"""Holding plain data against types, all of it: where msgspec stops at the first problem, this lists every one.

Whatever passes here is accepted by `msgspec.convert`.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec
from msgspec import inspect

from moot.config.agent_specs import AgentSpec, find_agent_type
from moot.config.message_format import describe_value, join_choices, looks_like_secret, shorten, suggest
from moot.config.phrase import Phrase, join_phrases
from moot.config.problem import Problem
from moot.config.quantities import CORE_BOUNDS, PATTERNS
from moot.core.session.team import Path
from moot.extensions import AGENTS, PRESETS

_SURROGATE = re.compile("[\ud800-\udfff]")
_OVERSIZED = 2**63  # beyond it a number cannot be stored


@lru_cache(maxsize=64)
def read_type(cls: type[object]) -> inspect.Type:
    return inspect.type_info(cls)


# keys that people know from other tools: which key must be known here for the hint to apply, and the hint
_KEYS_OF_OTHER_TOOLS = {
    "api_key": ("key", Phrase("team.key_of_others.api_key")),
    "system_prompt": ("instructions", Phrase("team.did_you_mean", value="instructions")),
    "model": ("agent", Phrase("team.key_of_others.model")),
}


def check(value: object, expected: inspect.Type, path: Path = ()) -> Iterator[Problem]:
    match expected:
        case inspect.Metadata():
            yield from check(value, expected.type, path)
        case inspect.AnyType():
            yield from _check_plain(value, path)
        case inspect.UnionType():
            yield from _check_union(value, expected, path)
        case inspect.StructType() | inspect.CustomType() if isinstance(value, dict):
            yield from _check_mapping(value, expected, path)
        case inspect.DictType() if isinstance(value, dict):
            for key, item in value.items():
                yield from check(item, expected.value_type, (*path, key))
        case inspect.VarTupleType() | inspect.TupleType() if isinstance(value, list):
            yield from _check_list(value, expected, path)
        case _ if not _has_shape(value, expected):
            yield _wrong_type(value, [expected], path)
        case inspect.LiteralType() | inspect.EnumType():
            yield from _check_choice(value, _list_choices(expected), path)
        case _:
            yield from _check_plain(value, path)
            yield from _check_bounds(value, expected, path)


def _check_mapping(
    value: dict[str, object], expected: inspect.StructType | inspect.CustomType, path: Path
) -> Iterator[Problem]:
    if isinstance(expected, inspect.StructType):
        yield from _check_struct(value, expected, path)
    else:  # the agent of a member, the only field whose type is found by name
        yield from _check_agent(value, path)


def _check_struct(value: dict[str, object], struct: inspect.StructType, path: Path) -> Iterator[Problem]:
    fields = {field.encode_name: field for field in struct.fields}
    known = [*fields] if struct.tag_field is None else [struct.tag_field, *fields]
    for key in value:
        if key not in known:
            yield Problem(
                path=(*path, key), text=Phrase("team.unknown_key", value=shorten(key)), hint=_hint_at_key(key, known)
            )
    for key, field in fields.items():
        if key in value:
            yield from check(value[key], _bounded(struct.cls, field), (*path, key))
        elif field.required:
            yield Problem(
                path=(*path, key), text=Phrase("team.missing_key", value=key), hint=_hint_at_value(field.type)
            )


def _hint_at_key(key: str, known: Sequence[str]) -> str:
    """Return what to write instead of a key that other tools have, or the most similar key."""
    for wanted, (needed, hint) in _KEYS_OF_OTHER_TOOLS.items():
        if key == wanted and needed in known:
            return hint
    return suggest(key, known, Phrase("team.plural.the_keys_here_are"))


def _hint_at_value(expected: inspect.Type) -> str:
    """Return what a missing key may be, if that can be listed."""
    bare = _bare(expected)
    if not isinstance(bare, inspect.LiteralType | inspect.EnumType):
        return ""
    choices = join_choices(_list_choices(bare))
    return Phrase("team.choices", plural=Phrase("team.plural.acceptable"), value=choices)


def _bounded(cls: type, field: inspect.Field) -> inspect.Type:
    choices = cls.choices().get(field.name) if issubclass(cls, AgentSpec) else None
    if choices:
        return inspect.UnionType((inspect.LiteralType(tuple(choices)), inspect.NoneType()))
    bounds = CORE_BOUNDS.get((cls, field.name))
    return msgspec.structs.replace(_bare(field.type), **bounds) if bounds else field.type


def _check_union(value: object, union: inspect.UnionType, path: Path) -> Iterator[Problem]:
    if value is None and union.includes_none:
        return
    branches = [branch for branch in union.types if not isinstance(branch, inspect.NoneType)]
    tagged = {
        branch.tag: branch for branch in map(_bare, branches) if isinstance(branch, inspect.StructType) and branch.tag
    }
    if tagged and isinstance(value, dict):
        yield from _check_tagged(value, tagged, path)
        return
    fitting = [branch for branch in branches if _has_shape(value, branch)]
    if fitting:
        yield from check(value, fitting[0], path)
    else:
        yield _wrong_type(value, branches, path)


def _check_tagged(
    value: dict[str, object], branches: dict[str | int, inspect.StructType], path: Path
) -> Iterator[Problem]:
    """The tag picks the branch; without a good one nothing else can be said about the value."""
    tag_field = next(iter(branches.values())).tag_field or "type"
    tag = value.get(tag_field)
    if tag_field not in value:
        yield Problem(
            path=(*path, tag_field),
            text=Phrase("team.missing_key", value=tag_field),
            hint=Phrase("team.choices", plural=Phrase("team.plural.acceptable"), value=join_choices(branches)),
        )
    elif isinstance(tag, str) and tag in branches:
        yield from _check_struct(value, branches[tag], path)
    else:
        yield from _check_choice(tag, list(branches), (*path, tag_field))


def _check_agent(value: dict[str, object], path: Path) -> Iterator[Problem]:
    """The key `type` names the agent type; without a good one nothing else can be said about the value."""
    name = value.get("type")
    kind: type | None = find_agent_type(name) if isinstance(name, str) else None
    if kind is not None:
        yield from check(value, read_type(kind), path)
    elif "type" not in value:
        hint = Phrase("team.choices", plural=Phrase("team.plural.acceptable"), value=join_choices(AGENTS.names()))
        yield Problem(path=(*path, "type"), text=Phrase("team.missing_key", value="type"), hint=hint)
    elif isinstance(name, str) and name in PRESETS.names():
        hint = Phrase("team.agent.preset_no_type.hint", value=name)
        yield Problem(path=(*path, "type"), text=Phrase("team.agent.preset_no_type", value=name), hint=hint)
    else:
        yield from _check_choice(name, AGENTS.names(), (*path, "type"))


def _check_list(
    value: list[object], expected: inspect.VarTupleType | inspect.TupleType, path: Path
) -> Iterator[Problem]:
    if isinstance(expected, inspect.TupleType):
        types: Sequence[inspect.Type] = expected.item_types
        if len(value) != len(types):
            yield Problem(path=path, text=Phrase("team.item_count", count=len(value), limit=len(types)))
            return
    else:
        types = [expected.item_type] * len(value)
        yield from _check_length(len(value), "items", expected, path)
    for position, (item, item_type) in enumerate(zip(value, types, strict=True)):
        yield from check(item, item_type, (*path, position))


def _check_choice(value: object, choices: Sequence[object], path: Path) -> Iterator[Problem]:
    # by type too: true is not 1
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        hint = suggest(value, choices, Phrase("team.plural.acceptable"))
        yield Problem(path=path, text=Phrase("team.not_acceptable", value=describe_value(value)), hint=hint)


def _check_plain(value: object, path: Path) -> Iterator[Problem]:
    """Accept any value that can be stored: no lone surrogates, and only finite numbers."""
    match value:
        case str() if _SURROGATE.search(value):
            yield Problem(path=path, text=Phrase("team.surrogate"))
        case float() if not math.isfinite(value):
            yield Problem(path=path, text=Phrase("team.expected", value=str(value), wanted=Phrase("team.finite")))
        case int() if abs(value) >= _OVERSIZED:
            yield Problem(path=path, text=Phrase("team.too_large", value=describe_value(value)))
        case list():
            for position, item in enumerate(value):
                yield from _check_plain(item, (*path, position))
        case dict():
            for key, item in value.items():
                yield from _check_plain(item, (*path, key))
        case _:
            return  # any other value can be stored


def _check_bounds(value: object, expected: inspect.Type, path: Path) -> Iterator[Problem]:
    if isinstance(expected, inspect.StrType) and isinstance(value, str):
        yield from _check_length(len(value), "characters", expected, path)
        if expected.pattern and not re.search(expected.pattern, value):
            is_secret = looks_like_secret(value)
            hint = Phrase("team.secret_hint") if is_secret else ""
            text = Phrase("team.expected", value=describe_value(value), wanted=PATTERNS[expected.pattern])
            yield Problem(path=path, text=text, hint=hint)
    elif isinstance(expected, (inspect.IntType, inspect.FloatType)) and isinstance(value, (int, float)):
        broken = [
            Phrase(f"team.bound.{word}", value=bound)
            for word, bound, holds in (
                ("at_least", expected.ge, expected.ge is None or value >= expected.ge),
                ("more_than", expected.gt, expected.gt is None or value > expected.gt),
                ("at_most", expected.le, expected.le is None or value <= expected.le),
            )
            if bound is not None and not holds
        ]
        # what is endless or too large has been said already
        if broken and abs(value) < _OVERSIZED:
            yield Problem(
                path=path, text=Phrase("team.expected", value=shorten(value), wanted=join_phrases(broken, "and"))
            )


def _check_length(
    length: int, unit: str, expected: inspect.StrType | inspect.VarTupleType, path: Path
) -> Iterator[Problem]:
    if expected.min_length is not None and length < expected.min_length:
        yield Problem(path=path, text=Phrase(f"team.few.{unit}", count=length, limit=expected.min_length))
    if expected.max_length is not None and length > expected.max_length:
        yield Problem(path=path, text=Phrase(f"team.many.{unit}", count=length, limit=expected.max_length))


def _bare(expected: inspect.Type) -> inspect.Type:
    return _bare(expected.type) if isinstance(expected, inspect.Metadata) else expected


def _list_choices(expected: inspect.LiteralType | inspect.EnumType) -> list[object]:
    if isinstance(expected, inspect.LiteralType):
        return list(expected.values)
    return [choice.value for choice in expected.cls]


def _has_shape(value: object, expected: inspect.Type) -> bool:
    match _bare(expected):
        case inspect.StructType() | inspect.DictType() | inspect.CustomType():
            return isinstance(value, dict)
        case inspect.VarTupleType() | inspect.TupleType():
            return isinstance(value, list)
        case inspect.LiteralType() | inspect.EnumType() as choice:
            return any(type(value) is type(allowed) for allowed in _list_choices(choice))
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case other:
            raise NotImplementedError(f"no rule for {other}; add one here")


def _wrong_type(value: object, expected: Sequence[inspect.Type], path: Path) -> Problem:
    wanted = join_phrases([_describe_type(choice) for choice in expected], "or")
    kinds = {type(_bare(choice)) for choice in expected}
    hint = ""
    if inspect.CustomType in kinds and isinstance(value, str):
        near = suggest(value, PRESETS.names(), Phrase("team.plural.presets"))
        hint = near if near.startswith("did") else Phrase("team.agent.no_agent.hint", value=near)
        if value in AGENTS.names():
            hint = Phrase("team.agent.type_alone.hint", value=value)
        return Problem(path=path, text=Phrase("team.agent.no_agent", value=describe_value(value)), hint=hint)
    for choice in map(_bare, expected):
        if isinstance(choice, inspect.VarTupleType):
            is_of_mappings = isinstance(_bare(choice.item_type), inspect.StructType)
            hint = Phrase("team.write_items") if is_of_mappings else _show_as_list(value)
    if inspect.StrType in kinds and isinstance(value, (bool, int, float)):
        hint = Phrase("team.quote")
    elif kinds & {inspect.IntType, inspect.FloatType} and isinstance(value, str) and value.strip().isdecimal():
        hint = Phrase("team.unquote")
    text = Phrase("team.expected", value=describe_value(value), wanted=wanted)
    return Problem(path=path, text=text, hint=hint)


def _show_as_list(value: object) -> str:
    """Return how a command line, or a mapping of names, is written as the list that is expected."""
    if isinstance(value, str) and value.strip() and not looks_like_secret(value):
        words = ", ".join(f'"{word}"' for word in value.split())
        return Phrase("team.write_list", value=words)
    if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        return Phrase("team.write_names", value=", ".join(value))
    return ""


def _describe_type(expected: inspect.Type) -> str:
    match _bare(expected):
        case inspect.LiteralType() | inspect.EnumType() as choice:
            return Phrase("team.type.one_of", value=join_choices(_list_choices(choice)))
        case inspect.StructType() | inspect.DictType() | inspect.CustomType():
            return Phrase("team.value.mapping")
        case inspect.VarTupleType() | inspect.TupleType():
            return Phrase("team.value.list")
        case inspect.StrType():
            return Phrase("team.type.text")
        case inspect.BoolType():
            return Phrase("team.type.bool")
        case inspect.IntType():
            return Phrase("team.type.int")
        case _:
            return Phrase("team.type.float")
