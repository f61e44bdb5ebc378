"""Fold the middle of turns: what members do with Moot's own tools, what people tell them there, parked turns."""

from collections.abc import Iterable

from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fold
from moot.core.session import budgets
from moot.core.session import desk_events as events
from moot.core.session.state import NO_NOTES, Answered, Inquiry, Message, Offered, Parked, Reply, State, TurnNotes

fold: Fold[State] = Fold()
fold.ignore(events.FileShown)


def take_notes(state: State, turn_id: str, notes: TurnNotes) -> State:
    """Replace the notes of a turn; those of tasks that have ended are dropped."""
    kept = {key: each for key, each in state.notes.items() if state.is_under_way(key)}
    return replace(state, notes={**kept, turn_id: notes})


def forget_turn(state: State, turn_id: str, *, is_completed: bool) -> State:
    """Drop what is kept about a turn that has ended.

    The questions of a completed turn are no longer tied to it: their answers start its member's next turn.
    """
    if not (state.notes or state.parked or state.runs or state.inquiries or state.open_steps):
        return state
    changes: dict[str, object] = _keep_unread(state, turn_id)
    changes |= {
        name: {key: value for key, value in kept.items() if key != turn_id}
        for name in ("notes", "parked", "runs")
        if turn_id in (kept := getattr(state, name))
    }
    if is_completed:
        changes |= _untie(state, turn_id)
    return replace(state, **changes) if changes else state


def _keep_unread(state: State, turn_id: str) -> dict[str, object]:
    """Keep what people wrote into a turn and what its agent did not take, for the member's next turn."""
    notes = state.notes.get(turn_id, NO_NOTES)
    left = [message for message in notes.messages if message.is_kept and not message.is_delivered]
    kept = [Message(each.by, each.text, attachments=each.attachments) for each in left]
    return {"unread": add_unread(state, left[0].to, kept)} if left else {}


def add_unread(state: State, member: str, messages: Iterable[Message]) -> dict[str, tuple[Message, ...]]:
    kept = (*state.unread.get(member, ()), *messages)[-limits.MESSAGES_INTO_TURN :]
    return {**state.unread, member: kept}


def _untie(state: State, turn_id: str) -> dict[str, object]:
    changes: dict[str, object] = {}
    if any(step.turn_id == turn_id and step.is_for_member for step in state.open_steps.values()):
        changes["open_steps"] = {
            step_id: replace(step, turn_id="") if step.turn_id == turn_id and step.is_for_member else step
            for step_id, step in state.open_steps.items()
        }
    if any(inquiry.turn_id == turn_id for inquiry in state.inquiries.values()):
        changes["inquiries"] = {
            question_id: replace(inquiry, turn_id="") if inquiry.turn_id == turn_id else inquiry
            for question_id, inquiry in state.inquiries.items()
        }
    return changes


def note_answer(state: State, turn_id: str, question: str, by: str, answer: str) -> State:
    """Remember what a member was told in a turn that is under way: it is told again if the turn runs again."""
    notes = state.notes.get(turn_id, NO_NOTES)
    return take_notes(state, turn_id, replace(notes, answers=(*notes.answers, Answered(question, by, answer))))


@fold.on(events.MemberAsked)
def _ask(state: State, fact: events.MemberAsked) -> State:
    inquiry = Inquiry(
        question_id=fact.question_id, turn_id=fact.turn_id, member=fact.member, to=fact.to, question=fact.question
    )
    return replace(state, inquiries={**state.inquiries, fact.question_id: inquiry})


@fold.on(events.MemberAnswered)
def _answer(state: State, fact: events.MemberAnswered) -> State:
    inquiry = state.inquiries.get(fact.question_id)
    others = {key: each for key, each in state.inquiries.items() if key != fact.question_id}
    answered = replace(state, inquiries=others)
    if inquiry is None or not inquiry.turn_id or not state.is_under_way(inquiry.turn_id):
        return answered
    reply = Reply(inquiry.turn_id, fact.error_type or None, fact.answer)
    answered = replace(answered, replies={**answered.replies, fact.question_id: reply})
    return note_answer(answered, inquiry.turn_id, inquiry.question, fact.member, fact.answer or fact.error_type)


@fold.on(events.AnswerAwaited)
def _await(state: State, fact: events.AnswerAwaited) -> State:
    notes = state.notes.get(fact.turn_id, NO_NOTES)
    return take_notes(state, fact.turn_id, replace(notes, awaits=(*notes.awaits, fact.question_id)))


@fold.on(events.HandedOver)
def _hand_over(state: State, fact: events.HandedOver) -> State:
    notes = state.notes.get(fact.turn_id, NO_NOTES)
    return take_notes(state, fact.turn_id, replace(notes, next=(*notes.next, fact.to)))


@fold.on(events.BlockReported)
def _block(state: State, fact: events.BlockReported) -> State:
    return take_notes(state, fact.turn_id, replace(state.notes.get(fact.turn_id, NO_NOTES), blocked=fact.reason))


@fold.on(events.MessageOffered)
def _offer(state: State, fact: events.MessageOffered) -> State:
    notes = state.notes.get(fact.turn_id, NO_NOTES)
    message = Offered(
        number=fact.number,
        by=fact.by,
        to=fact.member,
        text=fact.text,
        is_queued=fact.is_queued,
        is_kept=fact.is_kept,
        attachments=fact.attachments,
    )
    return take_notes(state, fact.turn_id, replace(notes, messages=(*notes.messages, message)))


@fold.on(events.MessageDelivered)
def _deliver(state: State, fact: events.MessageDelivered) -> State:
    notes = state.notes.get(fact.turn_id, NO_NOTES)
    messages = tuple(replace(each, how=fact.how) if each.number == fact.number else each for each in notes.messages)
    return take_notes(state, fact.turn_id, replace(notes, messages=messages))


@fold.on(events.TurnParked)
def _park(state: State, fact: events.TurnParked) -> State:
    parked = Parked(member=fact.member, until=fact.until, reason=fact.reason, message=fact.message)
    kept = {key: each for key, each in state.parked.items() if state.is_under_way(key)}
    charged = budgets.charge(state, fact.member, fact.usage)
    return replace(state, parked={**kept, fact.turn_id: parked}, **charged)


@fold.on(events.TurnUnparked)
def _unpark(state: State, fact: events.TurnUnparked) -> State:
    parked = {key: value for key, value in state.parked.items() if key != fact.turn_id}
    kept = {key: count for key, count in state.runs.items() if state.is_under_way(key)}
    runs = {**kept, fact.turn_id: kept.get(fact.turn_id, 0) + 1}
    notes = state.notes.get(fact.turn_id)
    awaited = take_notes(state, fact.turn_id, replace(notes, awaits=())) if notes and notes.awaits else state
    return replace(awaited, parked=parked, runs=runs)
