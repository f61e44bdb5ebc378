"""decide(state, command) → facts. Changes nothing and refuses with `Refused`; flows route, this finds who is meant."""

from msgspec import Struct
from msgspec.structs import replace

from moot.core import commands, controls, limits, permissions, slash, steps, text, titles
from moot.core.commands import Command
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Fact, LanguageChanged, SessionCreated, SessionPaused, TurnStepped
from moot.core.evolve import evolve
from moot.core.failures import TOO_MANY_QUESTIONS
from moot.core.flows import plan, supervisor
from moot.core.flows.catalogue import rules_of
from moot.core.machines.session import Status
from moot.core.markers import Markers, parse
from moot.core.senders import find_sender, guess_sender
from moot.core.state import State, Turn
from moot.core.supervisor.cast import list_missing
from moot.core.team import Flow, Member, check


class Decided(Struct, frozen=True):
    """What a command leads to. `state` is what folding `facts` gives, so that nobody need fold them again."""

    facts: list[Fact]
    state: State


def create(command: commands.CreateSession) -> Decided:
    """The first fact of every session."""
    team = check(command.team)
    rules_of(team.flow)
    if team.flow is Flow.SUPERVISOR and (missing := list_missing(team.supervisor, team.members)):
        raise Refused("nobody_plays", names=tuple(missing))
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
    )
    return Decided([created], evolve(None, created))


def decide(state: State, command: Command, at: str, chance: float = 1.0) -> Decided:
    """What `command` leads to at the time `at`, or Refused. `chance` (0 to 1) is for jitter."""
    if state.status is Status.COMPLETED and not isinstance(command, commands.Rename):
        raise Refused("session_completed")
    draft = Draft(state, at, chance)
    match command:
        case (
            commands.CompleteTurn()
            | commands.FailTurn()
            | commands.ReportStep()
            | commands.AskHuman()
            | commands.ExpireTurn()
        ):
            _obey_worker(draft, command)
        case commands.AckDispatch() | commands.NackDispatch() | commands.StartTask():
            plan.obey_worker(draft, command)
        case commands.CompleteTool():
            supervisor.complete_tool(draft, command)
        case commands.ReportUnderstanding():
            rules_of(state.team.flow).understand(draft, command)
        case commands.ExpireStep(step_id=step_id):
            rules_of(state.team.flow).expire(draft, steps.expire(draft, step_id))
        case (
            commands.ExpireDispatch()
            | commands.ExpireLease()
            | commands.EndWait()
            | commands.ProbeMember()
            | commands.EndGrace()
        ):
            plan.obey_timer(draft, command)
        case commands.CreateSession():
            raise AssertionError("a session is made by create()")
        case _:
            _obey_human(draft, command)
    _keep_floor(draft)
    return Decided(draft.facts, draft.state)


def _obey_worker(
    draft: Draft,
    command: commands.CompleteTurn | commands.FailTurn | commands.ReportStep | commands.AskHuman | commands.ExpireTurn,
) -> None:
    """A turn's id names a turn, or the dispatch of a task."""
    state = draft.state
    if isinstance(command, commands.AskHuman) and permissions.is_too_much(state, command):
        command = commands.FailTurn(turn_id=command.turn_id, error_type=TOO_MANY_QUESTIONS, message="")
    if isinstance(command, commands.ReportStep):
        command = _clean_step(command)
    if state.work and command.turn_id in state.work.dispatches:
        if isinstance(command, commands.ExpireTurn):
            plan.expire_task(draft, command.turn_id)
        else:
            plan.obey_worker(draft, command)
        return
    rules, turn = rules_of(state.team.flow), _running(state, command.turn_id)
    match command:
        case commands.CompleteTurn():
            rules.complete_turn(draft, turn, command)
        case commands.FailTurn():
            rules.fail_turn(draft, turn, command)
        case commands.ReportStep():
            _report_step(draft, turn, command)
        case commands.AskHuman():
            permissions.ask(draft, turn.member, command)
        case commands.ExpireTurn(turn_id=turn_id):
            late = commands.FailTurn(turn_id=turn_id, error_type="timeout", message="")
            rules.fail_turn(draft, turn, late)


def _obey_human(draft: Draft, command: commands.HumanCommand) -> None:
    if isinstance(command, commands.Post):
        _post(draft, command)
        return
    by = guess_sender(draft.state, command.by)
    match command:
        case commands.Answer():
            _answer(draft, command, by)
        case commands.ChangeQueue():
            controls.change_queue(draft, command)
        case commands.SetLanguage(language=language):
            draft.add(LanguageChanged(language=language))
        case commands.Rename(title=title):
            titles.rename(draft, title, by)
        case commands.End() | commands.Pause() | commands.Resume() | commands.Retry() | commands.CancelTurn():
            _control(draft, command, by)
        case _:
            if draft.team.flow is not Flow.PLAN:
                raise Refused("not_in_this_flow", detail=_PLAN_EVENTS[type(command)])
            plan.change_plan(draft, command, by)


# how the commands that only the plan flow knows are called outside
_PLAN_EVENTS: dict[type, str] = {
    commands.SolveTasks: "user.solve_tasks",
    commands.CancelTask: "user.cancel_task",
    commands.RestartTask: "user.restart_task",
    commands.CancelPlan: "user.cancel_plan",
    commands.Replan: "user.replan",
}


def _control(
    draft: Draft,
    command: commands.End | commands.Pause | commands.Resume | commands.Retry | commands.CancelTurn,
    by: Member | None,
) -> None:
    rules = rules_of(draft.team.flow)
    match command:
        case commands.End():
            rules.stop(draft, "session_ended")
            draft.end("ended")
        case commands.Pause():
            rules.pause(draft, by)
        case commands.Resume():
            rules.resume(draft)
        case commands.Retry():
            rules.retry(draft)
        case commands.CancelTurn():
            rules.cancel(draft, by)


def _answer(draft: Draft, command: commands.Answer, by: Member | None) -> None:
    step = steps.find_open(draft.state, command.step_id, draft.at)
    if step.code == steps.CLEAR_QUEUE:
        steps.answer_queue_clear(draft, step, command, by)
    elif step.turn_id:
        permissions.answer(draft, step, command, by)
    else:
        rules_of(draft.team.flow).answer(draft, step, command, by)


def _post(draft: Draft, command: commands.Post) -> None:
    if len(command.text) > limits.MESSAGE_CHARS:
        raise Refused("message_too_long", length=len(command.text), limit=limits.MESSAGE_CHARS)
    said = text.clean(command.text)
    typed = slash.parse(said)
    if typed:
        slash.obey(draft, typed, guess_sender(draft.state, command.by))
        return
    markers = parse(said)
    speaker = find_sender(draft.state, command.by, markers.sender)
    if is_empty(markers):
        raise Refused("empty_message")
    rules_of(draft.team.flow).receive(draft, speaker, said, markers)


def is_empty(markers: Markers) -> bool:
    """A message of markers only counts when it names somebody, sets the goal or ends the session."""
    says_something = markers.next or markers.drop or markers.done or markers.team_task
    return not says_something and text.is_blank(markers.clean.replace(markers.signature, "", 1))


def _running(state: State, turn_id: str) -> Turn:
    turn = state.turn(turn_id)
    if turn is None:
        raise Refused("stale_turn", detail=turn_id)
    return turn


def _clean_step(command: commands.ReportStep) -> commands.ReportStep:
    def safe(said: str | None) -> str | None:
        return None if said is None else text.cut(text.clean(said), limits.HISTORY_CHARS)

    said = {name: safe(getattr(command, name)) for name in ("thought", "action", "observation")}
    return replace(command, **said)


def _report_step(draft: Draft, turn: Turn, command: commands.ReportStep) -> None:
    if rules_of(draft.team.flow).step_turn(draft, turn, command):
        return
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
    """When nothing runs, the log ends by naming the human who has the floor, whatever was done in between."""
    state = draft.state
    if state.status is not Status.PAUSED or not draft.facts or isinstance(draft.facts[-1], SessionPaused):
        return
    reason = state.pause_reason if state.pause_reason != "step" or state.open_steps else None
    draft.add(SessionPaused(waiting_for=controls.floor_holder(state).id, reason=reason or "fallback"))
