"""Fold the facts that every flow has."""

from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fold
from moot.core.intake import door as doors
from moot.core.intake.markers import parse
from moot.core.machines import input_routing, interrupt, session
from moot.core.machines.input_routing import State as InputState
from moot.core.session import budgets, desk_fold, events, workspace_fold
from moot.core.session.attachments import Attachment
from moot.core.session.grants import Grant
from moot.core.session.state import ClosedStep, Message, Outcome, Reply, State, Turn
from moot.core.text import cut, one_line

fold: Fold[State] = Fold()
fold.table.update(desk_fold.fold.table)
workspace_fold.register(fold)
fold.ignore(events.NoticePosted)


@fold.on(events.MessagePosted)
def _post(state: State, fact: events.MessagePosted) -> State:
    remembered = remember(state, fact.member, fact.text, attachments=fact.attachments)
    if fact.turn_id is not None:
        return remembered
    names = ", ".join(file.name for file in fact.attachments)
    opening = state.opening or one_line(fact.text.replace(parse(fact.text).signature, "", 1).strip() or names)
    return replace(remembered, hops=0, opening=opening)  # a human spoke


def remember(
    state: State, member: str, text: str, *, is_partial: bool = False, attachments: tuple[Attachment, ...] = ()
) -> State:
    """Add a message to the history. Older messages are cut; the log keeps the whole text."""
    older = state.history
    if older and len(older[-1].text) > limits.HISTORY_CHARS:
        older = (*older[:-1], replace(older[-1], text=cut(older[-1].text, limits.HISTORY_CHARS)))
    keep = max(state.team.history, 1)
    history = (*older, Message(member, text, is_partial, attachments))[-keep:]
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
        question_id=fact.question_id,
        stands_in_for=fact.stands_in_for,
        seq=fact.seq,
        unread=() if fact.question_id else state.unread.get(fact.member, ()),
    )
    is_aside = bool(fact.question_id)
    if turn.unread:
        state = replace(state, unread={key: left for key, left in state.unread.items() if key != fact.member})
    return replace(
        state,
        running=state.running if is_aside else (*state.running, turn),
        asides=(*state.asides, turn) if is_aside else state.asides,
        failed=state.failed if is_aside else None,
        turn_count=state.turn_count + 1,
        turns_by_member={**state.turns_by_member, fact.member: fact.index + 1},
        hops=fact.hop,
        **budgets.charge(state, fact.member, turns=1),
    )


@fold.on(events.TurnStepped)
def _step(state: State, fact: events.TurnStepped) -> State:
    if fact.tool is None:
        return state
    running = [replace(turn, tool=fact.tool) if turn.turn_id == fact.turn_id else turn for turn in state.running]
    return replace(state, running=tuple(running))


@fold.on(events.TurnCompleted)
def _complete_turn(state: State, fact: events.TurnCompleted) -> State:
    charged = budgets.charge(state, fact.member, fact.usage)
    if state.asides and state.aside(fact.turn_id):
        return replace(_without_aside(state, fact.turn_id), **charged)
    ended = replace(state, running=_without(state, fact.turn_id), **charged)
    return desk_fold.forget_turn(ended, fact.turn_id, is_completed=True)


@fold.on(events.TurnFailed)
def _fail_turn(state: State, fact: events.TurnFailed) -> State:
    charged = budgets.charge(state, fact.member, fact.usage)
    return replace(_end_turn(state, fact.turn_id, fact.member, fact.partial), **charged)


@fold.on(events.TurnCancelled)
def _cancel_turn(state: State, fact: events.TurnCancelled) -> State:
    return _end_turn(state, fact.turn_id, fact.member, fact.partial)


@fold.on(events.TurnSpent)
def _spend(state: State, fact: events.TurnSpent) -> State:
    return replace(state, **budgets.charge(state, fact.member, fact.usage))


def _end_turn(state: State, turn_id: str, member: str, partial: str) -> State:
    """End a turn without a result. It may be retried; what it had written joins the history."""
    if state.asides and state.aside(turn_id):
        return replace(_without_aside(state, turn_id), failed_turns=state.failed_turns + 1)
    running, failed_turns, turn = _without(state, turn_id), state.failed_turns + 1, state.turn(turn_id)
    ended = replace(state, running=running, failed=turn, failed_turns=failed_turns)
    if turn and turn.unread:
        ended = replace(ended, unread=desk_fold.add_unread(ended, member, turn.unread))
    ended = desk_fold.forget_turn(ended, turn_id, is_completed=False)
    return remember(ended, member, partial, is_partial=True) if partial else ended


def _without_aside(state: State, turn_id: str) -> State:
    """Return the state without an aside. An aside does not hold the floor, so nothing else changes."""
    asides = tuple([turn for turn in state.asides if turn.turn_id != turn_id])
    return desk_fold.forget_turn(replace(state, asides=asides), turn_id, is_completed=False)


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
def _activate(state: State, fact: events.SessionActivated) -> State:
    """Let the work go on: hops count from zero, and a used-up budget is renewed."""
    return replace(
        state,
        status=session.activate(state.status, is_routed=fact.is_routed),
        waiting_for=None,
        pause_reason=None,
        interrupt=interrupt.resume(state.interrupt),
        hops=0,
        **(budgets.grant(state) if state.pause_reason == "budget" else {}),
    )


@fold.on(events.BudgetCounted)
def _count_budget(state: State, fact: events.BudgetCounted) -> State:
    return replace(state, **budgets.begin_periods(state, fact))


@fold.on(events.PauseRequested)
def _request_pause(state: State, fact: events.PauseRequested) -> State:
    paused = interrupt.request_pause(state.interrupt, fact.trigger)
    return replace(state, interrupt=paused, pause_requested_by=fact.member)


@fold.on(events.SessionCompleted)
def _complete(state: State, fact: events.SessionCompleted) -> State:
    door = replace(state.door, inputs=()) if state.door.inputs else state.door
    return replace(
        state, status=session.complete(state.status, is_done=fact.reason == "done"), waiting_for=None, door=door
    )


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
    return replace(state, door=doors.complete(state.door, fact), **budgets.charge(state, None, fact.usage))


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


@fold.on(events.PermissionGranted)
def _grant(state: State, fact: events.PermissionGranted) -> State:
    grant = Grant(tool=fact.tool, pattern=fact.pattern, allowed=fact.allowed)
    return _with_grants(state, fact.member, (*_other_grants(state, fact), grant)[-limits.GRANTS :])


@fold.on(events.PermissionRevoked)
def _revoke(state: State, fact: events.PermissionRevoked) -> State:
    return _with_grants(state, fact.member, _other_grants(state, fact))


def _other_grants(state: State, fact: events.PermissionGranted | events.PermissionRevoked) -> tuple[Grant, ...]:
    """Return what was decided about a member, without what this fact is about."""
    grants = state.grants.get(fact.member, ())
    return tuple([grant for grant in grants if (grant.tool, grant.pattern) != (fact.tool, fact.pattern)])


def _with_grants(state: State, member: str, grants: tuple[Grant, ...]) -> State:
    others = {name: theirs for name, theirs in state.grants.items() if name != member}
    return replace(state, grants={**others, member: grants} if grants else others)


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
    reply = Reply(step.turn_id, fact.choice if fact.outcome == "answered" else step.default, fact.answer)
    replies = {**state.replies, step.step_id: reply}
    kept = replace(state, replies={key: reply for key, reply in replies.items() if state.is_under_way(reply.turn_id)})
    if not step.is_for_member or fact.outcome != "answered" or not state.is_under_way(step.turn_id):
        return kept
    return desk_fold.note_answer(kept, step.turn_id, step.question, fact.by or "", read_answer(step, fact))


def read_answer(step: events.StepAsked, fact: events.StepClosed) -> str:
    """Return what a member is told that asked people: the label of the chosen option, and the words."""
    labels = [option.label for option in step.options if option.id == fact.choice or option.id in fact.selected_ids]
    return "\n".join(part for part in (", ".join(labels), fact.answer or "") if part)


def _choose(state: State, fact: events.StepClosed) -> State:
    """Move the machines by what a human chose for an input."""
    choice = fact.choice or ""
    door = state.door.move(lambda at: input_routing.choose(at, choice))
    return replace(state, door=door, interrupt=interrupt.choose(state.interrupt, choice))
