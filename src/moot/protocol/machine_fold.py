"""Where the machines of an input and of a pause stand (seed 002 §3, §7), as the frames move them. Only to be shown.

The core's own tables move them; what is no row of a machine changes nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from moot.core import door as doors
from moot.core import interruption
from moot.core.door import BY_ROUTE, Door
from moot.core.events import RoutingDecided, UnderstandingCompleted, UnderstandingStarted
from moot.core.evolve_supervision import END_MOVES, JOB_MOVES, end, go_on
from moot.core.evolve_work import BY_CHOICE, MOVES
from moot.core.machines.input_routing import State as Input
from moot.core.machines.input_routing import Trigger
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.interrupt import Trigger as InterruptTrigger
from moot.protocol.supervisor_view import SupervisedJob
from moot.protocol.work_view import Work

Said = dict[str, Any]

_FACTS: dict[str, tuple[Trigger, ...]] = {
    str(getattr(kind, "event", "")): steps for kind, steps in (MOVES | JOB_MOVES).items()
}
_OVER = (
    "plan.start",
    "agent.interrupted",
    "plan.cancelled",
    "supervisor.started",
)  # what was interrupted is over, or another work now
_INTERRUPTS = {
    "session.pause_requested": InterruptTrigger.PAUSE_BUTTON,
    "workflow.patched": InterruptTrigger.PATCH_PLAN_APPLIED,
}
_JOBS: dict[str, Callable[[Interrupt, Said], Interrupt]] = {
    "supervisor.input_noted": lambda at, _: go_on(at),
    "supervisor.ended": lambda at, said: end(at, said["outcome"]),
}
_PHASES: dict[str, Trigger] = {
    "major_failure": Trigger.MAJOR_FAILURE_OR_CHANGE,
    "major_change": Trigger.MAJOR_FAILURE_OR_CHANGE,
    "user_choose_continue": Trigger.USER_REJECTED_CONTINUE_ANYWAY,
    "replan_not_required": Trigger.USER_REJECTED_CONTINUE_ANYWAY,
    "unrecoverable_failure": Trigger.UNRECOVERABLE,
}


def move_input(state: str, event: str, said: Said, work: Work | None, supervised: SupervisedJob | None = None) -> str:
    """`work` and `supervised` are what they were before this event."""
    door = Door(state=Input(state))
    try:
        door = _pass_door(door, event, said)
    except msgspec.ValidationError:  # a newer server knows more routes
        return state
    for trigger in _triggers(event, said, work, supervised):
        door = door.move(trigger)
    return door.state


def _pass_door(door: Door, event: str, said: Said) -> Door:
    """What the core's front door makes of these facts; `inputs` of it are not known here and do not count."""
    match event:
        case "understanding.started":
            return doors.begin(door, msgspec.convert(said, UnderstandingStarted))
        case "understanding.completed":
            return doors.complete(door, msgspec.convert(said, UnderstandingCompleted))
        case "routing.decided":
            return doors.route(door, msgspec.convert(said, RoutingDecided))
        case "workflow.changed" if not said.get("from"):
            return doors.begin_work(door)
        case "supervisor.started":
            return doors.begin_work(door)
        case _:
            return door


def _triggers(event: str, said: Said, work: Work | None, supervised: SupervisedJob | None) -> Iterator[Trigger]:
    yield from _FACTS.get(event, ())
    match event:
        case "supervisor.ended":
            yield END_MOVES[said["outcome"]]
        case "routing.decided" if said.get("route") == "continue_execution":
            yield Trigger.RESUMED
        case "routing.decided" if said.get("route") == "control_action":
            yield _after_control((said.get("payload") or {}).get("control_action"), work, supervised)
        case "agent.user_confirm_closed" if said.get("choice") in BY_CHOICE:
            yield BY_CHOICE[said["choice"]]
            if said["choice"] == "continue":
                yield Trigger.USER_REJECTED_CONTINUE_ANYWAY
            yield Trigger.RESUMED
        case "workflow.changed" if said.get("from") and said["trigger"] in _PHASES:
            yield _PHASES[said["trigger"]]


def _after_control(control: str | None, work: Work | None, supervised: SupervisedJob | None) -> Trigger:
    if supervised is not None and supervised.is_active and control != "cancel":
        return Trigger.RETURNED_TO_EXECUTION
    if work is None or not work.is_active or control == "cancel":
        return Trigger.ACTION_COMPLETED
    return Trigger.RETURNED_TO_EXECUTION if work.tasks else Trigger.RETURNED_TO_PLAN


def move_interrupt(state: str, event: str, said: Said) -> str:
    at = Interrupt(state)
    match event:
        case "workflow.snapshot_saved" if said.get("reason") == "pause":
            return INTERRUPT.follow(at, InterruptTrigger.CHECKPOINT_SAVED)
        case "session.paused" if at is Interrupt.PAUSING:
            return INTERRUPT.follow(at, InterruptTrigger.CHECKPOINT_SAVED)
        case "session.activated":
            return interruption.resume(at)
        case "routing.decided" if said.get("route") in BY_ROUTE:
            return interruption.relate(at, said["route"])
        case "agent.user_confirm_closed" if said.get("choice") in BY_CHOICE:
            return interruption.choose(at, said["choice"])
        case _ if event in _INTERRUPTS:
            return INTERRUPT.follow(at, _INTERRUPTS[event])
        case "workflow.changed" if not said.get("from"):
            return INTERRUPT.initial
        case _ if event in _JOBS:
            return _JOBS[event](at, said)
        case _ if event in _OVER:
            return INTERRUPT.initial
        case _:
            return at
