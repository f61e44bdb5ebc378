"""Decide what facts a command leads to, or raise `Refused`. Nothing is changed; what differs by flow is left to it."""

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import NOTHING_WRITTEN, Draft
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import LOG_VERSION, Fact
from moot.core.flows.flow import Flow
from moot.core.flows.flow_settings import sections
from moot.core.flows.registry import find_flow, flow_of, show
from moot.core.intake import slash
from moot.core.intake.markers import Markers, Target, find_blocked, parse
from moot.core.intake.mentions import find_mentions
from moot.core.intake.senders import find_sender, guess_sender
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.session import (
    budgets,
    commands,
    deliveries,
    inquiries,
    parking,
    permissions,
    steps,
    taking,
    typed_answers,
)
from moot.core.session.attachments import Attachment
from moot.core.session.commands import TOO_MANY_QUESTIONS, Command
from moot.core.session.events import (
    LanguageChanged,
    NoticePosted,
    SessionCreated,
    SessionPaused,
    TurnSpent,
    TurnStepped,
)
from moot.core.session.state import State, Turn
from moot.core.session.team import Member, Team, find_problems
from moot.core.session.tool_use import tidy_diff, tidy_tool
from moot.core.session.usage import NOTHING, Spent, safe_usage
from moot.core.session.workspace_commands import (
    Comment,
    ReportChange,
    ReportTree,
    Take,
    TellMissed,
    Undo,
    WorkspaceReport,
)
from moot.core.texts import render

_PAUSED, _COMPLETED = Status.PAUSED, Status.COMPLETED  # globals are faster to look up than members of an enum
# What a session that is over still takes.
AFTER_THE_END = (commands.Rename, commands.ReportSpending, Take, WorkspaceReport)
TurnEnd = commands.CompleteTurn | commands.FailTurn
_ENDS = (commands.CompleteTurn, commands.FailTurn)  # asking for a tuple of types is faster than for their union
_QUESTIONS = (commands.AskHuman, commands.AskPeople, commands.AskMember)


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
        budget=team.budget,
        permission_timeout_s=team.permission_timeout_s,
        session_id=command.session_id,
        workspace=team.workspace,
        **sections(team),
    )
    return Decided([created], evolve(None, created))


def decide(
    state: State,
    command: Command,
    at: str,
    chance: float = 1.0,
    written: Mapping[str, str] = NOTHING_WRITTEN,
    seq: int = 0,
    elsewhere: Spent = NOTHING,
    log_version: int = LOG_VERSION,
) -> Decided:
    """Decide what `command` leads to at the time `at`. `chance` (0 to 1) is for jitter.

    `written` is what running turns have written so far, by their ids; `seq` the last event before the command;
    `elsewhere` what other sessions of the team have spent in the period of its budget; `log_version` what every server
    on the log can read.

    Raises Refused if the session does not accept the command.
    """
    if state.status is _COMPLETED and not isinstance(command, AFTER_THE_END):
        raise Refused("session_completed")
    draft, flow = Draft(state, at, chance, written, seq, log_version), flow_of(state)
    if counted := budgets.count(state, command, at, elsewhere):
        draft.add(counted)
    _obey(draft, flow, command)
    if draft.state.inquiries:
        inquiries.begin_asides(draft, flow)
    _keep_floor(draft)
    if draft.has_left_out and not draft.facts:
        raise Refused("servers_differ")
    return Decided(draft.facts, draft.state)


def _obey(draft: Draft, flow: Flow, command: Command) -> None:
    state = draft.state
    match command:
        case commands.TurnReport():
            _obey_worker(draft, flow, command)
        case commands.OfferReport():
            flow.obey_event(draft, command)
        case commands.ExpireTurn(turn_id=turn_id) if (turn := state.turn(turn_id) or state.aside(turn_id)) is not None:
            _fail(draft, flow, turn, commands.FailTurn(turn_id=turn_id, error_type="timeout", message=""))
        case commands.WakeTurn(turn_id=turn_id):
            parking.wake(draft, turn_id)
        case commands.ReportUnderstanding():
            flow.understand(draft, command)
        case commands.ExpireStep(step_id=step_id):
            flow.expire(draft, steps.expire(draft, step_id))
        case commands.Post():
            _post(draft, flow, command)
        case commands.HumanCommand():
            _obey_human(draft, flow, command)
        case _:
            _obey_other(draft, flow, command)


def _obey_worker(draft: Draft, flow: Flow, command: commands.TurnReport) -> None:
    is_end = isinstance(command, _ENDS)
    if not is_end and isinstance(command, _QUESTIONS) and _asks_too_much(draft.state, command):
        command = commands.FailTurn(turn_id=command.turn_id, error_type=TOO_MANY_QUESTIONS, message="")
    if isinstance(command, _ENDS):
        command = _see_blocked(draft.state, command)
        if _park(draft, flow, command):
            return
        if command.turn_id in draft.state.notes:
            deliveries.settle(draft, flow, command.turn_id)
    elif isinstance(command, commands.DeskReport):
        _use_tool(draft, flow, command)
        return
    elif isinstance(command, commands.ReportDelivery):
        deliveries.obey(draft, flow, command)
        return
    elif isinstance(command, commands.ReportStep):
        command = _clean_step(command)
    if not flow.obey_worker(draft, command):
        _obey_turn(draft, flow, command)


def _obey_turn(draft: Draft, flow: Flow, command: commands.TurnReport) -> None:
    turn = draft.state.turn(command.turn_id) or draft.state.aside(command.turn_id)
    if turn is None:
        raise Refused("stale_turn", detail=command.turn_id)
    match command:
        case commands.CompleteTurn() if turn.question_id:
            inquiries.complete_aside(draft, flow, turn, command)
        case commands.CompleteTurn():
            flow.complete_turn(draft, turn, command)
        case commands.FailTurn():
            _fail(draft, flow, turn, command)
        case commands.AskHuman():
            permissions.ask(draft, turn.member, command)
        case commands.ReportStep():
            if turn.question_id or not flow.step_turn(draft, turn, command):
                _log_step(draft, turn, command)
        case _:
            raise TypeError(f"no worker reports {type(command).__name__}")


def _fail(draft: Draft, flow: Flow, turn: Turn, failure: commands.FailTurn) -> None:
    if turn.question_id:
        inquiries.fail_aside(draft, flow, turn, failure)
    else:
        flow.fail_turn(draft, turn, failure)


def _asks_too_much(state: State, command: commands.AskHuman | commands.AskPeople | commands.AskMember) -> bool:
    if isinstance(command, commands.AskHuman):
        return permissions.is_too_much(state, command)
    question_id = inquiries.name_question(command.turn_id, command.key)
    return not inquiries.is_known(state, question_id) and permissions.has_asked_enough(state, command.turn_id)


def _see_blocked(state: State, end: TurnEnd) -> TurnEnd:
    """Turn the end of a turn into a failure if its member said that it is blocked."""
    written = end.text if isinstance(end, commands.CompleteTurn) else ""
    notes = state.notes.get(end.turn_id)
    reason = notes.blocked if notes and notes.blocked else find_blocked(written)
    if reason is None:
        return end
    return commands.FailTurn(turn_id=end.turn_id, error_type="blocked", message=reason, usage=end.usage, said=written)


def _use_tool(draft: Draft, flow: Flow, command: commands.DeskReport) -> None:
    state = draft.state
    member = state.worker_of(command.turn_id)
    if member is None or command.turn_id in state.parked or state.interrupt in STOPPED:
        raise Refused("stale_turn", detail=command.turn_id)
    inquiries.obey(draft, flow, draft.team.member(member), command)


def _park(draft: Draft, flow: Flow, end: TurnEnd) -> bool:
    """Park a turn whose member must wait, or give its work to a fallback. Returns whether that was done."""
    state = draft.state
    if isinstance(end, commands.FailTurn):
        must_wait = parking.is_usage_limit(end)
    else:
        must_wait = flow.parks_for_answers and parking.awaits_answers(state, end.turn_id)
    member = state.worker_of(end.turn_id) if must_wait and not state.aside(end.turn_id) else None
    if member is None:
        return False
    if isinstance(end, commands.CompleteTurn):
        parking.park_until_answered(draft, member, end)
    elif not flow.fall_back(draft, end.turn_id, end):
        parking.park_until_limit_ends(draft, member, end)
    return True


def _obey_other(draft: Draft, flow: Flow, command: Command) -> None:
    if isinstance(command, ReportTree | ReportChange):
        _note_tree(draft, command)
    elif isinstance(command, TellMissed):
        draft.add(NoticePosted(code="trees_missed", detail=command.place))
    elif isinstance(command, commands.ReportSpending):
        _charge(draft, command)
    elif not (isinstance(command, WorkspaceReport) and taking.obey(draft, command)):
        flow.obey_event(draft, command)


def _charge(draft: Draft, command: commands.ReportSpending) -> None:
    """Count the cost of a stopped turn. It no longer runs, or another worker has it."""
    draft.add(TurnSpent(turn_id=command.turn_id, member=command.member, usage=safe_usage(command.usage)))


def _note_tree(draft: Draft, command: ReportTree | ReportChange) -> None:
    member = draft.state.worker_of(command.turn_id)
    if member is None:
        raise Refused("stale_turn", detail=command.turn_id)
    if isinstance(command, ReportTree):
        taking.open_tree(draft, command)
    else:
        taking.change_tree(draft, member, command)


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
        case Take():
            taking.take(draft, command, by)
        case Undo():
            taking.undo(draft, command, by)
        case Comment():
            post = taking.comment(draft, command, by)
            if post:
                _send(draft, flow, command, post)
        case commands.End():
            flow.stop(draft, "session_ended")
            taking.warn_untaken(draft)
            draft.end("ended")
        case _:
            _control(draft, flow, command, by)


def _control(draft: Draft, flow: Flow, command: commands.HumanCommand, by: Member | None) -> None:
    match command:
        case commands.Pause(trigger=trigger):
            flow.pause(draft, by, trigger)
        case commands.Resume() | commands.Retry() if parking.resume(draft, by):
            pass  # what waited for the end of a usage limit goes on
        case commands.Resume():
            flow.resume(draft)
        case commands.Retry():
            flow.retry(draft)
        case commands.CancelTurn():
            _stop(draft, lambda: flow.cancel(draft, by))
        case commands.Stop():
            _stop(draft, lambda: flow.halt(draft, by))
        case _:
            flow.obey(draft, command, by)


def _stop(draft: Draft, stop_flow: Callable[[], None]) -> None:
    """Stop the questions between members, then what the flow runs. Refused only if there is nothing of either."""
    has_asides = inquiries.stop_asides(draft)
    try:
        stop_flow()
    except Refused:
        if not has_asides:
            raise


def _answer(draft: Draft, flow: Flow, command: commands.Answer, by: Member | None) -> None:
    step = steps.find_open(draft.state, command.step_id)
    if step.is_for_member:
        inquiries.answer(draft, flow, step, command, by)
    elif step.turn_id:
        permissions.answer(draft, step, command, by)
    elif step.code == taking.TAKE:
        taking.answer_take(draft, step, command, by)
    else:
        flow.answer(draft, step, command, by)


def _post(draft: Draft, flow: Flow, command: commands.Post) -> None:
    """Take what a person typed: a message, or a slash command."""
    if len(command.text) > limits.MESSAGE_CHARS:
        raise Refused("message_too_long", length=len(command.text), limit=limits.MESSAGE_CHARS)
    message = text.clean(command.text)
    typed = slash.parse(message)
    draft.attachments = _check_files(command)
    if typed and typed.name == slash.INTERRUPT:
        name, message = slash.read_interrupt(typed, draft.team)
        command, typed = replace(command, to=(name, *command.to), interrupt=True), None
    if typed:
        if draft.attachments:
            raise Refused("files_with_command")
        post = slash.obey(draft, typed, guess_sender(draft.state, command))
        if post:
            _send(draft, flow, command, post)
        return
    markers, shown = parse(message), text.show(message)
    if shown != message:  # what readers take for a signature counts as one
        markers = replace(markers, sender=parse(shown).sender)
    _say(draft, flow, command, message, markers)


def _send(draft: Draft, flow: Flow, command: commands.HumanCommand, post: commands.Post) -> None:
    """Take a message that a command makes of texts of several people: its sender is who sent the command.

    `[FROM:]` in one of those texts signs nothing.
    """
    markers = replace(parse(post.text), sender=None, signature="")
    _say(draft, flow, replace(post, principal=command.principal), post.text, markers)


def _say(draft: Draft, flow: Flow, command: commands.Post, message: str, markers: Markers) -> None:
    """Take a message: an answer to an open question, an interruption, or something for the members."""
    if command.to:
        markers = replace(markers, next=(*markers.next, *map(Target, command.to[: limits.QUEUE_ENTRIES])))
    speaker = find_sender(draft.state, command, markers.sender)
    if is_empty(markers) and not draft.attachments:
        raise Refused("empty_message")
    if command.inputs:
        flow.take_inputs(draft, speaker, command.inputs)
    if command.interrupt:
        flow.interrupt(draft, speaker, message, markers)
    elif draft.attachments or not _answer_by_text(draft, flow, command, markers, speaker):
        flow.receive(draft, speaker, message, markers)


def _check_files(command: commands.Post) -> tuple[Attachment, ...]:
    """Return the files of a message, each once. Raises Refused if they are too many, or not known to be stored."""
    if len(command.attachments) > limits.ATTACHMENTS:
        raise Refused("too_many_files", count=len(command.attachments), limit=limits.ATTACHMENTS)
    if command.attachments and not command.files:
        raise Refused("file_unknown", detail=command.attachments[0].sha256)
    return tuple({file.sha256: file for file in command.files}.values())


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
        tool=None if command.tool is None else tidy_tool(command.tool),
        diff=tidy_diff(command.diff),
    )


def _log_step(draft: Draft, turn: Turn, command: commands.ReportStep) -> None:
    draft.add(
        TurnStepped(
            turn_id=turn.turn_id,
            member=turn.member,
            thought=command.thought,
            action=command.action,
            observation=command.observation,
            tool=command.tool,
            diff=command.diff,
        )
    )


def _keep_floor(draft: Draft) -> None:
    """Make sure that the log of a paused session ends with the fact that names the human who has the floor."""
    state = draft.state
    if state.status is not _PAUSED or not draft.facts or isinstance(draft.facts[-1], SessionPaused):
        return
    reason = state.pause_reason if state.pause_reason != "step" or state.open_steps else None
    draft.add(SessionPaused(waiting_for=state.floor_holder.id, reason=reason or "fallback"))
