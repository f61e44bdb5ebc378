"""Answers of humans to the questions of the supervisor flow."""

from typing import Any

from moot.core import text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.supervisor import acting
from moot.core.flows.supervisor.decision import Decision
from moot.core.flows.supervisor.jobs import finish, job_of, settings_of
from moot.core.flows.supervisor.state_update import check_update
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.flows.supervisor.supervisor_events import InputNoted, StateUpdated, SupervisorDecided
from moot.core.flows.supervisor.supervisor_settings import END
from moot.core.session import steps
from moot.core.session.commands import Answer
from moot.core.session.events import StepAsked, StepClosed
from moot.core.session.team import Member

GUIDANCE_CHARS = 2_000


def answer_question(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    if step.code == STUCK:
        _unstick(draft, step, command, by)
    elif step.code == REVIEW_OUTPUT:
        _check_output(draft, step, command, by)
    else:
        _answer_agent(draft, step, command, by)


def _close(
    draft: Draft,
    step: StepAsked,
    command: Answer,
    by: Member | None,
    choice: str | None = None,
    selected: tuple[str, ...] = (),
    custom: str | None = None,
) -> None:
    words = _read_text(command) if custom is None else custom
    chosen = choice or command.choice or (selected[0] if len(selected) == 1 else None)
    steps.close(draft, step, command, by, chosen, words or None, selected_ids=selected)


def _read_text(command: Answer) -> str:
    words = command.custom_input if command.custom_input is not None else command.answer
    return text.cut(text.clean(words or "").strip(), GUIDANCE_CHARS)


def _answer_agent(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Close an agent's question; the agent acts again with the answer.

    If the key of the question is one of the `inputs`, the answer becomes part of the shared state too.
    """
    selected, custom = _read_selection(step, command)
    _close(draft, step, command, by, selected=selected, custom=custom)
    if step.key in settings_of(draft).inputs:
        chosen: Any = list(selected) if step.selection == "multiple" else (selected[0] if selected else None)
        value = custom if not selected else chosen
        draft.add(StateUpdated(changes={step.key: value}, member=by.id if by else None))


def _read_selection(step: StepAsked, command: Answer) -> tuple[tuple[str, ...], str]:
    """Return the chosen options and the custom text. Raises Refused if they do not fit the question."""
    known = [option.id for option in step.options]
    selected = tuple(dict.fromkeys(command.selected_ids or ()))
    if not selected and command.choice is not None:
        selected = (command.choice,)
    if not selected and command.confirmed is not None and len(known) == 2:
        selected = (known[0] if command.confirmed else known[1],)
    custom = _read_text(command)
    if not selected and custom in known:
        selected, custom = (custom,), ""
    is_too_many = len(selected) > 1 and step.selection != "multiple"
    is_custom_unwanted = bool(custom) and not step.allow_custom_input and not selected
    if (
        is_too_many
        or is_custom_unwanted
        or any(option_id not in known for option_id in selected)
        or not (selected or custom)
    ):
        raise Refused("bad_answer", available=known)
    return selected, custom


def _check_output(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Approve an agent's output, edit it, or reject it with feedback."""
    known = [option.id for option in step.options]
    if command.choice is not None and command.choice not in known:
        raise Refused("bad_answer", available=known)
    if command.state is not None:
        update = check_update(settings_of(draft), step.job, command.state)
        if update.refused or not update.changes:
            raise Refused("bad_answer", available=settings_of(draft).agents[step.job].writes)
        _close(draft, step, command, by, "edit")
        is_after_review = job_of(draft).review is not None
        draft.add(
            StateUpdated(
                changes=update.changes,
                agent=step.job,
                member=by.id if by else None,
                is_after_review=is_after_review,
            )
        )
        acting.complete_state(draft)
        acting.go_on(draft, step.job)
    elif command.choice == "approve" or (command.choice is None and command.confirmed):
        _close(draft, step, command, by, "approve")
        acting.go_on(draft, step.job)
    elif command.choice == "reject" or command.confirmed is False or _read_text(command):
        _close(draft, step, command, by, "reject")
    else:
        raise Refused("bad_answer", available=known)


def _unstick(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Let a stuck job go on: a chosen agent acts, the job ends, or the supervisor decides again with the text."""
    known, words = [option.id for option in step.options], _read_text(command)
    choice = command.choice
    member = by or draft.team.first_human
    if choice is None and words:
        draft.add(InputNoted(member=member.id, text=words))
        draft.add(StepClosed(step_id=step.step_id, outcome="superseded", by=member.id, answer=words))
        return
    if choice not in known:
        raise Refused("bad_answer", available=known)
    _close(draft, step, command, by, choice)
    if choice == END:
        finish(draft, "human")
        return
    decision = Decision(next_agent=choice, guidance=words)
    draft.add(SupervisorDecided(decision=decision, next=choice, member=member.id, correction="human"))
