"""Parked turns: a turn whose member must wait goes on later, with the same id.

A usage limit with a known end parks a turn until then. In a flow without a queue a turn that has ended while its
member's question is open is parked until somebody answers.
"""

from collections.abc import Collection

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.instants import later
from moot.core.machines.interrupt import STOPPED
from moot.core.session import budgets
from moot.core.session.commands import CompleteTurn, FailTurn
from moot.core.session.desk_events import TurnParked, TurnUnparked
from moot.core.session.events import NoticePosted
from moot.core.session.state import NO_NOTES, State, Turn
from moot.core.session.team import Member
from moot.core.session.usage import safe_usage

USAGE_LIMIT, QUESTION, INTERRUPTED = "usage_limit", "question", "interrupted"


def is_usage_limit(failure: FailTurn) -> bool:
    """Whether a turn failed because of a limit whose end is known and too far away to wait for within the turn."""
    return failure.error_type == "rate_limit" and limits.PARK_FROM_S < failure.retry_after_s <= limits.PARK_S


def park_until_limit_ends(draft: Draft, member: str, failure: FailTurn) -> None:
    """Park a turn until its member may go on."""
    draft.add(
        TurnParked(
            turn_id=failure.turn_id,
            member=member,
            until=later(draft.at, failure.retry_after_s),
            reason=USAGE_LIMIT,
            message=text.cut(text.clean(failure.message), limits.DETAIL_CHARS),
            usage=safe_usage(failure.usage),
        )
    )


def find_fallback(
    state: State, member_id: str, stands_in_for: str = "", except_for: Collection[str] = ()
) -> Member | None:
    """Return who acts instead of a member: the first of its fallbacks, or the next of those that it is one of.

    Members of `except_for` and members without a budget left are passed over.
    """
    fallback = state.team.member(stands_in_for or member_id).fallback
    at = fallback.index(member_id) + 1 if stands_in_for and member_id in fallback else 0
    left = (state.team.member(each) for each in fallback[at:] if each not in except_for)
    return next((each for each in left if not budgets.find_overrun(state, each)), None)


def replace_member(draft: Draft, turn_id: str, failure: FailTurn) -> tuple[Turn, Member, str] | None:
    """Fail a turn and say which fallback acts instead. Returns None, and changes nothing, if nobody is left.

    The last part of the result is the id of the member that the fallback stands in for.
    """
    turn = draft.state.turn(turn_id)
    other = find_fallback(draft.state, turn.member, turn.stands_in_for) if turn else None
    if turn is None or other is None:
        return None
    draft.fail_turn(turn, failure)
    say_who_acts_instead(draft, turn.member, other)
    return turn, other, turn.stands_in_for or turn.member


def say_who_acts_instead(draft: Draft, member_id: str, other: Member) -> None:
    who = draft.team.member(member_id).display_name
    draft.add(NoticePosted(code="falls_back", who=who, names=(other.display_name,)))


def awaits_answers(state: State, turn_id: str) -> bool:
    """Whether a member was told to end this turn and to expect an answer."""
    return bool(state.notes.get(turn_id, NO_NOTES).awaits)


def park_until_answered(draft: Draft, member: str, command: CompleteTurn) -> None:
    """Park a turn until what its member asked is answered. What is answered already lets it go on at once."""
    usage = safe_usage(command.usage)
    draft.add(TurnParked(turn_id=command.turn_id, member=member, until=None, reason=QUESTION, usage=usage))
    go_on_if_answered(draft, command.turn_id)


def go_on_if_answered(draft: Draft, turn_id: str) -> None:
    """Let a turn go on that was parked for answers, if all of them are there."""
    state = draft.state
    parked = state.parked.get(turn_id)
    if parked is None or parked.reason != QUESTION:
        return
    asked = [step.step_id for step in state.open_steps.values() if step.turn_id == turn_id and step.is_for_member]
    asked += [inquiry.question_id for inquiry in state.inquiries.values() if inquiry.turn_id == turn_id]
    if not asked:
        draft.add(TurnUnparked(turn_id=turn_id, member=parked.member, reason="answer"))


def interrupt(draft: Draft, turn_id: str, by: Member) -> None:
    """Stop the worker of a turn. Another one begins the turn again, with everything that was said into it."""
    member = draft.state.worker_of(turn_id)
    if member:
        draft.add(TurnUnparked(turn_id=turn_id, member=member, reason=INTERRUPTED, by=by.id))


def wake(draft: Draft, turn_id: str) -> None:
    """Let a parked turn go on because its time has come. Raises Refused if it is not parked, or not that long."""
    parked = draft.state.parked.get(turn_id)
    if parked is None or not draft.state.is_under_way(turn_id) or not parked.until or parked.until > draft.at:
        raise Refused("stale_turn", detail=turn_id)
    draft.add(TurnUnparked(turn_id=turn_id, member=parked.member, reason="time"))


def resume(draft: Draft, by: Member | None) -> bool:
    """Let every turn go on that waits for the end of a usage limit. Returns whether there was one.

    In a session that people stopped, all of them keep waiting.
    """
    state = draft.state
    if state.interrupt in STOPPED:
        return False
    waiting = [
        (turn_id, parked)
        for turn_id, parked in state.parked.items()
        if parked.reason == USAGE_LIMIT and state.is_under_way(turn_id)
    ]
    for turn_id, parked in waiting:
        draft.add(TurnUnparked(turn_id=turn_id, member=parked.member, reason="hand", by=by.id if by else None))
    return bool(waiting)
