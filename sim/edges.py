"""Counts the rows of the state machines that a process walks."""

from collections import Counter
from functools import wraps
from typing import Any

from moot.core import fsm
from moot.core.machines.catalogue import MACHINES

_AT_ONCE = "workers in the server's own process answer an offer at once, and start a task with the append that takes it"
_RARE = "it needs a coincidence that is too rare to be counted on"
# Rows that a simulation need not walk, each with the reason; triggers that nothing fires are left out by the machines.
NOT_HERE: dict[str, str] = {
    "task: DISPATCHING timeout": _AT_ONCE,
    "task: DISPATCHED lease_expired": _AT_ONCE,
    "task: DISPATCHED start_timeout": _AT_ONCE,
    "task: DISPATCHED cancelled": _AT_ONCE,
    "agent: RESERVED released": _AT_ONCE,
    "task: DISPATCHING no_resource": "every team of the simulator has executors",
    "task: DISPATCH_FAILED unrecoverable_resource_missing": "every team of the simulator has executors",
    "agent: IDLE dispatch_failures_exceeded": _RARE,
    "agent: BREAKER_OPEN dispatch_ack": _RARE,
    "task: REWORK_REQUIRED cancelled": _RARE,
    "workflow: REPLAN_EVALUATION user_abort": _RARE,
    "interrupt: EXECUTION esc": "people of the simulator press the button",
    "session: paused human_done": "people of the simulator end a session with a command",
}

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
    rows = [f"{machine.name}: {row.state} {row.trigger}" for machine in MACHINES for row in machine.rows]
    return [row for row in rows if row not in NOT_HERE]
