"""How a log says that somebody else appended first."""

from moot.core.codec import Head


def explain_conflict(session_id: str, head: Head, expected: Head) -> str:
    """Return the sentence of a Conflict between a session's head and the one that an append expected."""
    if head.seq != expected.seq:
        return f"session {session_id} is at seq {head.seq}, not {expected.seq}; read, then retry"
    return f"session {session_id} has another event {head.seq} than the one expected; read it again, then retry"
