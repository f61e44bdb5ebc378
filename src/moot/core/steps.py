"""Questions that wait for one answer (spec/5: steps). The first valid answer wins."""

from moot.core import commands, controls, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Option, StepAsked, StepClosed
from moot.core.notices import CATALOGUE
from moot.core.plan.events import Json
from moot.core.state import Outcome, State
from moot.core.team import Member

CLEAR_QUEUE = "confirm_queue_clear"


def ask_to_clear_queue(draft: Draft, by: Member | None) -> None:
    """`/queue clear` asks first; asking again replaces the question."""
    state = draft.state
    if not state.queue:
        raise Refused("queue_empty")
    for step in state.open_steps.values():
        if step.code == CLEAR_QUEUE:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))
    draft.add(
        StepAsked(
            step_id=f"{CLEAR_QUEUE}_{state.step_count + 1}",
            kind="decision",
            options=tuple(
                Option(id=choice, label=CATALOGUE[f"option_{choice}"][state.language]) for choice in ("clear", "keep")
            ),
            expires_at=None,
            default=None,
            code=CLEAR_QUEUE,
            asked_by=by.id if by else None,
        )
    )
    if not state.running:
        draft.pause(by or controls.floor_holder(state), "step")


def answer_queue_clear(draft: Draft, step: StepAsked, command: commands.Answer, by: Member | None) -> None:
    answer(draft, step, command, by)
    agreed = command.confirmed if command.choice is None else command.choice == "clear"
    if agreed and draft.state.queue:
        controls.change_queue(draft, commands.ChangeQueue(action="clear"))


def answer(draft: Draft, step: StepAsked, command: commands.Answer, by: Member | None) -> None:
    """Close a question that nothing follows from but its answer."""
    known = [option.id for option in step.options]
    if command.choice is not None and command.choice not in known:
        raise Refused("bad_answer", available=known)
    if command.choice is None and command.confirmed is None:
        raise Refused("bad_answer", available=known)
    close(draft, step, command, by, command.choice, clean_answer(command))


def clean_answer(command: commands.Answer) -> str | None:
    return None if command.answer is None else text.clean(command.answer)


def close(
    draft: Draft,
    step: StepAsked,
    command: commands.Answer,
    by: Member | None,
    choice: str | None,
    answer: str | None = None,
    *,
    tasks: tuple[Json, ...] | None = None,
    selected_ids: tuple[str, ...] = (),
) -> None:
    """Log an answer that was found good: the option, the words, the edited tasks that it comes to."""
    draft.add(
        StepClosed(
            step_id=step.step_id,
            outcome="answered",
            by=by.id if by else None,
            confirmed=command.confirmed,
            choice=choice,
            answer=answer,
            tasks=tasks,
            selected_ids=selected_ids,
        )
    )


def expire(draft: Draft, step_id: str) -> StepAsked:
    step = draft.state.open_steps.get(step_id)
    if step is None:
        raise Refused("unknown_step", detail=step_id)
    draft.add(StepClosed(step_id=step_id, outcome="expired"))
    return step


def find_open(state: State, step_id: str, at: str) -> StepAsked:
    closed = state.closed_steps.get(step_id)
    if closed and closed.outcome is Outcome.ANSWERED:
        raise Refused("already_answered", by=closed.by or "?")
    if closed:
        raise Refused("confirmation_expired")
    step = state.open_steps.get(step_id)
    if step is None:
        raise Refused("unknown_step", detail=step_id)
    if step.expires_at and at >= step.expires_at:  # both RFC 3339 UTC with ms: text order is time order
        raise Refused("confirmation_expired")
    return step
