"""What a human's answer to a question of the supervisor flow leads to. A refused answer leaves the question open."""

from typing import Any

from moot.core import front_door, steps, text
from moot.core.commands import Answer
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import StepAsked, StepClosed
from moot.core.supervisor import acting, steering
from moot.core.supervisor.decision import Decision
from moot.core.supervisor.events import InputNoted, StateUpdated, SupervisorDecided
from moot.core.supervisor.jobs import finish, settings_of
from moot.core.supervisor.state_update import check_update
from moot.core.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.supervisor_settings import END
from moot.core.team import Member

GUIDANCE_CHARS = 2_000


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    if step.code == STUCK:
        _unstick(draft, step, command, by)
    elif step.code == REVIEW_OUTPUT:
        _check_output(draft, step, command, by)
    elif step.kind == "ask_user" and step.input is None:
        _answer_agent(draft, step, command, by)
    elif step.kind == "ask_user":
        _close(draft, step, command, by)
        front_door.clarify(draft, step, command)
    else:
        choice = _read_choice(step, command)
        _close(draft, step, command, by, choice)
        steering.choose(draft, step, choice)


def _close(
    draft: Draft,
    step: StepAsked,
    command: Answer,
    by: Member | None,
    choice: str | None = None,
    selected: tuple[str, ...] = (),
    custom: str | None = None,
) -> None:
    said = _read_text(command) if custom is None else custom
    chosen = choice or command.choice or (selected[0] if len(selected) == 1 else None)
    steps.close(draft, step, command, by, chosen, said or None, selected_ids=selected)


def _read_text(command: Answer) -> str:
    said = command.custom_input if command.custom_input is not None else command.answer
    return text.cut(text.clean(said or "").strip(), GUIDANCE_CHARS)


def _read_choice(step: StepAsked, command: Answer) -> str:
    known = [option.id for option in step.options]
    if command.choice not in known:
        raise Refused("bad_answer", available=known)
    return command.choice


def _answer_agent(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """The agent that asked acts again and knows; so does the state, where the key is one that people give."""
    selected, custom = _read_selection(step, command)
    _close(draft, step, command, by, selected=selected, custom=custom)
    if step.key in settings_of(draft).inputs:
        chosen: Any = list(selected) if step.selection == "multiple" else (selected[0] if selected else None)
        value = custom if not selected else chosen
        draft.add(StateUpdated(changes={step.key: value}, member=by.id if by else None))


def _read_selection(step: StepAsked, command: Answer) -> tuple[tuple[str, ...], str]:
    """What was chosen, and what was written instead or besides."""
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
    if is_too_many or is_custom_unwanted or any(each not in known for each in selected) or not (selected or custom):
        raise Refused("bad_answer", available=known)
    return selected, custom


def _check_output(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Approve it, put right what the agent wrote, or send it back with what should be different."""
    known = [option.id for option in step.options]
    if command.choice is not None and command.choice not in known:
        raise Refused("bad_answer", available=known)
    if command.state is not None:
        update = check_update(settings_of(draft), step.job, command.state)
        if update.refused or not update.changes:
            raise Refused("bad_answer", available=settings_of(draft).agents[step.job].writes)
        _close(draft, step, command, by, "edit")
        draft.add(StateUpdated(changes=update.changes, agent=step.job, member=by.id if by else None))
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
    """An agent acts, the job ends, or the supervisor hears what was said and decides again."""
    known, said = [option.id for option in step.options], _read_text(command)
    choice = command.choice
    member = by or draft.team.first_human
    if choice is None and said:
        draft.add(InputNoted(member=member.id, text=said))
        draft.add(StepClosed(step_id=step.step_id, outcome="superseded", by=member.id, answer=said))
        return
    if choice not in known:
        raise Refused("bad_answer", available=known)
    _close(draft, step, command, by, choice)
    if choice == END:
        finish(draft, "human")
        return
    decision = Decision(next_agent=choice, guidance=said)
    draft.add(SupervisorDecided(decision=decision, next=choice, member=member.id, correction="human"))
