"""What every log says of an append that it does not take."""

from collections.abc import Sequence

from moot.core.codec import Event, Head
from moot.runtime.ports import Summary


def check_append(expected: Head, events: Sequence[Event], summary: Summary | None) -> None:
    """Raise ValueError if these are no events that can follow the head: the caller made a mistake."""
    if not events or events[0].seq != expected.seq + 1:
        raise ValueError(f"events must be at least one and start at seq {expected.seq + 1}")
    if expected.seq == 0 and summary is None:
        raise ValueError("the first append of a session needs a summary")


def explain_conflict(session_id: str, head: Head, expected: Head) -> str:
    """Return the sentence of a Conflict between a session's head and the one that an append expected."""
    if head.seq != expected.seq:
        return f"session {session_id} is at seq {head.seq}, not {expected.seq}; read, then retry"
    return f"session {session_id} has another event {head.seq} than the one expected; read it again, then retry"
