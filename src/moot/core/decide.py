"""Decide what facts a command leads to, or raise `Refused`. Nothing is changed; what differs by flow is left to it."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import NOTHING_WRITTEN, Draft
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.flow import Flow
from moot.core.flows.registry import find_flow, flow_of, show
from moot.core.intake import slash
from moot.core.intake.markers import Markers, Target, parse
from moot.core.intake.mentions import find_mentions
from moot.core.intake.senders import find_sender, guess_sender
from moot.core.machines.session import Status
from moot.core.session import commands, permissions, steps, typed_answers
from moot.core.session.commands import TOO_MANY_QUESTIONS, Command
from moot.core.session.events import LanguageChanged, NoticePosted, SessionCreated, SessionPaused, TurnStepped
from moot.core.session.state import State, Turn
from moot.core.session.team import Member, Team, find_problems
from moot.core.texts import render


class Decided(Struct, frozen=True):
    """The facts that a command leads to, and the state after them, so that callers need not fold them again."""

    facts: list[Fact]
    state: State


def check_team(team: Team) -> Team:
    """Return the team. Raises ValueError with every problem of its members, in the team's language."""
    problems = [render(problem.code, team.language, **problem.params) for problem in find_problems(team.members)]
    if problems:
        raise ValueError("; ".join(problems))
    return team


def create(command: commands.CreateSession) -> Decided:
    """Create a session. Raises Refused if the flow cannot run with this team."""
    team = check_team(command.team)
    find_flow(team.flow).check(team)
    created = SessionCreated(
        team=team.name,
        flow=team.flow,
        members=team.members,
        language=team.language,
        title=text.clean(command.title)[: limits.TITLE_CHARS],
        understanding=team.understanding,
        thresholds=team.thresholds,
        chat=team.chat,
        plan=team.plan,
        supervisor=team.supervisor,
        budget=team.budget,
        permission_timeout_s=team.permission_timeout_s,
    )
    return Decided([created], evolve(None, created))


def decide(
    state: State, command: Command, at: str, chance: float = 1.0, written: Mapping[str, str] = NOTHING_WRITTEN
) -> Decided:
    """Decide what `command` leads to at the time `at`. `chance` (0 to 1) is for jitter.

    `written` is what running turns have written so far, by their ids.

    Raises Refused if the session does not accept the command.
    """
    if state.status is Status.COMPLETED and not isinstance(command, commands.Rename):
        raise Refused("session_completed")
    draft, flow = Draft(state, at, chance, written), flow_of(state)
    match command:
        case commands.TurnReport():
            _obey_worker(draft, flow, command)
        case commands.ExpireTurn(turn_id=turn_id) if (turn := state.turn(turn_id)) is not None:
            flow.fail_turn(draft, turn, commands.FailTurn(turn_id=turn_id, error_type="timeout", message=""))
        case commands.ReportUnderstanding():
            flow.understand(draft, command)
        case commands.ExpireStep(step_id=step_id):
            flow.expire(draft, steps.expire(draft, step_id))
        case commands.Post():
            _post(draft, flow, command)
        case commands.HumanCommand():
            _obey_human(draft, flow, command)
        case _:
            flow.obey_event(draft, command)
    _keep_floor(draft)
    return Decided(draft.facts, draft.state)


def _obey_worker(draft: Draft, flow: Flow, command: commands.TurnReport) -> None:
    state = draft.state
    if isinstance(command, commands.AskHuman) and permissions.is_too_much(state, command):
        command = commands.FailTurn(turn_id=command.turn_id, error_type=TOO_MANY_QUESTIONS, message="")
    if isinstance(command, commands.ReportStep):
        command = _clean_step(command)
    if flow.obey_worker(draft, command):
        return
    turn = state.turn(command.turn_id)
    if turn is None:
        raise Refused("stale_turn", detail=command.turn_id)
    match command:
        case commands.CompleteTurn():
            flow.complete_turn(draft, turn, command)
        case commands.FailTurn():
            flow.fail_turn(draft, turn, command)
        case commands.AskHuman():
            permissions.ask(draft, turn.member, command)
        case commands.ReportStep():
            if not flow.step_turn(draft, turn, command):
                _log_step(draft, turn, command)
        case _:
            raise TypeError(f"no worker reports {type(command).__name__}")


def _obey_human(draft: Draft, flow: Flow, command: commands.HumanCommand) -> None:
    by = guess_sender(draft.state, command)
    match command:
        case commands.Answer():
            _answer(draft, flow, command, by)
        case commands.ChangeQueue():
            flow.change_queue(draft, command)
        case commands.SetLanguage(language=language):
            draft.add(LanguageChanged(language=language))
        case commands.Rename(title=title):
            draft.rename(title, by)
        case commands.End():
            flow.stop(draft, "session_ended")
            draft.end("ended")
        case _:
            _control(draft, flow, command, by)


def _control(draft: Draft, flow: Flow, command: commands.HumanCommand, by: Member | None) -> None:
    match command:
        case commands.Pause():
            flow.pause(draft, by)
        case commands.Resume():
            flow.resume(draft)
        case commands.Retry():
            flow.retry(draft)
        case commands.CancelTurn():
            flow.cancel(draft, by)
        case commands.Stop():
            flow.halt(draft, by)
        case _:
            flow.obey(draft, command, by)


def _answer(draft: Draft, flow: Flow, command: commands.Answer, by: Member | None) -> None:
    step = steps.find_open(draft.state, command.step_id)
    if step.turn_id:
        permissions.answer(draft, step, command, by)
    else:
        flow.answer(draft, step, command, by)


def _post(draft: Draft, flow: Flow, command: commands.Post) -> None:
    if len(command.text) > limits.MESSAGE_CHARS:
        raise Refused("message_too_long", length=len(command.text), limit=limits.MESSAGE_CHARS)
    message = text.clean(command.text)
    typed = slash.parse(message)
    if typed:
        slash.obey(draft, typed, guess_sender(draft.state, command))
        return
    markers = parse(message)
    if command.to:
        markers = replace(markers, next=(*markers.next, *map(Target, command.to[: limits.QUEUE_ENTRIES])))
    speaker = find_sender(draft.state, command, markers.sender)
    if is_empty(markers):
        raise Refused("empty_message")
    if command.inputs:
        flow.take_inputs(draft, speaker, command.inputs)
    if not _answer_by_text(draft, flow, command, markers, speaker):
        flow.receive(draft, speaker, message, markers)


def _answer_by_text(draft: Draft, flow: Flow, command: commands.Post, markers: Markers, speaker: Member) -> bool:
    """Take a message as the answer to an open question. Returns whether it was one.

    The question that the sender looks at comes first, then the only one that the text fits. If it fits several, a
    notice lists them. Markers and mentions make a message one for members.
    """
    state, typed = draft.state, markers.clean.replace(markers.signature, "", 1).strip()
    asked = [step for step in state.open_steps.values() if step.asked_by in (None, speaker.id)]
    if not asked or markers.next or markers.drop or markers.done or markers.team_task or not typed:
        return False
    if find_mentions(typed, state.team).members:
        return False
    members = state.team.members
    fits = {step.step_id: read for step in asked if (read := typed_answers.read_answer(step, typed, members))}
    fits = fits or {step.step_id: {"answer": typed} for step in asked if flow.takes_text(step)}
    if command.step_id in fits:
        fits = {command.step_id: fits[command.step_id]}
    if len(fits) > 1:
        texts = tuple(show(state.open_steps[step_id], state.language) or step_id for step_id in fits)
        draft.add(NoticePosted(code="several_questions", names=texts, detail=typed))
    for step_id, fields in fits.items() if len(fits) == 1 else ():
        answer = commands.Answer(step_id=step_id, by=speaker.id, **fields)
        _answer(draft, flow, answer, speaker)
    return bool(fits)


def is_empty(markers: Markers) -> bool:
    """Whether a message has no effect: no text, and no marker but [FROM:]."""
    has_effect = markers.next or markers.drop or markers.done or markers.team_task
    return not has_effect and text.is_blank(markers.clean.replace(markers.signature, "", 1))


def _clean_step(command: commands.ReportStep) -> commands.ReportStep:
    def clean(part: str | None) -> str | None:
        return None if part is None else text.cut(text.clean(part), limits.HISTORY_CHARS)

    return replace(
        command,
        thought=clean(command.thought),
        action=clean(command.action),
        observation=clean(command.observation),
    )


def _log_step(draft: Draft, turn: Turn, command: commands.ReportStep) -> None:
    draft.add(
        TurnStepped(
            turn_id=turn.turn_id,
            member=turn.member,
            thought=command.thought,
            action=command.action,
            observation=command.observation,
        )
    )


def _keep_floor(draft: Draft) -> None:
    """Make sure that the log of a paused session ends with the fact that names the human who has the floor."""
    state = draft.state
    if state.status is not Status.PAUSED or not draft.facts or isinstance(draft.facts[-1], SessionPaused):
        return
    reason = state.pause_reason if state.pause_reason != "step" or state.open_steps else None
    draft.add(SessionPaused(waiting_for=state.floor_holder.id, reason=reason or "fallback"))
