"""The queue as people see it: `📋 Queue: [Claude ⏳] → Bob → You` (chat: the queue is visible)."""

from moot.core.notices import render
from moot.core.state import State
from moot.core.team import Language

YOU: dict[Language, str] = {"zh": "你", "en": "You"}


def queue_names(state: State, viewer: str | None = None) -> tuple[str, ...]:
    """Display names from the one who acts to the last; the viewer is "You"."""

    def name(member_id: str) -> str:
        return YOU[state.language] if member_id == viewer else state.team.member(member_id).display_name

    acting = (f"[{name(state.executing)} ⏳]",) if state.executing else ()
    return acting + tuple(name(entry.member) for entry in state.queue)


def queue_line(state: State, viewer: str | None = None) -> str | None:
    """None when nothing runs and nothing waits: then it is hidden."""
    names = queue_names(state, viewer)
    return render("queue", state.language, names=names) if names else None
