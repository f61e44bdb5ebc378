"""A session as lines of text, for terminals, logs and exports. Content was made safe before it was stored."""

from moot.cli.lines.plan import PLAN_LINES
from moot.cli.lines.session import SESSION_LINES
from moot.cli.lines.supervisor import SUPERVISOR_LINES
from moot.cli.lines.telling import Telling
from moot.core import events
from moot.core.codec import Event
from moot.core.events import Fact
from moot.core.evolve import evolve
from moot.core.plan.events import FinalAnswered
from moot.core.state import State

# how each kind of fact is told; what is not here gives no line
LINES = {**SESSION_LINES, **PLAN_LINES, **SUPERVISOR_LINES}


class Transcript:
    """Folds events and says what each means to a reader. `is_whole`: results of tasks in full."""

    def __init__(self, state: State | None = None, *, is_whole: bool = False) -> None:
        self.state = state
        self._is_whole = is_whole

    def lines(self, event: Event) -> list[str]:
        return self.tell(event.fact)

    def tell(self, fact: Fact) -> list[str]:
        before = self.state
        self.state = evolve(before, fact)
        tell = LINES.get(type(fact))
        return tell(Telling(before or self.state, self.state, self._is_whole), fact) if tell else []


def as_markdown(event: Event, transcript: Transcript) -> list[str]:
    """For reading elsewhere: a heading a speaker, the text as it was said, what was done as quotes."""
    lines, fact, state = transcript.lines(event), event.fact, transcript.state
    assert state is not None  # noqa: S101 - it has just folded an event
    match fact:
        case events.SessionCreated():
            members = ", ".join(f"{member.display_name} ({member.kind})" for member in fact.members)
            return [f"{event.session_id} · {event.timestamp} · {members}"]
        case events.MessagePosted() | FinalAnswered():
            name = state.team.member(fact.member).display_name
            text = fact.text.strip() or getattr(fact, "raw", None) or ""
            return [f"### {name} · #{event.seq} · {event.timestamp}\n\n{text}"]
        case events.SessionCompleted():
            return [f"*{lines[0]} · {event.timestamp}*"]
        case events.QueueChanged() | events.TurnStepped() | events.SessionPaused() | events.TeamTaskSet():
            return []
        case _:
            return [_quote(lines)] if lines else []


def _quote(lines: list[str]) -> str:
    """Every line stays a line; what is indented deeply is a result, not code."""
    return "  \n".join(f"> {line.removeprefix('  ')}" for line in lines)
