"""A session as lines of text, for terminals, logs and exports. Content was made safe before it was stored."""

from moot.core import events
from moot.core.codec import Event
from moot.core.evolve import evolve
from moot.core.notices import render, show
from moot.core.queue_line import queue_line
from moot.core.state import State


class Transcript:
    """Folds events and says what each means to a reader; an event that means nothing gives no line."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state

    def lines(self, event: Event) -> list[str]:
        fact = event.fact
        before = queue_line(self.state) if self.state else None
        self.state = evolve(self.state, fact)
        match fact:
            case events.SessionCreated():
                names = ", ".join(member.display_name for member in fact.members)
                return [f"— {fact.title or fact.team} · {names}"]
            case events.MessagePosted():
                return _indent(f"{self._name(fact.member)}: ", fact.text.strip() or (fact.raw or "").strip())
            case events.QueueChanged():
                after = queue_line(self.state)  # only when somebody acts or the queue waits: not on its way there
                return [after] if after and after != before and fact.executing else []
            case events.TurnStepped():
                said = fact.thought or fact.action or fact.observation or ""
                return _indent(f"  · {self._name(fact.member)}: ", said)
            case events.NoticePosted() | events.StepAsked():
                return _indent("", show(fact, self.state.language) or f"? {fact.event}")
            case events.SessionPaused():
                waiting = render("waiting_for", self.state.language, who=self._name(fact.waiting_for))
                return [*([before] if before else []), waiting]
            case events.SessionCompleted():
                return [render("session_over", self.state.language)]
            case events.TeamTaskSet():
                return [f"🎯 {fact.team_task}"]
            case _:
                return []

    def _name(self, member_id: str) -> str:
        assert self.state is not None  # noqa: S101 - names are asked for after the first event
        return self.state.team.member(member_id).display_name


def _indent(prefix: str, said: str) -> list[str]:
    first, *rest = said.split("\n")
    return [f"{prefix}{first}", *(f"  {line}" if line else "" for line in rest)]


def to_markdown(events_of_session: list[Event]) -> str:
    """The conversation for reading elsewhere: a heading a speaker, the text as it was said."""
    state: State | None = None
    parts: list[str] = []
    for event in events_of_session:
        state = evolve(state, event.fact)
        fact = event.fact
        match fact:
            case events.SessionCreated():
                members = ", ".join(f"{member.display_name} ({member.kind})" for member in fact.members)
                parts.append(f"# {fact.title or fact.team}\n\n{event.session_id} · {event.timestamp} · {members}")
            case events.MessagePosted():
                name = state.team.member(fact.member).display_name
                parts.append(f"### {name} · #{event.seq} · {event.timestamp}\n\n{fact.text.strip() or fact.raw or ''}")
            case events.NoticePosted():
                parts.append(f"> {show(fact, state.language)}")
            case events.SessionCompleted():
                parts.append(f"*{render('session_over', state.language)} · {event.timestamp}*")
            case _:
                pass
    return "\n\n".join(parts) + "\n"
