"""Budgets of a session and of its members: charging them, finding the one that is used up, and renewing it."""

from collections import Counter
from datetime import date
from typing import Any

from moot.core.facts import Fact
from moot.core.session.commands import Command, CompleteTurn, FailTurn, HumanCommand, ReportUnderstanding
from moot.core.session.events import BudgetCounted, NoticePosted
from moot.core.session.settings import Period
from moot.core.session.state import State
from moot.core.session.team import Member
from moot.core.session.usage import NO_USAGE, NOTHING, Spent, Usage, add, subtract

STARTING = (HumanCommand, CompleteTurn, FailTurn, ReportUnderstanding)  # commands after which turns may start


def name_period(per: Period, at: str) -> str:
    """Return the name of the period that an instant or a day belongs to; empty if it has no bounds."""
    if per == "session" or not at:
        return ""
    day = date.fromisoformat(at[:10])
    return day.isoformat() if per == "day" else "{}-W{:02}".format(*day.isocalendar())


def count(state: State, command: Command, at: str, elsewhere: Spent) -> BudgetCounted | None:
    """Return what is counted now, if that has changed and turns may start because of the command."""
    if not state.team.counts_periods or not isinstance(command, STARTING):
        return None
    budgets = (state.team.budget, *(member.budget for member in state.team.budgeted))
    is_over = any(name_period(each.per, at) != name_period(each.per, state.budget_day) for each in budgets)
    if not is_over and state.spent_elsewhere == elsewhere:
        return None
    return BudgetCounted(day=at[:10], elsewhere=elsewhere)


def begin_periods(state: State, fact: BudgetCounted) -> dict[str, Any]:
    """Return the fields of a state that change with what is counted: a budget whose period is over starts from zero.

    A turn that runs across the end of a period counts towards the new one with what it costs, not as a turn.
    """

    def is_new(per: Period) -> bool:
        return bool(state.budget_day) and name_period(per, fact.day) != name_period(per, state.budget_day)

    renewed = {
        member.id: state.spent_by_member.get(member.id, NOTHING)
        for member in state.team.budgeted
        if is_new(member.budget.per)
    }
    own = is_new(state.team.budget.per)
    return {
        "budget_day": fact.day,
        "spent_elsewhere": fact.elsewhere,
        "granted": {**state.granted, **renewed},
        **({"spent": NOTHING, "spent_in_period": NOTHING, "granted_elsewhere": NOTHING} if own else {}),
    }


def charge(state: State, member: str | None, usage: Usage = NO_USAGE, turns: int = 0) -> dict[str, Any]:
    """Return the fields of a state that change when a member, or Moot itself, has spent something."""
    if not turns and usage == NO_USAGE:
        return {}
    by_member = state.spent_by_member
    if member is not None:
        by_member = {**by_member, member: add(by_member.get(member, NOTHING), usage, turns)}
    return {
        "spent": add(state.spent, usage, turns),
        "spent_by_member": by_member,
        **({"spent_in_period": add(state.spent_in_period, usage, turns)} if state.team.budget.scope == "team" else {}),
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
        "granted_elsewhere": state.spent_elsewhere if state.budget_used_up else state.granted_elsewhere,
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
