"""All machines in one place, for the docs, the command line and the tests, and how they are drawn."""

from enum import StrEnum
from typing import Any

from moot.core.fsm import Machine
from moot.core.machines.agent import AGENT
from moot.core.machines.connection import CONNECTION
from moot.core.machines.input_routing import INPUT_ROUTING
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.session import SESSION
from moot.core.machines.task import TASK
from moot.core.machines.workflow import WORKFLOW

MACHINES: tuple[Machine[Any, Any], ...] = (SESSION, INPUT_ROUTING, WORKFLOW, TASK, AGENT, INTERRUPT, CONNECTION)


def describe(machine: Machine[Any, Any]) -> dict[str, object]:
    """The JSON form: name, initial, final, states, transitions."""
    return {
        "name": machine.name,
        "initial": machine.initial,
        "final": sorted(machine.final),
        "states": list(machine.states),
        "transitions": [
            {"from": row.state, "trigger": row.trigger, "to": row.target, "extension": row.extension}
            for row in machine.rows
        ],
    }


def to_mermaid(machine: Machine[Any, Any]) -> str:
    """A Mermaid state diagram; extensions carry a plus sign."""
    lines = ["stateDiagram-v2", f"  [*] --> {machine.initial}"]
    lines += [f"  {row.state} --> {row.target}: {_label(row.trigger, row.extension)}" for row in machine.rows]
    lines += [f"  {state} --> [*]" for state in sorted(machine.final)]
    return "\n".join(lines)


def _label(trigger: StrEnum, extension: bool) -> str:
    label = trigger.replace(":", " = ")  # a colon would end the label in Mermaid
    return f"{label} (+)" if extension else label
