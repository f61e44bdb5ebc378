"""Budgets of a session and of its members: charging them, finding the one that is used up, and renewing it."""

from collections import Counter
from typing import Any

from moot.core.facts import Fact
from moot.core.session.events import NoticePosted
from moot.core.session.state import State
from moot.core.session.team import Member
from moot.core.session.usage import NO_USAGE, NOTHING, Spent, Usage, add, subtract


def charge(state: State, member: str, usage: Usage = NO_USAGE, turns: int = 0) -> dict[str, Any]:
    """Return the fields of a state that change when a member has spent something."""
    if not turns and usage == NO_USAGE:
        return {}
    by_member = state.spent_by_member
    return {
        "spent": add(state.spent, usage, turns),
        "spent_by_member": {**by_member, member: add(by_member.get(member, NOTHING), usage, turns)},
    }


def grant(state: State) -> dict[str, Any]:
    """Return the fields that change when a human lets the work go on: used-up budgets start again.

    A turn that waited for the human counts towards the new budget. A task that was only offered when the pause came
    does not: if it did, a member with a budget of one turn would be over it again before the task could start.
    """
    used_up = [member.id for member in state.team.budgeted if state.used_up_by(member)]
    waiting = Counter(turn.member for turn in state.running)
    renewed = {member: subtract(state.spent_by_member[member], Spent(turns=waiting[member])) for member in used_up}
    return {
        "spent": Spent(turns=waiting.total()) if state.budget_used_up else state.spent,
        "granted": {**state.granted, **renewed},
    }


def is_overrun(fact: Fact) -> bool:
    return isinstance(fact, NoticePosted) and fact.code in ("budget", "member_budget")


def find_overrun(state: State, member: Member) -> NoticePosted | None:
    """Return the notice about a budget that forbids the member another turn: the session's, or the member's own.

    None during a pause for a budget: resuming renews the budget, so the same pause must not follow at once.
    """
    if not state.team.has_budgets or state.pause_reason == "budget":
        return None
    if detail := state.budget_used_up:
        return NoticePosted(code="budget", detail=detail)
    if member in state.team.budgeted and (detail := state.used_up_by(member)):
        return NoticePosted(code="member_budget", who=member.display_name, detail=detail)
    return None
