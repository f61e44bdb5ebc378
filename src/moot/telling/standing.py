"""A summary of a session as lines: its work, or what `/status` would answer; the queue; what it has cost."""

from moot.core.flows.registry import flow_of, show
from moot.core.session.notices import queue_line
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.session.usage import Spent
from moot.core.texts import render


def list_board(state: State) -> list[str]:
    """Return the progress of the work; no lines if there is no work."""
    return flow_of(state).lines.board(state)


def describe_standing(state: State) -> list[str]:
    status = flow_of(state).status(state)
    progress = list_board(state) or [show(status, state.language) or status.code]
    queue = queue_line(state)
    return [*progress, *([queue] if queue else []), *describe_spending(state)]


def describe_spending(state: State) -> list[str]:
    """Return what each member has used; no lines as long as nobody has reported any use."""
    spent_by_member = state.spent_by_member
    if not any(spent.tokens or spent.cost_usd for spent in spent_by_member.values()):
        return []
    names = {member: state.team.member(member).display_name for member in spent_by_member}
    width = max(len(name) for name in names.values())
    return [
        f"  Σ {names[member]:{width}}  {_describe(spent, state.language)}" for member, spent in spent_by_member.items()
    ]


def _describe(spent: Spent, language: Language) -> str:
    cost = f" · {spent.cost_usd:.4f} USD" if spent.cost_usd else ""
    return render("spending", language, count=spent.turns, tokens=spent.tokens) + cost
