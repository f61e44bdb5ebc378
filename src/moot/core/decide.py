"""decide(state, command) → facts. Changes nothing and refuses with `Refused`; flows route, this finds who is meant."""

from typing import assert_never

from msgspec import Struct

from moot.core import commands, controls, limits, slash, steps, text
from moot.core.commands import Command
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Fact, LanguageChanged, SessionCreated, SessionPaused, TurnStepped
from moot.core.flows.catalogue import rules_of
from moot.core.machines.session import Status
from moot.core.markers import Markers, parse
from moot.core.senders import find_sender, guess_sender
from moot.core.state import State, Turn, evolve
from moot.core.team import check


class Decided(Struct, frozen=True):
    """What a command leads to. `state` is what folding `facts` gives, so that nobody need fold them again."""

    facts: list[Fact]
    state: State


def create(command: commands.CreateSession) -> Decided:
    """The first fact of every session."""
    team = check(command.team)
    rules_of(team.flow)
    created = SessionCreated(
        team=team.name,
        flow=team.flow,
        members=team.members,
        language=team.language,
        title=text.clean(command.title)[: limits.TITLE_CHARS],
        understanding=team.understanding,
        chat=team.chat,
        plan=team.plan,
        budget=team.budget,
    )
    return Decided([created], evolve(None, created))


def decide(state: State, command: Command, at: str) -> Decided:
    """What `command` leads to at the time `at`, or Refused."""
    if state.status is Status.COMPLETED:
        raise Refused("session_completed")
    draft = Draft(state)
    rules = rules_of(state.team.flow)
    match command:
        case commands.CompleteTurn():
            rules.complete_turn(draft, _running(state, command.turn_id), command)
        case commands.FailTurn():
            rules.fail_turn(draft, _running(state, command.turn_id), command)
        case commands.ExpireTurn(turn_id=turn_id):
            late = commands.FailTurn(turn_id=turn_id, error_type="timeout", message="the turn took too long")
            rules.fail_turn(draft, _running(state, turn_id), late)
        case commands.ReportStep():
            _report_step(draft, command)
        case commands.ExpireStep(step_id=step_id):
            steps.expire(draft, step_id)
        case commands.CreateSession():
            raise AssertionError("a session is made by create()")
        case _:
            _obey_human(draft, command, at)
    _keep_floor(draft)
    return Decided(draft.facts, draft.state)


def _obey_human(draft: Draft, command: commands.HumanCommand, at: str) -> None:
    if isinstance(command, commands.Post):
        _post(draft, command)
        return
    by = guess_sender(draft.state, command.by)
    match command:
        case commands.Answer():
            steps.answer(draft, command, by, at)
        case commands.End():
            draft.end("ended")
        case commands.Pause():
            controls.pause(draft, by)
        case commands.Resume():
            controls.resume(draft)
        case commands.Retry():
            controls.retry(draft)
        case commands.CancelTurn():
            controls.cancel(draft, by)
        case commands.ChangeQueue():
            controls.change_queue(draft, command)
        case commands.SetLanguage(language=language):
            draft.add(LanguageChanged(language=language))
        case _:
            assert_never(command)


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


def _report_step(draft: Draft, command: commands.ReportStep) -> None:
    turn = _running(draft.state, command.turn_id)

    def safe(said: str | None) -> str | None:
        return None if said is None else text.cut(text.clean(said), limits.HISTORY_CHARS)

    draft.add(
        TurnStepped(
            turn_id=turn.turn_id,
            member=turn.member,
            thought=safe(command.thought),
            action=safe(command.action),
            observation=safe(command.observation),
        )
    )


def _keep_floor(draft: Draft) -> None:
    """When nothing runs, the log ends by naming the human who has the floor, whatever was done in between."""
    state = draft.state
    if state.status is not Status.PAUSED or not draft.facts or isinstance(draft.facts[-1], SessionPaused):
        return
    reason = state.pause_reason if state.pause_reason != "step" or state.open_steps else None
    draft.add(SessionPaused(waiting_for=controls.floor_holder(state).id, reason=reason or "fallback"))
