"""What a member does with Moot's own tools in the middle of its turn.

It asks people or a team-mate, hands over, says that it is blocked, or shows a file. Questions stay open when the turn
is completed; then their answers start the member's next turn, or the turn goes on, as the flow wants it.
"""

from hashlib import sha256

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.flow import Flow
from moot.core.intake.markers import parse
from moot.core.machines.interrupt import STOPPED
from moot.core.session import budgets, parking, permissions, steps
from moot.core.session.commands import (
    Answer,
    AskMember,
    AskPeople,
    AwaitAnswer,
    CompleteTurn,
    DeskReport,
    FailTurn,
    HandOver,
    ReportBlocked,
    ShowFile,
)
from moot.core.session.desk_events import (
    AnswerAwaited,
    BlockReported,
    FileShown,
    HandedOver,
    MemberAnswered,
    MemberAsked,
)
from moot.core.session.events import StepAsked, TurnCompleted
from moot.core.session.session_fold import read_answer
from moot.core.session.state import NO_NOTES, Inquiry, State, Turn
from moot.core.session.team import Member, Team
from moot.core.session.usage import safe_usage

ASIDE = "answer"  # the job of a turn in which a member answers a team-mate


def name_question(turn_id: str, key: str) -> str:
    """Return the id of a question: the same for the same question, also if the turn runs again after a crash."""
    return f"ask_{turn_id}_{sha256(key.encode(errors='replace')).hexdigest()[:12]}"


def is_known(state: State, question_id: str) -> bool:
    """Whether a question is open, or answered in a turn that is under way."""
    return question_id in state.open_steps or question_id in state.replies or question_id in state.inquiries


def obey(draft: Draft, flow: Flow, member: Member, command: DeskReport) -> None:
    """Carry out what a member does. Raises Refused with what it should do instead."""
    match command:
        case AskPeople():
            _ask_people(draft, member, command)
        case AskMember():
            _ask_member(draft, flow, member, command)
        case AwaitAnswer(turn_id=turn_id, question_id=question_id):
            _await(draft, member, turn_id, question_id)
        case HandOver():
            _hand_over(draft, flow, member, command)
        case ReportBlocked(turn_id=turn_id, reason=reason):
            draft.add(BlockReported(turn_id=turn_id, member=member.id, reason=_require(reason)))
        case ShowFile(turn_id=turn_id, path=path, file=file, caption=caption):
            shown = text.cut(text.clean(caption), limits.QUESTION_CHARS)
            draft.add(FileShown(turn_id=turn_id, member=member.id, path=text.clean(path), file=file, caption=shown))
        case _:
            raise TypeError(f"{type(command).__name__} is not a tool of a member")


def _ask_people(draft: Draft, member: Member, command: AskPeople) -> None:
    step_id = name_question(command.turn_id, command.key)
    if is_known(draft.state, step_id):
        return
    human = _find(draft.team, command.to) if command.to else None
    if human and not human.is_human:
        raise Refused("asked_no_human", who=human.display_name, available=_name(draft.team.humans))
    question = _require(command.question)
    if command.asked is not None:
        permissions.withdraw(draft, command.turn_id, command.asked)
    draft.add(
        StepAsked(
            step_id=step_id,
            kind="ask_user",
            options=tuple(permissions.tidy_options(command.options)),
            expires_at=None,
            default=None,
            asked_by=human.id if human else None,
            who=member.display_name,
            question=question,
            key=command.key[: limits.LABEL_CHARS],
            turn_id=command.turn_id,
            member=member.id,
            allow_custom_input=True,
        )
    )


def _ask_member(draft: Draft, flow: Flow, member: Member, command: AskMember) -> None:
    asked = _find(draft.team, command.to)
    if asked.is_human:
        _ask_people(
            draft,
            member,
            AskPeople(
                turn_id=command.turn_id, key=command.key, question=command.question, to=asked.id, asked=command.asked
            ),
        )
        return
    state = draft.state
    question_id = name_question(command.turn_id, command.key)
    if is_known(state, question_id):
        return
    if asked.id == member.id:
        raise Refused("asks_itself")
    if state.aside(command.turn_id) is not None:
        raise Refused("aside_asks", available=_name(draft.team.humans))
    limit = flow.hop_limit(state)
    if limit and state.hops >= limit:
        raise Refused("aside_beyond_hops", limit=limit)
    question = _require(command.question)
    draft.add(
        MemberAsked(question_id=question_id, turn_id=command.turn_id, member=member.id, to=asked.id, question=question)
    )


def _await(draft: Draft, member: Member, turn_id: str, question_id: str) -> None:
    """Note that the member ends its turn without the answer. One that has just come is delivered as any other."""
    state = draft.state
    is_open = question_id in state.open_steps or question_id in state.inquiries
    if not is_open or question_id in state.notes.get(turn_id, NO_NOTES).awaits:
        raise Refused("stale_turn", detail=question_id)
    draft.add(AnswerAwaited(question_id=question_id, turn_id=turn_id, member=member.id))


def _hand_over(draft: Draft, flow: Flow, member: Member, command: HandOver) -> None:
    if not flow.has_queue or draft.state.aside(command.turn_id):
        raise Refused("no_hand_over_here")
    next_ = _find(draft.team, command.to)
    if len(draft.state.notes.get(command.turn_id, NO_NOTES).next) >= limits.NEXT_TARGETS:
        raise Refused("too_many_hand_overs", limit=limits.NEXT_TARGETS)
    reason = text.cut(text.clean(command.reason), limits.QUESTION_CHARS)
    draft.add(HandedOver(turn_id=command.turn_id, member=member.id, to=next_.id, reason=reason))


def _find(team: Team, name: str) -> Member:
    found = team.find(name.strip().removeprefix("@"))
    if found is None:
        raise Refused("unknown_team_mate", who=text.clean(name)[: limits.NAME_CHARS], available=_name(team.members))
    return found


def _name(members: tuple[Member, ...]) -> tuple[str, ...]:
    return tuple(member.display_name for member in members)


def _require(words: str) -> str:
    cleaned = text.cut(text.clean(words).strip(), limits.QUESTION_CHARS)
    if text.is_blank(cleaned):
        raise Refused("empty_message")
    return cleaned


# answers of people


def answer(draft: Draft, flow: Flow, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Take a person's answer to a member: it goes to the turn that waits for it, or starts the member's next one."""
    known = [option.id for option in step.options]
    choice, words = command.choice, command.answer or command.custom_input
    if choice is None and command.confirmed is not None and len(known) == 2:
        choice = known[0] if command.confirmed else known[1]
    if choice is not None and choice not in known:
        raise Refused("bad_answer", available=known)
    said = None if words is None else text.cut(text.clean(words), limits.HISTORY_CHARS)
    if choice is None and text.is_blank(said or ""):
        raise Refused("bad_answer", available=known)
    is_awaited = _is_awaited(draft, flow, step.step_id, step.turn_id)
    closed = steps.close(draft, step, command, by, choice, said)
    if is_awaited:
        parking.go_on_if_answered(draft, step.turn_id)
        return
    flow.take_answer(
        draft, draft.team.member(step.member), by or draft.team.first_human, read_answer(step, closed), None
    )


def _is_awaited(draft: Draft, flow: Flow, question_id: str, turn_id: str) -> bool:
    """Whether the turn that asked takes the answer itself: it waits for it, or is parked for it."""
    state = draft.state
    if not turn_id or not state.is_under_way(turn_id):
        return False
    return flow.parks_for_answers or question_id not in state.notes.get(turn_id, NO_NOTES).awaits


# asides


def begin_asides(draft: Draft, flow: Flow) -> None:
    """Have team-mates who are free answer what they are asked. At the limit of hops they wait until a human speaks."""
    for inquiry in draft.state.inquiries.values():
        state, limit = draft.state, flow.hop_limit(draft.state)
        if state.interrupt in STOPPED or not _is_free(state, inquiry) or (limit and state.hops >= limit):
            continue
        member = draft.team.member(inquiry.to)
        if budgets.find_overrun(state, member):
            draft.drop_inquiry(inquiry, "budget")
            begin_asides(draft, flow)  # the questions have changed
            return
        draft.start_turn(member, job=ASIDE, question_id=inquiry.question_id)


def _is_free(state: State, inquiry: Inquiry) -> bool:
    """Whether nobody answers this question yet and the member that is asked has nothing else under way."""
    if inquiry.question_id not in state.inquiries:
        return False
    if any(turn.member == inquiry.to or turn.question_id == inquiry.question_id for turn in state.asides):
        return False
    at_work = {turn.turn_id: turn.member for turn in state.running} | dict(state.slice.workers)
    return inquiry.to not in {member for turn_id, member in at_work.items() if turn_id not in state.parked}


def complete_aside(draft: Draft, flow: Flow, turn: Turn, command: CompleteTurn) -> None:
    """Pass on what a member answered a team-mate. Its markers route nobody."""
    answered = parse(text.cut(text.clean(command.text))).clean.strip()
    inquiry = draft.state.inquiries[turn.question_id]
    draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
    _close(draft, flow, inquiry, turn, answered, "" if answered else "agent")


def fail_aside(draft: Draft, flow: Flow, turn: Turn, failure: FailTurn) -> None:
    """Fail an aside, and tell the member that asked why there is no answer."""
    inquiry = draft.state.inquiries[turn.question_id]
    draft.fail_turn(turn, failure)
    _close(draft, flow, inquiry, turn, "", text.clean(failure.error_type) or "agent")


def _close(draft: Draft, flow: Flow, inquiry: Inquiry, turn: Turn, answered: str, error_type: str) -> None:
    is_awaited = _is_awaited(draft, flow, inquiry.question_id, inquiry.turn_id)
    draft.add(
        MemberAnswered(
            question_id=inquiry.question_id,
            member=turn.member,
            to=inquiry.member,
            answer=answered,
            error_type=error_type,
            turn_id=turn.turn_id,
        )
    )
    if is_awaited:
        parking.go_on_if_answered(draft, inquiry.turn_id)
    elif answered:
        member, by = draft.team.member(inquiry.member), draft.team.member(turn.member)
        flow.take_answer(draft, member, by, answered, turn.turn_id)


def stop_asides(draft: Draft) -> bool:
    """Drop every question between members. Returns whether there was one."""
    asked = tuple(draft.state.inquiries.values())
    for inquiry in asked:
        if inquiry.question_id in draft.state.inquiries:
            draft.drop_inquiry(inquiry, "withdrawn")
    return bool(asked)
