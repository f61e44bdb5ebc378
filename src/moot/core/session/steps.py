"""Questions to people, their options, and how they are answered. The first valid answer wins."""

from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

from moot.core import text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.facts import Json
from moot.core.instants import later
from moot.core.session.commands import Answer
from moot.core.session.events import Input, Option, StepAsked, StepClosed
from moot.core.session.state import Outcome, State
from moot.core.session.team import Language, Member
from moot.core.texts import find_text

DETAIL_CHARS = 200  # of an input that a question quotes


class Details(TypedDict, total=False):
    """What a question is about: a task, a turn that failed, an input, a plan; and the parameters of its text."""

    asked_by: str | None
    task_id: str | None
    job: str
    error_type: str
    input: Input
    tasks: tuple[Json, ...]
    plan_summary: str
    plan_id: str
    plan_hash: str
    names: tuple[str, ...]
    who: str
    detail: str


def ask(
    draft: Draft,
    code: str,
    choices: tuple[str, ...],
    *,
    others: tuple[Option, ...] = (),
    step_id: str | None = None,
    kind: str = "decision",
    timeout_s: float | None = None,
    default: str | None = None,
    **details: Unpack[Details],
) -> None:
    """Ask people to decide.

    Args:
        code: of the question's text in the catalogue.
        choices: ids of options that the catalogue has labels for.
        others: further options with their own labels; they come first.
        timeout_s: how long people have; None or 0: as long as they like.
        details: what the question is about.
    """
    state = draft.state
    draft.add(
        StepAsked(
            step_id=step_id or f"{code}_{state.step_count + 1}",
            kind=kind,
            options=(*others, *make_options(choices, state.language, code)),
            expires_at=find_deadline(draft.at, timeout_s or 0.0),
            timeout_s=timeout_s or None,
            default=default,
            code=code,
            **details,
        )
    )


def ask_about_input(draft: Draft, code: str, choices: tuple[str, ...], input_: Input) -> None:
    """Ask the author of an input what to do with it."""
    ask(draft, code, choices, input=input_, asked_by=input_.member, detail=input_.text[:DETAIL_CHARS])


def find_deadline(at: str, timeout_s: float) -> str | None:
    """Return when a question expires that is asked now; None if it waits for ever."""
    return later(at, timeout_s) if timeout_s else None


def supersede(draft: Draft, matches: Callable[[StepAsked], bool]) -> None:
    """Withdraw the open questions that match."""
    for step in draft.state.open_steps.values():
        if matches(step):
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Close a question whose answer has no further effect."""
    known = [option.id for option in step.options]
    if command.choice is not None and command.choice not in known:
        raise Refused("bad_answer", available=known)
    if command.choice is None and command.confirmed is None:
        raise Refused("bad_answer", available=known)
    close(draft, step, command, by, command.choice, clean_answer(command))


def read_choice(step: StepAsked, command: Answer) -> str:
    """Return the id of the chosen option. Of two options, a plain yes means the first and a plain no the second.

    Raises Refused if the answer names none of the options.
    """
    known = [option.id for option in step.options]
    choice = command.choice
    if choice is None and command.confirmed is not None and len(known) == 2:
        choice = known[0] if command.confirmed else known[1]
    if choice not in known:
        raise Refused("bad_answer", available=known)
    return choice


def clean_answer(command: Answer) -> str | None:
    return None if command.answer is None else text.clean(command.answer)


def close(
    draft: Draft,
    step: StepAsked,
    command: Answer,
    by: Member | None,
    choice: str | None,
    answer: str | None = None,
    *,
    tasks: tuple[Json, ...] | None = None,
    selected_ids: tuple[str, ...] = (),
) -> StepClosed:
    """Log a valid answer, and return its fact: the chosen option, the text, the edited tasks."""
    closed = StepClosed(
        step_id=step.step_id,
        outcome="answered",
        by=by.id if by else None,
        confirmed=command.confirmed,
        choice=choice,
        answer=answer,
        tasks=tasks,
        selected_ids=selected_ids,
    )
    draft.add(closed)
    return closed


def expire(draft: Draft, step_id: str) -> StepAsked:
    """Close a question that nobody answered in time, and return it."""
    step = draft.state.open_steps.get(step_id)
    if step is None:
        raise Refused("unknown_step", detail=step_id)
    draft.add(StepClosed(step_id=step_id, outcome="expired"))
    return step


def find_open(state: State, step_id: str) -> StepAsked:
    """Return the open question with this id. Raises Refused if it was answered or withdrawn, has expired, or is
    unknown.

    It is open until the log says that it expired. The wall clock has no say: after a jump, people would be shown a
    question that takes no answer.
    """
    closed = state.closed_steps.get(step_id)
    if closed and closed.outcome is Outcome.ANSWERED:
        raise Refused("already_answered", by=closed.by or "?")
    if closed and closed.outcome is Outcome.SUPERSEDED:
        raise Refused("confirmation_expired", outcome=closed.outcome)
    if closed:
        raise Refused("confirmation_expired")
    step = state.open_steps.get(step_id)
    if step is None:
        raise Refused("unknown_step", detail=step_id)
    return step


def make_options(ids: Iterable[str], language: Language, code: str = "") -> tuple[Option, ...]:
    """Make Moot's own options. The log stores labels in the session's language; readers see `option_label`."""
    return tuple([Option(id=choice, label=_find_label(code, choice, language) or f"[{choice}]") for choice in ids])


def _find_label(code: str, choice: str, language: Language) -> str | None:
    """The label of an option; a question may have words of its own for it."""
    own = find_text(f"option.{code}.{choice}", language) if code else None
    return own or find_text(f"option.{choice.lower()}", language)


def option_label(code: str, option: Option, members: Iterable[Member], language: Language) -> str:
    """Return the label of an option in the reader's language.

    Args:
        code: of the question. Empty if an agent asks; then its own label is used.
        members: of the team. An option that names an agent gets the name of the member who plays it.
    """
    if not code:
        return option.label
    players = (member.display_name for member in members if member.role == option.id)
    return _find_label(code, option.id, language) or next(players, option.label)
