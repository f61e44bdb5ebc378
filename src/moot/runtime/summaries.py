"""The summary of a session that lists show, and what the session needs of people."""

from collections.abc import Iterable
from typing import Literal

from moot.core.machines.session import Status
from moot.core.session import budgets, taking
from moot.core.session.events import PauseReason
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.session.usage import NOTHING, Spent, add_spent
from moot.runtime.ports import LastLine, Listing, Summary

LINE_CHARS = 120  # of the last message

_ACTIVE = Status.ACTIVE  # a global is faster to look up than a member of an enum

Need = Literal["question", "plan", "permission", "your_turn", "failed", "paused", "finished"]

_ASKED: dict[str, Need] = {"plan": "plan", "tool": "permission"}  # by the kind of a step; others are questions
_STOPPED: dict[PauseReason | None, Need] = {  # for other reasons it is a human's turn
    "agent_error": "failed",
    "agent_timeout": "failed",
    "budget": "paused",
    "user_pause": "paused",
    "stopped": "paused",
    "finished": "finished",
}


def summarise(state: State) -> Summary:
    return Summary(
        title=state.shown_title,
        team=state.team.name,
        flow=state.team.flow,
        status=state.status,
        waiting_for=state.waiting_for,
        busy=_is_busy(state),
        pause_reason=state.pause_reason,
        messages=state.message_count,
        last=_last_line(state),
        asks=_find_asked(state),
        period=budgets.name_period(state.team.budget.per, state.budget_day),
        spent=_find_counted(state),
    )


def sum_elsewhere(listings: Iterable[Listing], session_id: str, team: Team, at: str) -> Spent:
    """Return what other sessions of a team have spent in the present period of its budget."""
    period, total = budgets.name_period(team.budget.per, at), NOTHING
    for listing in listings:
        summary = listing.summary
        if listing.session_id != session_id and (summary.team, summary.period) == (team.name, period) and summary.spent:
            total = add_spent(total, summary.spent)
    return total


def _find_counted(state: State) -> Spent | None:
    return state.spent_in_period if state.team.budget.scope == "team" else None


def find_need(summary: Summary) -> Need | None:
    """Return what a session needs of people, if anything. An open question takes precedence over the pause."""
    if summary.status is Status.COMPLETED:
        return None
    if summary.asks is not None:
        return name_question(summary.asks)
    if summary.status is Status.PAUSED and summary.waiting_for is not None:
        return _STOPPED.get(summary.pause_reason, "your_turn")
    return None


def name_question(step_kind: str) -> Need:
    """What an open step of this kind needs of people."""
    return _ASKED.get(step_kind, "question")


def summary_key(state: State) -> tuple[object, ...]:
    """Return the key that decides whether the stored summary is rewritten.

    It ignores messages while AIs talk to each other: rewriting the summary each turn would double the writes.
    """
    messages = 0 if state.status is _ACTIVE else state.message_count
    asked = _find_asked(state)
    named = (state.title, state.slice.goal, state.team_task, state.opening)  # `shown_title` is made of them
    return (
        named,
        state.status,
        state.waiting_for,
        state.pause_reason,
        messages,
        _is_busy(state),
        asked,
        _find_counted(state),
    )


def _is_busy(state: State) -> bool:
    is_open = bool(state.running or state.asides or state.inquiries or state.open_steps or state.door.inputs)
    return is_open or state.status is _ACTIVE or any(True for _ in taking.list_effects(state))


def _find_asked(state: State) -> str | None:
    return next(iter(state.open_steps.values())).kind if state.open_steps else None


def _last_line(state: State) -> LastLine | None:
    """The newest message that is not empty (one that held only markers is), on one line."""
    for message in reversed(state.history):
        line = " ".join(message.text[: 4 * LINE_CHARS].split())
        if line:
            return LastLine(state.team.member(message.member).display_name, line[:LINE_CHARS])
    return None
