"""Updates of the shared state: an agent writes what it owns, the rest is refused, and all of it can be stored."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core import text
from moot.core.supervisor.conditions import SharedState, is_covered
from moot.core.supervisor_settings import SupervisorSettings

VALUE_BYTES = 262_144  # of one key, as JSON: the state is part of every snapshot
VALUE_DEPTH = 32
VALUE_NODES = 50_000

# not_owned: another agent's key or nobody's; not_plain: no JSON, or too deep or wide; too_large: more than VALUE_BYTES
Objection = Literal["not_owned", "not_plain", "too_large"]


class StateUpdate(Struct, frozen=True, kw_only=True, gc=False):
    """`changes` may be applied; `refused` says for each other key what is wrong with it."""

    changes: dict[str, Any]
    refused: dict[str, Objection]


def check_update(settings: SupervisorSettings, agent: str, update: Mapping[str, Any]) -> StateUpdate:
    """What of an agent's update counts. Values come back cleaned: plain data that any reader can take."""
    owned = settings.agents[agent].writes if agent in settings.agents else ()
    changes: dict[str, Any] = {}
    refused: dict[str, Objection] = {}
    for key, value in update.items():
        if key not in owned:
            refused[text.cut(text.clean(str(key)), 200)] = "not_owned"
            continue
        try:
            plain = as_plain(value)
        except ValueError:
            refused[key] = "not_plain"
            continue
        if len(msgspec.json.encode(plain)) > VALUE_BYTES:
            refused[key] = "too_large"
        else:
            changes[key] = plain
    return StateUpdate(changes=changes, refused=refused)


def start_state(settings: SupervisorSettings) -> dict[str, Any]:
    """Every declared key: with what the team file starts it with, else null."""
    keys = [*settings.state, *settings.inputs]
    for agent in settings.agents.values():
        keys += agent.writes
    counters = {"iterationCount": 0, "maxIterations": settings.max_iterations, "clarificationRounds": 0}
    return dict.fromkeys(keys) | counters | settings.state


def complete(settings: SupervisorSettings, state: SharedState) -> dict[str, bool]:
    """The keys that have become true by themselves: every image plan has an asset → imagesComplete."""
    return {
        key: True
        for key, coverage in settings.complete_when.items()
        if state.get(key) is not True and is_covered(coverage, state)
    }


def as_plain(value: Any) -> Any:
    """The value as data that any reader can take, cleaned; ValueError for what is none."""
    return _Copy().take(value)


class _Copy:
    """Plain data of it; ValueError for what is no JSON: endless numbers, odd keys, objects, too deep, too many."""

    def __init__(self) -> None:
        self._left = VALUE_NODES

    def take(self, value: Any, depth: int = VALUE_DEPTH) -> Any:
        self._left -= 1  # also ends a list that contains itself
        if type(value) is str and self._left >= 0:  # the usual case first
            return text.clean(value)
        match value:
            case _ if self._left < 0:
                raise ValueError("too many values")
            case None | bool():
                return value
            case str():
                return text.clean(str.__str__(value))
            case int() if abs(value) < 2**63:
                return int(value)
            case float() if isfinite(value):
                return float(value)
            case list() | tuple() if depth:
                return [self.take(item, depth - 1) for item in value]
            case Mapping() if depth and all(isinstance(key, str) for key in value):
                return {text.clean(str.__str__(key)): self.take(item, depth - 1) for key, item in value.items()}
            case _:
                raise ValueError(f"{type(value).__name__} is no plain data")
