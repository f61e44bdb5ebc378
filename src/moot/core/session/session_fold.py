"""Fold the facts that every flow has."""

from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fold
from moot.core.intake import door as doors
from moot.core.machines import input_routing, interrupt, session
from moot.core.machines.input_routing import State as InputState
from moot.core.session import budgets, events
from moot.core.session.state import ClosedStep, Message, Outcome, Reply, State, Turn
from moot.core.text import cut

fold: Fold[State] = Fold()
fold.ignore(events.TurnStepped, events.NoticePosted)


@fold.on(events.MessagePosted)
def _post(state: State, fact: events.MessagePosted) -> State:
    remembered = remember(state, fact.member, fact.text)
    return replace(remembered, hops=0) if fact.turn_id is None else remembered  # a human spoke


def remember(state: State, member: str, text: str, *, is_partial: bool = False) -> State:
    """Add a message to the history. Older messages are cut; the log keeps the whole text."""
    older = state.history
    if older and len(older[-1].text) > limits.HISTORY_CHARS:
        older = (*older[:-1], replace(older[-1], text=cut(older[-1].text, limits.HISTORY_CHARS)))
    keep = max(state.team.chat.history, 1)
    history = (*older, Message(member, text, is_partial))[-keep:]
    return replace(state, history=history, message_count=state.message_count + (not is_partial))


@fold.on(events.TurnStarted)
def _start_turn(state: State, fact: events.TurnStarted) -> State:
    turn = Turn(
        turn_id=fact.turn_id,
        member=fact.member,
        index=fact.index,
        job=fact.job,
        task_id=fact.task_id,
        task_index=fact.task_index,
        started_at=fact.started_at,
    )
    return replace(
        state,
        running=(*state.running, turn),
        failed=None,
        turn_count=state.turn_count + 1,
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
        hops=fact.hop,
        **budgets.charge(state, fact.member, turns=1),
    )


@fold.on(events.TurnCompleted)
def _complete_turn(state: State, fact: events.TurnCompleted) -> State:
    return replace(state, running=_without(state, fact.turn_id), **budgets.charge(state, fact.member, fact.usage))


@fold.on(events.TurnFailed)
def _fail_turn(state: State, fact: events.TurnFailed) -> State:
    charged = budgets.charge(state, fact.member, fact.usage)
    return replace(_end_turn(state, fact.turn_id, fact.member, fact.partial), **charged)


@fold.on(events.TurnCancelled)
def _cancel_turn(state: State, fact: events.TurnCancelled) -> State:
    return _end_turn(state, fact.turn_id, fact.member, fact.partial)


def _end_turn(state: State, turn_id: str, member: str, partial: str) -> State:
    """End a turn without a result. It may be retried; what it had written joins the history."""
    running, failed_turns = _without(state, turn_id), state.failed_turns + 1
    ended = replace(state, running=running, failed=state.turn(turn_id), failed_turns=failed_turns)
    return remember(ended, member, partial, is_partial=True) if partial else ended


def _without(state: State, turn_id: str) -> tuple[Turn, ...]:
    return tuple([turn for turn in state.running if turn.turn_id != turn_id])


@fold.on(events.SessionPaused)
def _pause(state: State, fact: events.SessionPaused) -> State:
    return replace(
        state,
        status=session.pause(state.status, is_fallback=fact.reason == "fallback"),
        waiting_for=fact.waiting_for,
        pause_reason=fact.reason,
        interrupt=interrupt.save_checkpoint(state.interrupt),
    )


@fold.on(events.SessionActivated)
def _activate(state: State, _: events.SessionActivated) -> State:
    """Let the work go on: hops are counted anew, and a budget that was used up is renewed."""
    return replace(
        state,
        status=session.activate(state.status),
        waiting_for=None,
        pause_reason=None,
        interrupt=interrupt.resume(state.interrupt),
        hops=0,
        **(budgets.grant(state) if state.pause_reason == "budget" else {}),
    )


@fold.on(events.PauseRequested)
def _request_pause(state: State, fact: events.PauseRequested) -> State:
    return replace(state, interrupt=interrupt.request_pause(state.interrupt), pause_requested_by=fact.member)


@fold.on(events.SessionCompleted)
def _complete(state: State, _: events.SessionCompleted) -> State:
    door = replace(state.door, inputs=()) if state.door.inputs else state.door
    return replace(state, status=session.complete(state.status), waiting_for=None, door=door)


@fold.on(events.TeamTaskSet)
def _set_team_task(state: State, fact: events.TeamTaskSet) -> State:
    return replace(state, team_task=fact.team_task)


@fold.on(events.LanguageChanged)
def _change_language(state: State, fact: events.LanguageChanged) -> State:
    return replace(state, language=fact.language)


@fold.on(events.SessionRenamed)
def _rename(state: State, fact: events.SessionRenamed) -> State:
    return replace(state, title=fact.title)


# understanding and routing inputs


@fold.on(events.UnderstandingStarted)
def _begin_understanding(state: State, fact: events.UnderstandingStarted) -> State:
    return replace(state, door=doors.begin(state.door, fact))


@fold.on(events.UnderstandingCompleted)
def _complete_understanding(state: State, fact: events.UnderstandingCompleted) -> State:
    return replace(state, door=doors.complete(state.door, fact))


@fold.on(events.RoutingDecided)
def _route(state: State, fact: events.RoutingDecided) -> State:
    if fact.route is None:  # in chat the queue decides
        return state
    work = state.slice
    at = InputState.IDLE if not work.is_active else InputState.EXECUTION if work.is_approved else InputState.PLAN_LOOP
    return replace(
        state, door=doors.route(state.door, fact, at), interrupt=interrupt.relate(state.interrupt, fact.route)
    )


@fold.on(events.InputDeferred)
def _defer(state: State, fact: events.InputDeferred) -> State:
    deferred = (*state.door.deferred, doors.Deferred(fact.text, fact.member))
    return replace(state, door=replace(state.door, deferred=deferred))


# questions


@fold.on(events.StepAsked)
def _open_step(state: State, fact: events.StepAsked) -> State:
    return replace(state, open_steps={**state.open_steps, fact.step_id: fact}, step_count=state.step_count + 1)


@fold.on(events.StepClosed)
def _close_step(state: State, fact: events.StepClosed) -> State:
    still_open = {step_id: step for step_id, step in state.open_steps.items() if step_id != fact.step_id}
    closed = {**state.closed_steps, fact.step_id: ClosedStep(Outcome(fact.outcome), fact.by)}
    while len(closed) > limits.CLOSED_STEPS:
        del closed[next(iter(closed))]
    step = state.open_steps.get(fact.step_id)
    answered = replace(state, open_steps=still_open, closed_steps=closed)
    if step and step.turn_id:
        return _keep_reply(answered, step, fact)
    return _choose(answered, fact) if step and step.input else answered


def _keep_reply(state: State, step: events.StepAsked, fact: events.StepClosed) -> State:
    """Keep the answer for the worker that waits for it, as long as its turn is under way."""
    reply = Reply(step.turn_id, fact.choice if fact.outcome == "answered" else step.default)
    replies = {**state.replies, step.step_id: reply}
    return replace(state, replies={key: reply for key, reply in replies.items() if state.is_under_way(reply.turn_id)})


def _choose(state: State, fact: events.StepClosed) -> State:
    """Move the machines by what a human chose for an input."""
    choice = fact.choice or ""
    door = state.door.move(lambda at: input_routing.choose(at, choice))
    return replace(state, door=door, interrupt=interrupt.choose(state.interrupt, choice))
