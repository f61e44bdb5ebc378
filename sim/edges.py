"""Counts the rows of the state machines that a process walks."""

from collections import Counter
from functools import wraps
from typing import Any

from moot.core import fsm
from moot.core.machines.catalogue import MACHINES

# Rows that no run can walk, each with the reason; triggers that nothing fires are left out by the machines themselves.
NOT_HERE: dict[str, str] = {}

walked: Counter[str] = Counter()
_advance = fsm.Machine.advance


@wraps(_advance)
def _counted(machine: fsm.Machine[Any, Any], state: Any, trigger: Any) -> Any:
    target = _advance(machine, state, trigger)
    walked[f"{machine.name}: {state} {trigger}"] += 1
    return target


def watch() -> None:
    """Count from now on, in this process."""
    fsm.Machine.advance = _counted  # type: ignore[method-assign, assignment]


def expected() -> list[str]:
    """The rows that a long simulation must walk."""
    rows = [
        f"{machine.name}: {row.state} {row.trigger}"
        for machine in MACHINES
        for row in machine.rows
        if row.trigger not in machine.unfired
    ]
    return [row for row in rows if row not in NOT_HERE]
