"""Updates of the shared state: an agent may write only the keys it owns, and only plain data of bounded size."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core import text
from moot.core.errors import Refused
from moot.core.flows.supervisor.conditions import SharedState, is_covered
from moot.core.flows.supervisor.shapes import Misfit, find_misfits
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings

VALUE_BYTES = 262_144  # of one key, as JSON: the state is part of every snapshot
VALUE_DEPTH = 32
VALUE_NODES = 50_000

# not_owned: another agent's key or nobody's; not_plain: no JSON, or too deep or wide; too_large: more than VALUE_BYTES;
# misshapen: it does not fit the shape of its key
Objection = Literal["not_owned", "not_plain", "too_large", "misshapen"]


class StateUpdate(Struct, frozen=True, kw_only=True, gc=False):
    """`changes` are valid; `refused` says for each other key what is wrong, `misfits` what misshapen values lack."""

    changes: dict[str, Any]
    refused: dict[str, Objection]
    misfits: tuple[Misfit, ...] = ()


def check_update(settings: SupervisorSettings, agent: str, update: Mapping[str, Any]) -> StateUpdate:
    """Check an agent's update. The values in the result are cleaned."""
    owned = settings.agents[agent].writes if agent in settings.agents else ()
    changes: dict[str, Any] = {}
    refused: dict[str, Objection] = {}
    misfits: list[Misfit] = []
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
        elif lacking := find_misfits(settings, key, plain):
            refused[key] = "misshapen"
            misfits += lacking
        else:
            changes[key] = plain
    return StateUpdate(changes=changes, refused=refused, misfits=tuple(misfits))


def check_inputs(settings: SupervisorSettings, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a message, cleaned. Raises Refused if the team has no such input or a value is no data."""
    values: dict[str, Any] = {}
    for key, value in inputs.items():
        if key not in settings.inputs:
            raise Refused("unknown_input", names=(text.cut(text.clean(str(key)), 200),), available=settings.inputs)
        try:
            plain = as_plain(value)
        except ValueError:
            plain = None
        if plain is None or len(msgspec.json.encode(plain)) > VALUE_BYTES:
            raise Refused("bad_input", names=(key,), limit=VALUE_BYTES)
        values[key] = plain
    return values


def start_state(settings: SupervisorSettings) -> dict[str, Any]:
    """Return the initial state: every declared key, with its value of the team file or null."""
    keys = [*settings.state, *settings.inputs]
    for agent in settings.agents.values():
        keys += agent.writes
    counters = {"iterationCount": 0, "maxIterations": settings.max_iterations, "clarificationRounds": 0}
    return dict.fromkeys(keys) | counters | settings.state


def complete(settings: SupervisorSettings, state: SharedState) -> dict[str, bool]:
    """Return the keys whose `complete_when` rule holds now: every image plan has an asset → imagesComplete."""
    return {
        key: True
        for key, coverage in settings.complete_when.items()
        if state.get(key) is not True and is_covered(coverage, state)
    }


def as_plain(value: Any) -> Any:
    """Return the value cleaned. Raises ValueError if it is not JSON, too deep, or too large."""
    return text.clean_data(value, depth=VALUE_DEPTH, nodes=VALUE_NODES, largest_int=2**63 - 1)
