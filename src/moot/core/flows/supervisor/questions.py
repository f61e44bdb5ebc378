"""Questions to people: an agent's own, the check of its output, and what to do when the job is stuck."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from moot.core import text
from moot.core.draft import Draft
from moot.core.flows.supervisor.jobs import job_of, notice, player_of, settings_of
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.flows.supervisor.supervisor_events import StateUpdated
from moot.core.flows.supervisor.supervisor_settings import END
from moot.core.session import steps
from moot.core.session.events import Option, PauseReason, Selection, StepAsked
from moot.core.session.state import State, Turn

OPTIONS = 20
QUESTION_CHARS, LABEL_CHARS = 2_000, 200


class Question(Struct, frozen=True, kw_only=True, gc=False):
    """A question of an agent. The same `key` is never asked twice."""

    question: str
    key: str
    options: tuple[Option, ...] = ()
    selection: Selection = "single"
    allow_custom_input: bool = False


def read_question(document: Any) -> Question | None:
    """Read what an agent wrote; None if it is no question. A question without options is answered with text."""
    asked = document.get("question") if isinstance(document, Mapping) else None
    if not isinstance(asked, str) or text.is_blank(asked):
        return None
    question = _tidy(asked, QUESTION_CHARS)
    key, selection = document.get("key"), document.get("selection")
    options = tuple(_read_options(document.get("options"))) if selection != "none" else ()
    return Question(
        question=question,
        key=_tidy(key, LABEL_CHARS) if isinstance(key, str) and not text.is_blank(key) else question[:LABEL_CHARS],
        options=options,
        selection="none" if not options else "multiple" if selection == "multiple" else "single",
        allow_custom_input=not options or document.get("allow_custom_input") is True,
    )


def _read_options(options: Any) -> Iterator[Option]:
    seen: set[str] = set()
    for option in options[:OPTIONS] if isinstance(options, (list, tuple)) else ():
        fields = option if isinstance(option, Mapping) else {"id": option}
        name = fields.get("id", fields.get("label"))
        if not isinstance(name, str) or text.is_blank(name) or _tidy(name, LABEL_CHARS) in seen:
            continue
        option_id = _tidy(name, LABEL_CHARS)
        seen.add(option_id)
        label, description = fields.get("label"), fields.get("description")
        yield Option(
            id=option_id,
            label=_tidy(label, LABEL_CHARS) if isinstance(label, str) else option_id,
            description=_tidy(description, QUESTION_CHARS) if isinstance(description, str) else "",
        )


def _tidy(words: str, chars: int) -> str:
    return text.cut(text.clean(words).strip(), chars)


def ask_user(draft: Draft, turn: Turn, document: Any) -> bool:
    """Ask an agent's question, unless it was asked before or the limit is reached. Returns whether it was asked."""
    question = read_question(document)
    if question is None:
        return False
    job, limit = job_of(draft), settings_of(draft).max_clarification_rounds
    keys, rounds = job.state.get("agentClarificationKeys") or [], job.state.get("clarificationRounds") or 0
    if question.key in keys:
        notice(draft, "question_repeated", turn.job, detail=question.question)
        return False
    if rounds >= limit:
        notice(draft, "question_limit", turn.job, detail=question.question, limit=limit)
        return False
    asked = {"clarificationRounds": rounds + 1, "agentClarificationKeys": [*keys, question.key]}
    draft.add(StateUpdated(changes=asked))
    draft.add(
        StepAsked(
            step_id=f"ask_user_{draft.state.step_count + 1}",
            kind="ask_user",
            options=question.options,
            expires_at=None,
            default=None,
            question=question.question,
            job=turn.job,
            who=player_of(draft, turn.job).display_name,
            key=question.key,
            selection=question.selection,
            allow_custom_input=question.allow_custom_input,
        )
    )
    return True


def ask_review(draft: Draft, node: str) -> None:
    """Ask people to check an agent's output before the work goes on."""
    who = player_of(draft, node).display_name
    steps.ask(draft, REVIEW_OUTPUT, ("approve", "reject", "edit"), job=node, who=who)


def ask_stuck(draft: Draft, reason: PauseReason) -> None:
    """Ask what to do with a stuck job: choose who acts, tell the supervisor something, or end it."""
    agents = tuple([Option(id=name, label=name) for name in settings_of(draft).agents])
    node = job_of(draft).node
    who = player_of(draft, node).display_name
    steps.ask(draft, STUCK, (END,), others=agents, job=node, who=who, error_type=reason)


def find_stuck(state: State) -> StepAsked | None:
    """Return the open question about a stuck job."""
    return next((step for step in state.open_steps.values() if step.code == STUCK), None)
