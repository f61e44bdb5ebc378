"""What is logged and said of a turn that failed, where no plan retries it (chat: agent error or timeout)."""

from typing import Literal

from moot.core import limits, text
from moot.core.commands import FailTurn
from moot.core.draft import Draft
from moot.core.events import NoticePosted, TurnFailed
from moot.core.state import Turn
from moot.core.usage import safe_usage

TOO_MANY_QUESTIONS = "too_many_questions"


def log_failure(draft: Draft, turn: Turn, failure: FailTurn) -> None:
    draft.add(
        TurnFailed(
            turn_id=turn.turn_id,
            member=turn.member,
            error_type=text.clean(failure.error_type),
            message=text.cut(text.clean(failure.message), limits.DETAIL_CHARS),
            usage=safe_usage(failure.usage),
        )
    )


def tell_failure(
    draft: Draft, turn: Turn, failure: FailTurn, timeout_s: float
) -> Literal["agent_timeout", "agent_error"]:
    """Say so; why the session pauses."""
    who = draft.team.member(turn.member).display_name
    if failure.error_type == "timeout":
        draft.add(NoticePosted(code="agent_timeout", who=who, minutes=round(timeout_s / 60, 2)))
        return "agent_timeout"
    if failure.error_type == TOO_MANY_QUESTIONS:
        draft.add(NoticePosted(code="agent_asks_too_much", who=who))
    else:
        draft.add(
            NoticePosted(code="agent_error", who=who, detail=text.cut(text.clean(failure.message), limits.DETAIL_CHARS))
        )
    return "agent_error"
