"""The summary of a session that lists show, and what the session needs of people."""

from typing import Literal

from moot.core.machines.session import Status
from moot.core.session.events import PauseReason
from moot.core.session.state import State
from moot.runtime.ports import LastLine, Summary

LINE_CHARS = 120  # of the last message

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
        title=state.title,
        team=state.team.name,
        flow=state.team.flow,
        status=state.status,
        waiting_for=state.waiting_for,
        busy=_is_busy(state),
        pause_reason=state.pause_reason,
        messages=state.message_count,
        last=_last_line(state),
        asks=_find_asked(state),
    )


def find_need(summary: Summary) -> Need | None:
    """What a session needs of people, if anything. An open question counts more than why the session stands still."""
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
    """What decides whether the stored summary is rewritten.

    Messages do not while AIs talk to each other: rewriting it with every turn would double what a turn writes.
    """
    messages = 0 if state.status is Status.ACTIVE else state.message_count
    asked = _find_asked(state)
    return (state.title, state.status, state.waiting_for, state.pause_reason, messages, _is_busy(state), asked)


def _is_busy(state: State) -> bool:
    return state.status is Status.ACTIVE or bool(state.running or state.open_steps or state.door.inputs)


def _find_asked(state: State) -> str | None:
    return next((step.kind for step in state.open_steps.values()), None)


def _last_line(state: State) -> LastLine | None:
    """The newest message that is not empty (one that held only markers is), on one line."""
    for message in reversed(state.history):
        line = " ".join(message.text[: 4 * LINE_CHARS].split())
        if line:
            return LastLine(state.team.member(message.member).display_name, line[:LINE_CHARS])
    return None
