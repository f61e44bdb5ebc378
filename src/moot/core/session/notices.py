"""Sentences for people: why an agent failed, why a command was refused, who waits in the queue."""

from moot.core.errors import Refused
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.texts import find_text, render


def tell_failure(error_type: str, message: str, language: Language) -> str:
    """Return the agent's own message, or the text of the error type if Moot itself ended the turn."""
    return message or find_text(f"failure_{error_type}", language) or error_type


def name_failure(error_type: str, language: Language) -> str:
    """Return the word for an error type, such as "network"; types of others are told as they are."""
    return find_text(f"failure_kind.{error_type}", language) or error_type


def explain(refusal: Refused, language: Language) -> str:
    """Return the sentence for a refused command."""
    code = "question_withdrawn" if refusal.params.get("outcome") == "superseded" else refusal.code
    return refusal.sentence or render(code, language, **refusal.params)


def queue_names(state: State, viewer: str | None = None) -> tuple[str, ...]:
    """Return the display names in the queue, the acting member first. The viewer is called "You"."""

    def name(member_id: str) -> str:
        return render("ui.you", state.language) if member_id == viewer else state.team.member(member_id).display_name

    executing, pending = state.slice.queue
    acting = (f"[{name(executing)} ⏳]",) if executing else ()
    return acting + tuple(name(member) for member in pending)


def queue_line(state: State, viewer: str | None = None) -> str | None:
    """Return the queue as a line, `📋 Queue: [Claude ⏳] → Bob → You`; None if nothing runs and nobody waits."""
    names = queue_names(state, viewer)
    return render("queue", state.language, names=names) if names else None
