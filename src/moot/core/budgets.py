"""Budgets of a session and of its members: who is charged, when it is enough, what going on grants."""

from collections import Counter
from typing import Any

from moot.core.events import Fact, NoticePosted
from moot.core.spending import NOTHING, Spent, add, subtract
from moot.core.state import State
from moot.core.team import Member
from moot.core.usage import NO_USAGE, Usage


def charge(state: State, member: str, usage: Usage = NO_USAGE, turns: int = 0) -> dict[str, Any]:
    """The fields of a state that change when a member has spent something."""
    if not turns and usage == NO_USAGE:
        return {}
    by_member = state.spent_by_member
    return {
        "spent": add(state.spent, usage, turns),
        "spent_by_member": {**by_member, member: add(by_member.get(member, NOTHING), usage, turns)},
    }


def grant(state: State) -> dict[str, Any]:
    """The fields that change when a human goes on: whatever budget was used up starts again, with what is under way."""
    used_up = [each.id for each in state.team.budgeted if state.used_up_by(each)]
    waiting = Counter(state.members_at_work)
    again = {each: subtract(state.spent_by_member[each], Spent(turns=waiting[each])) for each in used_up}
    return {
        "spent": Spent(turns=waiting.total()) if state.budget_used_up else state.spent,
        "granted": {**state.granted, **again},
    }


def is_overrun(fact: Fact) -> bool:
    return isinstance(fact, NoticePosted) and fact.code in ("budget", "member_budget")


def find_overrun(state: State, member: Member) -> NoticePosted | None:
    """Why there must be a pause before the member is given a turn: the session's budget, or its own.

    Going on after such a pause grants as much again, so that there is no second one before anything was done.
    """
    if state.pause_reason == "budget":
        return None
    if detail := state.budget_used_up:
        return NoticePosted(code="budget", detail=detail)
    if member in state.team.budgeted and (detail := state.used_up_by(member)):
        return NoticePosted(code="member_budget", who=member.display_name, detail=detail)
    return None
