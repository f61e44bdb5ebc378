"""Questions to people: an agent's own, the check of its output, and what to do when the job is stuck."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from moot.core import text
from moot.core.draft import Draft
from moot.core.events import Option, PauseReason, Selection, StepAsked
from moot.core.notices import CATALOGUE
from moot.core.state import Turn
from moot.core.supervisor.events import StateUpdated
from moot.core.supervisor.jobs import job_of, notice, player_of, settings_of
from moot.core.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.supervisor_settings import END

OPTIONS = 20
QUESTION_CHARS, LABEL_CHARS = 2_000, 200


class Question(Struct, frozen=True, kw_only=True, gc=False):
    """What an agent wants to know. The same `key` is never asked twice."""

    question: str
    key: str
    options: tuple[Option, ...] = ()
    selection: Selection = "single"
    allow_custom_input: bool = False


def read_question(given: Any) -> Question | None:
    """From whatever the agent wrote; a question without options is answered with text."""
    asked = given.get("question") if isinstance(given, Mapping) else None
    if not isinstance(asked, str) or text.is_blank(asked):
        return None
    question = _tidy(asked, QUESTION_CHARS)
    key, selection = given.get("key"), given.get("selection")
    options = tuple(_read_options(given.get("options"))) if selection != "none" else ()
    return Question(
        question=question,
        key=_tidy(key, LABEL_CHARS) if isinstance(key, str) and not text.is_blank(key) else question[:LABEL_CHARS],
        options=options,
        selection="none" if not options else "multiple" if selection == "multiple" else "single",
        allow_custom_input=not options or given.get("allow_custom_input") is True,
    )


def _read_options(given: Any) -> Iterator[Option]:
    seen: set[str] = set()
    for each in given[:OPTIONS] if isinstance(given, (list, tuple)) else ():
        fields = each if isinstance(each, Mapping) else {"id": each}
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


def _tidy(said: str, most: int) -> str:
    return text.cut(text.clean(said).strip(), most)


def ask_user(draft: Draft, turn: Turn, given: Any) -> bool:
    """Put an agent's question to people, unless it was asked before or there were enough; whether it was put."""
    question = read_question(given)
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
    """People check what an agent made before the work goes on."""
    _ask(draft, REVIEW_OUTPUT, node, ("approve", "reject", "edit"))


def ask_stuck(draft: Draft, reason: PauseReason) -> None:
    """Nothing goes on by itself: somebody chooses who acts, says something to the supervisor, or ends it."""
    agents = tuple([Option(id=name, label=name) for name in settings_of(draft).agents])
    _ask(draft, STUCK, job_of(draft).node, (END,), agents, error_type=reason)


def _ask(
    draft: Draft,
    code: str,
    node: str,
    choices: tuple[str, ...],
    options: tuple[Option, ...] = (),
    error_type: str = "",
) -> None:
    state = draft.state
    names = {choice: f"option_{choice.lower()}" for choice in choices}
    draft.add(
        StepAsked(
            step_id=f"{code}_{state.step_count + 1}",
            kind="decision",
            options=(*options, *[Option(id=each, label=CATALOGUE[names[each]][state.language]) for each in choices]),
            expires_at=None,
            default=None,
            code=code,
            job=node,
            who=player_of(draft, node).display_name,
            error_type=error_type,
        )
    )
