"""The front door: where an input of a human is on its way through understanding and routing (seed 002 §3)."""

from msgspec import Struct
from msgspec.structs import replace

from moot.core import events
from moot.core.intent import IntentAnalysis, Payload, Route, RoutingDecision
from moot.core.machines.input_routing import INPUT_ROUTING, Trigger
from moot.core.machines.input_routing import State as InputState


class Deferred(Struct, frozen=True, array_like=True, gc=False):
    """Another goal, for when the current work is over."""

    text: str
    member: str


class Door(Struct, frozen=True, kw_only=True, gc=False):
    """`inputs` are being understood, the first one now. `state` is that of the newest input."""

    state: InputState = INPUT_ROUTING.initial
    inputs: tuple[events.Input, ...] = ()
    input_count: int = 0
    current_intent_analysis: IntentAnalysis | None = None
    current_routing_decision: RoutingDecision | None = None
    deferred: tuple[Deferred, ...] = ()

    def move(self, trigger: Trigger) -> "Door":
        """Along the machine; what is no row of it changes nothing."""
        return replace(self, state=INPUT_ROUTING.follow(self.state, trigger))


BY_ROUTE: dict[Route, Trigger] = {
    "continue_execution": Trigger.SAME_TASK_NO_CHANGE,
    "minor_replan": Trigger.SAME_TASK_MINOR_CHANGE,
    "full_replan": Trigger.SAME_TASK_MAJOR_CHANGE,
    "new_task": Trigger.DIFFERENT_TASK,
    "control_action": Trigger.CONTROL_INSTRUCTION,
    "wait_user_decision": Trigger.CONFIDENCE_TOO_LOW,
}


def begin(door: Door, fact: events.UnderstandingStarted) -> Door:
    """Another input, or the same one again with what was asked about it."""
    received = _receive(door)
    others = tuple(each for each in door.inputs if each.input_id != fact.input.input_id)
    is_new = len(others) == len(door.inputs) and not fact.input.asked
    return replace(
        received, inputs=(*others, fact.input), input_count=door.input_count + 1 if is_new else door.input_count
    )


def _receive(door: Door) -> Door:
    """Where the machine has no row for another input, that one is on its way alone: a new walk begins."""
    received = door.move(Trigger.USER_INPUT_RECEIVED).move(Trigger.NEW_USER_INPUT)
    if received.state is InputState.SEMANTIC_UNDERSTANDING:
        return received
    return replace(door, state=INPUT_ROUTING.advance(INPUT_ROUTING.initial, Trigger.USER_INPUT_RECEIVED))


def begin_work(door: Door) -> Door:
    """Work may begin with something that was said before, or with tasks that were brought: as if it were said now."""
    if door.state is InputState.SEMANTIC_UNDERSTANDING:  # that is another input
        return door
    return door.move(Trigger.USER_INPUT_RECEIVED).move(Trigger.INTENT_ANALYZED).move(Trigger.DIFFERENT_TASK)


def complete(door: Door, fact: events.UnderstandingCompleted) -> Door:
    left = tuple(each for each in door.inputs if each.input_id != fact.input_id)
    trigger = Trigger.NEED_CLARIFICATION if fact.analysis.clarification else Trigger.INTENT_ANALYZED
    return replace(door.move(trigger), inputs=left, current_intent_analysis=fact.analysis)


def route(door: Door, fact: events.RoutingDecided) -> Door:
    if fact.route is None:  # chat: the queue decides
        return door
    decision = RoutingDecision(
        route=fact.route,
        confidence=fact.confidence,
        payload=fact.payload or Payload(),
        user_confirmation_required=bool(fact.user_confirmation_required),
        user_message=fact.user_message,
    )
    is_new = fact.input_id == f"i{door.input_count + 1}"  # explicit understanding needs no time
    is_analysed = door.state is InputState.ROUTING_DECISION  # unless the newest input is another one
    analysed = door if is_analysed else _receive(door).move(Trigger.INTENT_ANALYZED)
    asks = fact.route == "new_task" and fact.user_confirmation_required
    trigger = Trigger.REQUIRES_CONFIRMATION if asks else BY_ROUTE[fact.route]
    return replace(
        analysed.move(trigger), current_routing_decision=decision, input_count=door.input_count + bool(is_new)
    )
