"""What a session is: the fold of its facts. `evolve` decides nothing and cannot fail on facts that `decide` made.

The state stays small however long the session gets: what a turn costs must not depend on how many came before.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core import events, limits
from moot.core.events import Fact, PauseReason, Usage
from moot.core.machines import session
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.interrupt import Trigger as InterruptTrigger
from moot.core.machines.session import SESSION, Status
from moot.core.markers import Priority
from moot.core.routing import Entry
from moot.core.team import Language, Team
from moot.core.text import cut

FOLD_VERSION = 1  # raised when `evolve` makes another state of the same facts: snapshots of before are then ignored


class Message(Struct, frozen=True, array_like=True, gc=False):
    """A remembered message; the log has all of it, however long."""

    member: str
    text: str


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One member's contribution, under way or failed."""

    turn_id: str
    member: str
    index: int


class Spent(Struct, frozen=True, kw_only=True, gc=False):
    """Since the session began, or since a human went on after the budget was used up."""

    turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Outcome(StrEnum):
    ANSWERED = "answered"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


class ClosedStep(Struct, frozen=True, array_like=True, gc=False):
    outcome: Outcome
    by: str | None


class State(Struct, frozen=True, kw_only=True, gc=False):
    team: Team
    title: str
    language: Language
    status: Status = SESSION.initial
    waiting_for: str | None = None
    pause_reason: PauseReason | None = None
    interrupt: Interrupt = INTERRUPT.initial
    pause_requested_by: str | None = None
    team_task: str = ""
    history: tuple[Message, ...] = ()
    executing: str | None = None
    queue: tuple[Entry, ...] = ()
    running: tuple[Turn, ...] = ()
    failed: Turn | None = None
    turn_count: int = 0
    turns_by_member: dict[str, int] = {}
    hops: int = 0
    spent: Spent = Spent()
    open_steps: dict[str, events.StepAsked] = {}
    closed_steps: dict[str, ClosedStep] = {}
    step_count: int = 0

    def turn(self, turn_id: str) -> Turn | None:
        return next((turn for turn in self.running if turn.turn_id == turn_id), None)


def encode(state: State) -> bytes:
    """The same log gives the same bytes."""
    return msgspec.json.encode(state)


_decoder = msgspec.json.Decoder(State)


def decode(data: bytes) -> State:
    return _decoder.decode(data)


def evolve(state: State | None, fact: Fact) -> State:
    """The state after `fact`. Only `SessionCreated` comes to no state."""
    if state is None:
        assert isinstance(fact, events.SessionCreated), fact  # noqa: S101 - a log starts so, by the codec's contract
        return _create(fact)
    return _EVOLVE[type(fact)](state, fact)


def _create(fact: events.SessionCreated) -> State:
    team = Team(
        name=fact.team,
        flow=fact.flow,
        language=fact.language,
        members=fact.members,
        understanding=fact.understanding,
        chat=fact.chat,
        plan=fact.plan,
        budget=fact.budget,
    )
    return State(team=team, title=fact.title, language=fact.language)


def _stay(state: State, fact: Fact) -> State:  # noqa: ARG001 - one signature for all
    return state


def _change_queue(state: State, fact: events.QueueChanged) -> State:
    return replace(state, executing=fact.executing, queue=_entries(fact))


def _entries(fact: events.QueueChanged) -> tuple[Entry, ...]:
    if not fact.priorities:
        return tuple([Entry(member) for member in fact.pending])
    return tuple(
        Entry(member, Priority(priority)) for member, priority in zip(fact.pending, fact.priorities, strict=True)
    )


def _remember(state: State, fact: events.MessagePosted) -> State:
    """The newest message is kept whole, older ones are cut: the state stays small, the log has all of it."""
    older = state.history
    if older and len(older[-1].text) > limits.HISTORY_CHARS:
        older = (*older[:-1], Message(older[-1].member, cut(older[-1].text, limits.HISTORY_CHARS)))
    keep = max(state.team.chat.history, 1)
    history = (*older, Message(fact.member, fact.text))[-keep:]
    if fact.turn_id is None:  # a human spoke
        return replace(state, history=history, hops=0)
    return replace(state, history=history)


def _start_turn(state: State, fact: events.TurnStarted) -> State:
    turn = Turn(turn_id=fact.turn_id, member=fact.member, index=fact.index)
    return replace(
        state,
        running=(*state.running, turn),
        failed=None,
        turn_count=state.turn_count + 1,
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
        hops=fact.hop,
        spent=replace(state.spent, turns=state.spent.turns + 1),
    )


def _complete_turn(state: State, fact: events.TurnCompleted) -> State:
    return replace(state, running=_without(state, fact.turn_id), spent=_spend(state.spent, fact.usage))


def _fail_turn(state: State, fact: events.TurnFailed | events.TurnCancelled) -> State:
    return replace(state, running=_without(state, fact.turn_id), failed=state.turn(fact.turn_id))


def _without(state: State, turn_id: str) -> tuple[Turn, ...]:
    return tuple([turn for turn in state.running if turn.turn_id != turn_id])


def _spend(spent: Spent, usage: Usage) -> Spent:
    if not (usage.input_tokens or usage.output_tokens or usage.cost_usd):
        return spent
    tokens = spent.tokens + usage.input_tokens + usage.output_tokens
    return Spent(turns=spent.turns, tokens=tokens, cost_usd=spent.cost_usd + usage.cost_usd)


def _pause(state: State, fact: events.SessionPaused) -> State:
    trigger = session.Trigger.FALLBACK if fact.reason == "fallback" else session.Trigger.ROUTE_TO_HUMAN
    pausing = state.interrupt is Interrupt.PAUSING
    return replace(
        state,
        status=SESSION.advance(state.status, trigger),
        waiting_for=fact.waiting_for,
        pause_reason=fact.reason,
        interrupt=INTERRUPT.advance(state.interrupt, InterruptTrigger.CHECKPOINT_SAVED) if pausing else state.interrupt,
    )


def _activate(state: State, fact: events.SessionActivated) -> State:  # noqa: ARG001
    """A human let the work go on: hops start again, and so does a budget that was used up."""
    paused = state.status is Status.PAUSED
    held = state.interrupt
    if held is Interrupt.PAUSING:  # resumed before the running turn came to its end
        held = INTERRUPT.advance(held, InterruptTrigger.CHECKPOINT_SAVED)
    if held is Interrupt.PAUSED:
        held = INTERRUPT.advance(held, InterruptTrigger.RESUME)
    trigger = session.Trigger.HUMAN_INPUT if paused else session.Trigger.AI_CHAINED
    return replace(
        state,
        status=SESSION.advance(state.status, trigger),
        waiting_for=None,
        pause_reason=None,
        interrupt=held,
        hops=0,
        spent=Spent() if state.pause_reason == "budget" else state.spent,
    )


def _request_pause(state: State, fact: events.PauseRequested) -> State:
    held = INTERRUPT.advance(state.interrupt, InterruptTrigger.PAUSE_BUTTON)
    return replace(state, interrupt=held, pause_requested_by=fact.member)


def _complete(state: State, fact: events.SessionCompleted) -> State:  # noqa: ARG001
    trigger = session.Trigger.STOP if state.status is Status.ACTIVE else session.Trigger.END
    return replace(state, status=SESSION.advance(state.status, trigger), waiting_for=None)


def _set_team_task(state: State, fact: events.TeamTaskSet) -> State:
    return replace(state, team_task=fact.team_task)


def _change_language(state: State, fact: events.LanguageChanged) -> State:
    return replace(state, language=fact.language)


def _open_step(state: State, fact: events.StepAsked) -> State:
    return replace(state, open_steps={**state.open_steps, fact.step_id: fact}, step_count=state.step_count + 1)


def _close_step(state: State, fact: events.StepClosed) -> State:
    still_open = {step_id: step for step_id, step in state.open_steps.items() if step_id != fact.step_id}
    closed = {**state.closed_steps, fact.step_id: ClosedStep(Outcome(fact.outcome), fact.by)}
    while len(closed) > limits.CLOSED_STEPS:
        del closed[next(iter(closed))]
    return replace(state, open_steps=still_open, closed_steps=closed)


# One function a fact. Looked up, not matched: folding is hot. A test holds the table to the union.
_EVOLVE: dict[type, Callable[[State, Any], State]] = {
    events.MessagePosted: _remember,
    events.RoutingDecided: _stay,
    events.QueueChanged: _change_queue,
    events.TurnStarted: _start_turn,
    events.TurnStepped: _stay,
    events.TurnCompleted: _complete_turn,
    events.TurnFailed: _fail_turn,
    events.TurnCancelled: _fail_turn,
    events.SessionActivated: _activate,
    events.PauseRequested: _request_pause,
    events.SessionPaused: _pause,
    events.SessionCompleted: _complete,
    events.TeamTaskSet: _set_team_task,
    events.LanguageChanged: _change_language,
    events.NoticePosted: _stay,
    events.StepAsked: _open_step,
    events.StepClosed: _close_step,
}
