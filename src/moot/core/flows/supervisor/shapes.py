"""Shapes of keys of the shared state: what the end, the reviews and other agents rely on in a value.

A shape is an example. A value fits if it has every key of the example with a value of the same kind; keys that end in
`?` may be missing, further keys are allowed, and null in an example stands for anything. Where the team file declares
no shape, the conditions on the key imply one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from moot.core.flows.supervisor.conditions import SharedState, holds
from moot.core.flows.supervisor.quality import OVERALL, list_unreadable, read_share
from moot.core.flows.supervisor.supervisor_settings import Condition, Quality, SupervisorSettings
from moot.core.session.team import Language
from moot.core.texts import render

PROBLEMS = 10  # of one value
EXAMPLE_SCORE = 0.8

# no_state: the agent wrote none of its keys. The others are what a value must be; `filled`: neither blank nor empty.
Expected = Literal["object", "list", "text", "number", "boolean", "filled", "score", "no_state"]


class Misfit(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that a value lacks: the path into the state and what is expected there. `is_missing`: nothing is."""

    path: str
    expected: Expected
    is_missing: bool = False


def find_shape(settings: SupervisorSettings, key: str) -> Any:
    """Return the shape of a key, declared or implied; None if any value will do."""
    if key in settings.shapes:
        return settings.shapes[key]
    if settings.quality is not None and settings.quality.key == key:
        return _example_scores(settings.quality)
    shape: Any = None
    for condition in _list_conditions(settings, key):
        shape = _merge(shape, condition.key.split(".")[1:], _EXAMPLES.get(str(condition.expected).lower()))
    return shape


def list_shapes(settings: SupervisorSettings, agent: str) -> dict[str, Any]:
    """Return the shapes of the keys that an agent writes, without the marks of optional keys."""
    shapes = {key: find_shape(settings, key) for key in settings.agents[agent].writes}
    return {key: _unmark(shape) for key, shape in shapes.items() if shape is not None}


def find_misfits(settings: SupervisorSettings, key: str, value: Any) -> list[Misfit]:
    """Return what a value lacks. Null fits always: it takes a value back."""
    if value is None:
        return []
    quality = settings.quality
    if quality is not None and quality.key == key and key not in settings.shapes:
        misfits = [
            Misfit(path=f"{key}.{name}", expected="score", is_missing=is_missing)
            for name, is_missing in list_unreadable(quality, value)
        ]
    else:
        misfits = list(_compare(find_shape(settings, key), value, key))
    if not misfits:
        misfits = [
            Misfit(path=condition.key, expected="filled")
            for condition in settings.end.requires
            if condition.key.partition(".")[0] == key and not holds(condition, {key: value})
        ]
    return misfits[:PROBLEMS]


def fits(settings: SupervisorSettings, key: str, state: SharedState) -> bool:
    """Whether the state has a value for the key that fits its shape."""
    return state.get(key) is not None and not find_misfits(settings, key, state[key])


def describe_misfit(misfit: Misfit, language: Language) -> str:
    expected = render(f"misfit.{misfit.expected}", language)
    if misfit.expected == "no_state":
        return expected
    return f"{misfit.path}: {render('misfit.missing', language, what=expected) if misfit.is_missing else expected}"


_EXAMPLES: dict[str, Any] = {"non_blank": "…", "true": True, "false": True}


def _list_conditions(settings: SupervisorSettings, key: str) -> Iterator[Condition]:
    """Yield the conditions on a key that its owner has to meet. Of alternatives none is a must."""
    conditions = [*settings.end.requires]
    if settings.end.review is not None:
        conditions.append(Condition(key=settings.end.review.approved, expected=True))
    for agent in settings.agents.values():
        if len(agent.requires_any) == 1:
            conditions += agent.requires_any
    for condition in conditions:
        if condition.key.partition(".")[0] == key:
            yield condition


def _merge(shape: Any, path: list[str], example: Any) -> Any:
    """Add the example at the path to a shape."""
    if not path:
        return shape if shape is not None else example
    fields = shape if isinstance(shape, dict) else {}
    return {**fields, path[0]: _merge(fields.get(path[0]), path[1:], example)}


def _example_scores(quality: Quality) -> dict[str, Any]:
    return {"scores": dict.fromkeys(quality.required_axes, EXAMPLE_SCORE), OVERALL: EXAMPLE_SCORE}


def _compare(shape: Any, value: Any, path: str) -> Iterator[Misfit]:
    if shape is None:
        return
    expected = next(kind for kind, (examples, _) in _KINDS.items() if isinstance(shape, examples))
    is_fit = _KINDS[expected][1]
    if not is_fit(value):
        yield Misfit(path=path, expected=expected, is_missing=value is None)
    elif expected == "list" and shape:
        for number, item in enumerate(value):
            yield from _compare(shape[0], item, f"{path}[{number}]")
    elif expected == "object":
        for name, example in shape.items():
            field = name.removesuffix("?")
            if field == name or value.get(field) is not None:
                yield from _compare(example, value.get(field), f"{path}.{field}")


# Which examples stand for a kind, and which values are of that kind. Booleans come first: in Python they are integers.
_KINDS: dict[Expected, tuple[tuple[type, ...], Callable[[Any], bool]]] = {
    "boolean": ((bool,), lambda value: isinstance(value, bool)),
    "number": ((int, float), lambda value: read_share(value) is not None),
    "text": ((str,), lambda value: isinstance(value, str)),
    "list": ((list, tuple), lambda value: isinstance(value, (list, tuple))),
    "object": ((Mapping,), lambda value: isinstance(value, Mapping)),
}


def _unmark(shape: Any) -> Any:
    if isinstance(shape, Mapping):
        return {name.removesuffix("?"): _unmark(example) for name, example in shape.items()}
    return [_unmark(example) for example in shape] if isinstance(shape, (list, tuple)) else shape
