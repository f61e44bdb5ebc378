"""Permissions that a worker asks for during its turn.

The session does not pause for these questions. `Draft.add` withdraws them when their turn ends in any way.
"""

import hashlib
from collections.abc import Container, Iterable, Iterator

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.session import steps
from moot.core.session.commands import Answer, AskHuman
from moot.core.session.events import (
    NoticePosted,
    Option,
    PermissionGranted,
    PermissionRevoked,
    StepAsked,
    StepClosed,
)
from moot.core.session.grants import ALIASES, ALLOW_SESSION, REJECT_SESSION, Grant, show_grant
from moot.core.session.state import State
from moot.core.session.team import Member
from moot.core.session.tool_use import tidy_diff, tidy_tool

YES, NO = "allow", "reject"


def name_step(turn_id: str, key: str) -> str:
    """Return the step id of a question: the same for the same question, also if the turn runs again after a crash."""
    return f"tool_{turn_id}_{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}"


def is_too_much(state: State, command: AskHuman) -> bool:
    """Whether the turn has asked for as many permissions as it may."""
    return not _is_known(state, name_step(command.turn_id, command.key)) and has_asked_enough(state, command.turn_id)


def has_asked_enough(state: State, turn_id: str) -> bool:
    """Whether the turn has asked as many questions as it may."""
    open_count = sum(step.turn_id == turn_id for step in state.open_steps.values())
    open_count += sum(inquiry.turn_id == turn_id for inquiry in state.inquiries.values())
    answered_count = sum(reply.turn_id == turn_id for reply in state.replies.values())
    return open_count + answered_count >= limits.PERMISSIONS


def _is_known(state: State, step_id: str) -> bool:
    return step_id in state.open_steps or step_id in state.replies


def ask(draft: Draft, member: str, command: AskHuman) -> None:
    """Ask the question, unless it is open or answered already."""
    state = draft.state
    step_id = name_step(command.turn_id, command.key)
    if _is_known(state, step_id):
        return
    if command.asked is not None:
        withdraw(draft, command.turn_id, command.asked)
    options = tuple(tidy_options(command.options)) or steps.make_options((YES, NO), state.language)
    default = command.default if command.options else NO
    timeout_s = draft.team.permission_timeout_s
    draft.add(
        StepAsked(
            step_id=step_id,
            kind="tool",
            options=options,
            expires_at=steps.find_deadline(draft.at, timeout_s),
            timeout_s=timeout_s or None,
            default=default if any(option.id == default for option in options) else None,
            who=draft.team.member(member).display_name,
            question=_tidy(command.question, limits.QUESTION_CHARS),
            turn_id=command.turn_id,
            member=member,
            tool=None if command.tool is None else tidy_tool(command.tool),
            diff=tidy_diff(command.diff),
            grant=None if command.grant is None else _tidy_grant(command.grant),
        )
    )


def _tidy_grant(grant: Grant) -> Grant:
    return Grant(tool=_tidy(grant.tool, limits.LABEL_CHARS), pattern=_tidy(grant.pattern, limits.QUESTION_CHARS))


def withdraw(draft: Draft, turn_id: str, keep: Container[str]) -> None:
    """Withdraw the turn's open questions except `keep`: a worker that is gone asked them, and the turn runs again."""
    for step in draft.state.open_steps.values():
        if step.turn_id == turn_id and step.step_id not in keep:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Log the chosen option. A plain yes means the first option, a plain no the default."""
    choice, known = command.choice, [option.id for option in step.options]
    if choice not in known:
        choice = ALIASES.get(choice or "", choice)
    if choice is None and command.confirmed is not None:
        choice = known[0] if command.confirmed else step.default
    elif choice not in known:
        raise Refused("bad_answer", available=known)
    steps.close(draft, step, command, by, choice)
    if step.grant and choice in (ALLOW_SESSION, REJECT_SESSION):
        draft.add(
            PermissionGranted(
                member=step.member,
                tool=step.grant.tool,
                pattern=step.grant.pattern,
                allowed=choice == ALLOW_SESSION,
                by=by.id if by else None,
            )
        )


def list_grants(state: State) -> list[tuple[str, Grant]]:
    """Return what people decided for the rest of the session, with the member that each is about."""
    return [(member, grant) for member, grants in state.grants.items() for grant in grants]


def obey(draft: Draft, argument: str, by: Member | None) -> None:
    """Carry out `/permissions`: list what was decided, or `revoke` one by its number, or all."""
    decided = list_grants(draft.state)
    words = argument.split()
    if not words:
        lines = [
            f"{number}. {'✓' if grant.allowed else '✗'} {draft.team.member(member).display_name}: {show_grant(grant)}"
            for number, (member, grant) in enumerate(decided, 1)
        ]
        code = "permissions" if lines else "permissions_none"
        draft.add(NoticePosted(code=code, detail="\n".join(lines)))
        return
    every = list(range(1, len(decided) + 1))
    numbers = every if words[1:] == ["all"] else [int(word) for word in words[1:] if word.isdecimal()]
    if words[0].lower() != "revoke" or not numbers or not all(0 < number <= len(decided) for number in numbers):
        raise Refused("bad_permissions", limit=len(decided))
    for number in numbers:
        member, grant = decided[number - 1]
        draft.add(PermissionRevoked(member=member, tool=grant.tool, pattern=grant.pattern, by=by.id if by else None))


def tidy_options(options: Iterable[Option]) -> Iterator[Option]:
    """Clean the labels and leave out options whose id is unsafe to show: the worker needs its ids unchanged."""
    seen: set[str] = set()
    for option in tuple(options)[: limits.OPTIONS]:
        is_safe = len(option.id) <= limits.LABEL_CHARS and text.clean(option.id) == option.id
        if is_safe and not text.is_blank(option.id) and option.id not in seen:
            seen.add(option.id)
            yield Option(id=option.id, label=_tidy(option.label, limits.LABEL_CHARS) or option.id)


def _tidy(words: str, chars: int) -> str:
    return text.cut(text.clean(words).strip(), chars)
