"""The part of the state that follows human inputs through understanding and routing."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits
from moot.core.intake.intent import IntentAnalysis, Payload, RoutingDecision
from moot.core.machines import input_routing
from moot.core.machines.input_routing import INPUT_ROUTING
from moot.core.machines.input_routing import State as InputState
from moot.core.session import events


class Deferred(Struct, frozen=True, array_like=True, gc=False):
    """A goal that was put off until the current work is over."""

    text: str
    member: str


class LatestInput(Struct, frozen=True, kw_only=True, gc=False):
    """The newest input and its analysis. `relation` and `route` are empty until they are known."""

    input_id: str
    member: str = ""
    text: str = ""
    relation: str = ""
    confidence: float = 0.0
    reasoning: str = ""
    route: str = ""


class Door(Struct, frozen=True, kw_only=True, gc=False):
    """`inputs` wait to be understood; the first one is being understood now. `state` is that of the newest input."""

    state: InputState = INPUT_ROUTING.initial
    inputs: tuple[events.Input, ...] = ()
    input_count: int = 0
    current_intent_analysis: IntentAnalysis | None = None
    current_routing_decision: RoutingDecision | None = None
    deferred: tuple[Deferred, ...] = ()
    latest: LatestInput | None = None

    def move(self, step: Callable[[InputState], InputState]) -> "Door":
        """Move along the machine with one of the functions of `machines.input_routing`."""
        moved = step(self.state)
        return self if moved is self.state else replace(self, state=moved)


def begin(door: Door, fact: events.UnderstandingStarted) -> Door:
    """Add an input, or replace it by the same one with the answer to a question about it."""
    received = door.move(input_routing.receive)
    others = tuple(input_ for input_ in door.inputs if input_.input_id != fact.input.input_id)
    is_new = len(others) == len(door.inputs) and not fact.input.asked
    new = fact.input
    return replace(
        received,
        inputs=(*others, new),
        input_count=door.input_count + 1 if is_new else door.input_count,
        latest=LatestInput(input_id=new.input_id, member=new.member, text=new.text[: limits.STEP_CHARS]),
    )


def complete(door: Door, fact: events.UnderstandingCompleted) -> Door:
    left = tuple(input_ for input_ in door.inputs if input_.input_id != fact.input_id)
    state = input_routing.understand(door.state, must_ask=bool(fact.analysis.clarification))
    relation = fact.analysis.task_relation
    latest = door.latest
    if latest and latest.input_id == fact.input_id:  # an older input may be understood late
        latest = replace(latest, relation=relation.type, confidence=relation.confidence, reasoning=relation.reasoning)
    return replace(door, state=state, inputs=left, current_intent_analysis=fact.analysis, latest=latest)


def route(door: Door, fact: events.RoutingDecided, goes_back_to: InputState) -> Door:
    """Store the route of an input. `goes_back_to` is where the work is. In chat there is no route."""
    if fact.route is None:
        return door
    decision = RoutingDecision(
        route=fact.route,
        confidence=fact.confidence,
        payload=fact.payload or Payload(),
        user_confirmation_required=bool(fact.user_confirmation_required),
        user_message=fact.user_message,
        message_code=fact.message_code,
    )
    is_new = fact.input_id == f"i{door.input_count + 1}"  # explicit understanding has no `UnderstandingStarted`
    input_id = fact.input_id or ""
    known = door.latest if door.latest and door.latest.input_id == input_id else LatestInput(input_id=input_id)
    state = input_routing.route(
        door.state,
        fact.route,
        decision.payload.control_action,
        asks=bool(fact.user_confirmation_required),
        goes_back_to=goes_back_to,
    )
    return replace(
        door,
        state=state,
        current_routing_decision=decision,
        input_count=door.input_count + bool(is_new),
        latest=replace(known, route=fact.route, confidence=fact.confidence),
    )
