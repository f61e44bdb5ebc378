"""Questions of a worker in the middle of its turn: may it do this? The turn goes on with the answer, and so do others.

The session does not pause for them. When the turn ends in any way they are withdrawn (`Draft.add`).
"""

import hashlib
from collections.abc import Container, Iterable, Iterator

from moot.core import limits, steps, text
from moot.core.commands import Answer, AskHuman
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Option, StepAsked, StepClosed
from moot.core.instants import later
from moot.core.notices import CATALOGUE
from moot.core.state import State
from moot.core.team import Language, Member

YES, NO = "allow", "reject"


def name_step(turn_id: str, key: str) -> str:
    """The same question in the same turn has the same name, also when a crash made the turn run again."""
    return f"tool_{turn_id}_{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}"


def is_too_much(state: State, command: AskHuman) -> bool:
    if _is_known(state, name_step(command.turn_id, command.key)):
        return False
    waits = sum(step.turn_id == command.turn_id for step in state.open_steps.values())
    return waits + sum(reply.turn_id == command.turn_id for reply in state.replies.values()) >= limits.PERMISSIONS


def _is_known(state: State, step_id: str) -> bool:
    return step_id in state.open_steps or step_id in state.replies


def ask(draft: Draft, member: str, command: AskHuman) -> None:
    """Put the question, unless it was put before: then its answer is on its way, or will be."""
    state = draft.state
    step_id = name_step(command.turn_id, command.key)
    if _is_known(state, step_id):
        return
    if command.asked is not None:
        _withdraw(draft, command.turn_id, command.asked)
    options = tuple(_tidy_options(command.options)) or _plain_options(state.language)
    default = command.default if command.options else NO
    draft.add(
        StepAsked(
            step_id=step_id,
            kind="tool",
            options=options,
            expires_at=later(draft.at, limits.PERMISSION_S),
            default=default if any(option.id == default for option in options) else None,
            who=draft.team.member(member).display_name,
            question=_tidy(command.question, limits.QUESTION_CHARS),
            turn_id=command.turn_id,
        )
    )


def _withdraw(draft: Draft, turn_id: str, but: Container[str]) -> None:
    """A turn that runs again may ask for something else: nobody waits for what it asked the first time."""
    for step in draft.state.open_steps.values():
        if step.turn_id == turn_id and step.step_id not in but:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """An option; a plain yes is the first of them, a plain no the default."""
    choice, known = command.choice, [option.id for option in step.options]
    if choice is None and command.confirmed is not None:
        choice = known[0] if command.confirmed else step.default
    elif choice not in known:
        raise Refused("bad_answer", available=known)
    steps.close(draft, step, command, by, choice)


def _plain_options(language: Language) -> tuple[Option, ...]:
    return tuple(Option(id=each, label=CATALOGUE[f"option_{each}"][language]) for each in (YES, NO))


def _tidy_options(options: Iterable[Option]) -> Iterator[Option]:
    """An id goes back to the worker as it came; one that cannot be shown safely is left out."""
    seen: set[str] = set()
    for option in tuple(options)[: limits.OPTIONS]:
        is_safe = len(option.id) <= limits.LABEL_CHARS and text.clean(option.id) == option.id
        if is_safe and not text.is_blank(option.id) and option.id not in seen:
            seen.add(option.id)
            yield Option(id=option.id, label=_tidy(option.label, limits.LABEL_CHARS) or option.id)


def _tidy(said: str, most: int) -> str:
    return text.cut(text.clean(said).strip(), most)
