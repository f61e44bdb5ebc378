"""A session as Markdown, for reading elsewhere: a heading for each message, everything else as quotes."""

from collections.abc import Iterable

from moot.core.codec import Event
from moot.core.session import events
from moot.telling.teller import Teller

# A transcript that is read later needs neither the queue nor the steps that agents took.
_LEFT_OUT = ("queue.changed", "turn.step", "session.paused", "session.team_task_set")


def to_markdown(log: Iterable[Event]) -> str:
    """Return the whole document, under the last title of the session."""
    teller = Teller(is_whole=True)
    parts = [part for event in log if (part := _tell(event, teller))]
    if teller.state:
        parts.insert(0, f"# {teller.state.title or teller.state.team.name}")
    return "\n\n".join(parts) + "\n"


def _tell(event: Event, teller: Teller) -> str:
    told, fact = teller.tell(event.fact), event.fact
    if told.member:
        return f"### {told.name} · #{event.seq} · {event.timestamp}\n\n{told.text}" if told.text else ""
    if isinstance(fact, events.SessionCreated):
        members = ", ".join(f"{member.display_name} ({member.kind})" for member in fact.members)
        return f"{event.session_id} · {event.timestamp} · {members}"
    if isinstance(fact, events.SessionCompleted):
        return f"*{told.lines[0]} · {event.timestamp}*"
    if fact.event in _LEFT_OUT:
        return ""
    # Every line stays a line. Results are indented by four spaces, which would make them code.
    return "  \n".join(f"> {line.removeprefix('  ')}" for line in told.lines)
