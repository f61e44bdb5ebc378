"""The summary of a session that lists show."""

from moot.core.machines.session import Status
from moot.core.session.state import State
from moot.runtime.ports import LastLine, Summary

LINE_CHARS = 120  # of the last message


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
    )


def summary_key(state: State) -> tuple[object, ...]:
    """What decides whether the stored summary is rewritten.

    Messages do not while AIs talk to each other: rewriting it with every turn would double what a turn writes.
    """
    messages = 0 if state.status is Status.ACTIVE else state.message_count
    return (state.title, state.status, state.waiting_for, state.pause_reason, messages, _is_busy(state))


def _is_busy(state: State) -> bool:
    return state.status is Status.ACTIVE or bool(state.running or state.open_steps or state.door.inputs)


def _last_line(state: State) -> LastLine | None:
    """The newest message that is not empty (one that held only markers is), on one line."""
    for message in reversed(state.history):
        line = " ".join(message.text[: 4 * LINE_CHARS].split())
        if line:
            return LastLine(state.team.member(message.member).display_name, line[:LINE_CHARS])
    return None
