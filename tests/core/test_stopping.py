"""Stopping what runs, at once, in every flow, without losing anything."""

import pytest

from moot.core.decide import decide
from moot.core.flows.plan.plan_events import LeaseExpired
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import TaskState
from moot.core.outstanding import outstanding
from moot.core.session.commands import FailTurn, Resume, Stop
from moot.core.session.events import SessionPaused, TurnCancelled, TurnFailed
from moot.core.session.state import Message
from moot.telling.teller import Teller
from moot.testing.scenario import AT, Scenario, given
from tests.core.plan_teams import solving
from tests.core.teams import make_chat_team, only, turn_input


def stopped(text: str = "half a dra") -> Scenario:
    """Bob was stopped after he had written something; Carol waits."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol] go")
    turn_id = scenario.state.running[0].turn_id
    decided = decide(scenario.state, Stop(by="alice"), AT, written={turn_id: text})
    scenario.state, scenario.new = decided.state, decided.facts
    scenario.facts += decided.facts
    return scenario


def test_a_stopped_turn_keeps_what_it_had_written() -> None:
    """The queue is kept, the stopper has the floor, and nothing runs."""
    scenario = stopped()
    (cancelled,) = only(scenario.new, TurnCancelled)
    assert (cancelled.reason, cancelled.partial) == ("stopped", "half a dra")
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="stopped")
    assert (scenario.queue, outstanding(scenario.state)) == (["carol"], [])


def test_a_partial_text_routes_nobody() -> None:
    """Markers in it are taken out."""
    assert only(stopped("half [NEXT: dave]").new, TurnCancelled)[0].partial == "half "


def test_later_turns_are_given_what_was_written() -> None:
    """It is in the history, marked as unfinished, and is not the message to answer."""
    scenario = stopped().says("[NEXT: carol!P1] go on")
    turn = turn_input("s", scenario.state, scenario.state.running[0])
    assert Message("bob", "half a dra", is_partial=True) in turn.history
    assert turn.message == Message("alice", " go on")
    scenario = stopped().says("/retry")
    assert turn_input("s", scenario.state, scenario.state.running[0]).message == Message("alice", " go")


def test_a_failed_turn_keeps_what_it_had_written() -> None:
    """A crash in the middle of a text does not lose it."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    turn_id = scenario.state.running[0].turn_id
    failure = FailTurn(turn_id=turn_id, error_type="network", message="gone")
    decided = decide(scenario.state, failure, AT, written={turn_id: "x" * 100_000})
    assert len(only(decided.facts, TurnFailed)[0].partial) == 20_000


def test_people_see_that_it_was_stopped() -> None:
    """The transcript has the text and a line about it."""
    teller = Teller()
    lines = [line for fact in stopped().facts for line in teller.lines(fact)]
    assert "⏹ Bob had written: half a dra" in lines
    assert any(line.startswith("⏹ Bob was stopped") for line in lines)


def test_resume_goes_on_with_the_queue_and_stop_needs_something_that_runs() -> None:
    """Nothing is completed or abandoned by stopping."""
    scenario = stopped()
    scenario.when(Stop(by="alice")).refused("nothing_running")
    assert [turn.member for turn in scenario.when(Resume(by="alice")).state.running] == ["carol"]


@pytest.mark.parametrize("by_text", [True, False])
def test_a_plan_is_paused_at_once_and_goes_on(by_text: bool) -> None:
    """Running tasks are ready again; resuming offers them anew."""
    scenario = solving()
    scenario.acks("a").starts("a")
    assert scenario.state_of("a") is TaskState.RUNNING
    scenario = scenario.says("/stop", by="alice") if by_text else scenario.when(Stop(by="alice"))
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="stopped")
    assert (scenario.state.interrupt, outstanding(scenario.state)) == (Interrupt.PAUSED, [])
    assert only(scenario.new, LeaseExpired)
    assert scenario.state_of("a") is TaskState.READY
    assert scenario.when(Resume(by="alice")).offered
