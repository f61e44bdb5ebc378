"""The front door of the plan flow: understood, routed, asked about."""

import pytest

from moot.core import limits
from moot.core.codec import Head, decode, stamp
from moot.core.effects import Understand
from moot.core.flows.registry import flow_of
from moot.core.intake.front_door import semantic_input
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import Answer, Post, ReportUnderstanding
from moot.core.session.events import NoticePosted, RoutingDecided, SessionPaused, StepAsked, UnderstandingStarted
from moot.testing import PlanScenario, analyse, control, plan_given, task
from tests.core.plan_teams import PAIR, TEAM, make_plan_team, planned, solving
from tests.core.teams import only

EXPLICIT = make_plan_team(understanding="explicit")


def options(scenario: PlanScenario, code: str) -> list[str]:
    return [option.id for option in scenario.step(code).options]


def test_inputs_are_understood_one_after_the_other() -> None:
    """Each in its turn, none lost; the work goes on meanwhile."""
    scenario = solving().says("one").says("two").says("three")
    assert [each.text for each in scenario.state.door.inputs] == ["one", "two", "three"]
    understand = [effect.input.text for effect in outstanding(scenario.state) if isinstance(effect, Understand)]
    assert understand == ["one"]
    scenario.understands("same_task_no_change").understands("same_task_no_change")
    assert [each.text for each in scenario.state.door.inputs] == ["three"]


def test_an_understanding_counts_once() -> None:
    """Exactly once: a second report about the same input is stale."""
    report = ReportUnderstanding(input_id="i2", analysis=analyse("same_task_no_change"))
    scenario = solving().says("x").when(report).when(report).refused("stale_turn")
    scenario.when(ReportUnderstanding(input_id="i99", analysis=analyse("same_task_no_change"))).refused("stale_turn")


def test_no_more_inputs_wait_than_the_limit() -> None:
    """A limit on everything: inputs that wait to be understood or answered count together."""
    scenario = solving()
    for number in range(limits.INPUTS - 1):
        scenario.says(f"{number}")
    scenario.understands("different_task").says("last").says("one too many").refused("too_many_inputs")


@pytest.mark.parametrize("confidence", [0.0, 0.3, 0.59])
def test_low_confidence_asks(confidence: float) -> None:
    """Below 0.6 the human says what it means; nothing happens before."""
    scenario = solving().says("hm").understands("same_task_major_change", confidence)
    assert only(scenario.new, RoutingDecided)[0].route == "wait_user_decision"
    assert only(scenario.new, RoutingDecided)[0].user_confirmation_required
    assert options(scenario, "ask_unsure") == [
        "continue",
        "minor_replan",
        "replan",
        "finish_first",
        "close_and_start",
        "drop",
        "abort",
    ]


@pytest.mark.parametrize("confidence", [1.7, -0.1, float("inf"), float("nan")])
def test_an_impossible_confidence_asks(confidence: float) -> None:
    """Validated, then WAIT_USER_DECISION; and the log can be read again."""
    scenario = solving().says("hm").understands("same_task_no_change", confidence)
    assert scenario.step("ask_unsure")
    events = stamp(TEAM, "session-1", Head(), scenario.new, "2026-01-01T00:00:00.000Z")
    assert [decode(event.data, event.hash).fact for event in events] == scenario.new


def test_a_doubtful_control_is_one_of_the_choices() -> None:
    """Below 0.6 → wait_user_decision; what was probably meant comes first."""
    scenario = solving().starts("a").says("er, stop?").understands(control("pause", 0.4))
    assert options(scenario, "ask_unsure")[0] == "pause"
    assert scenario.answers("ask_unsure", "pause").state.interrupt == "PAUSING"


def test_a_doubtful_small_change_is_asked_about() -> None:
    """minor_change at 0.7 or below."""
    scenario = solving().says("hm").understands("same_task_minor_change", 0.7)
    scenario.answers("ask_unsure", "minor_replan")
    assert scenario.turn("patch")


@pytest.mark.parametrize("choice", ["continue", "minor_replan", "replan", "finish_first", "close_and_start", "drop"])
def test_every_choice_leads_somewhere(choice: str) -> None:
    """WAIT_USER_DECISION → what the human chose."""
    scenario = solving().says("a poem").understands("different_task", 0.4).answers("ask_unsure", choice)
    match choice:
        case "continue":
            scenario.then("agent.user_confirm_closed")
        case "minor_replan":
            assert scenario.turn("patch")
        case "replan":
            assert (scenario.work.status, scenario.work.feedback) == (Flow.PLAN_LOOP, "a poem")
        case "finish_first":
            assert [each.text for each in scenario.state.door.deferred] == ["a poem"]
        case "close_and_start":
            assert scenario.work.question == "a poem"
        case _:
            assert [fact.code for fact in only(scenario.new, NoticePosted)] == ["input_dropped"]


def test_a_plan_in_the_making_offers_no_small_change() -> None:
    """Minor or major, the planner plans again."""
    scenario = planned().says("hm").understands("same_task_no_change", 0.4)
    assert "minor_replan" not in options(scenario, "ask_unsure")
    assert scenario.answers("ask_unsure", "replan").turn("plan")


def test_a_question_is_for_who_spoke() -> None:
    """The human whose input it is has the floor; anybody may answer."""
    scenario = planned(PAIR).says("hm", by="adam").understands("same_task_no_change", 0.4)
    assert scenario.step("ask_unsure").asked_by == "adam"
    scenario.rejects(by="alice")
    assert scenario.new[-1] == SessionPaused(waiting_for="adam", reason="step")
    assert scenario.answers("ask_unsure", "drop", by="alice").refusal is None


def test_clarifications_are_asked_at_most_twice() -> None:
    """need_clarification asks one step, at most twice; then the analysis counts as it is."""
    scenario = plan_given(TEAM).says("do it")
    for answer in ("the thing", "you know"):
        scenario.understands("different_task", clarification="do what?")
        asked = only(scenario.new, StepAsked)[0]
        assert (asked.kind, asked.question, asked.asked_by) == ("ask_user", "do what?", "alice")
        scenario.answers("", answer=answer)
    assert only(scenario.new, UnderstandingStarted)[0].input.text == "do it\nthe thing\nyou know"
    scenario.understands("different_task", clarification="do what?")
    assert scenario.work.question == "do it\nthe thing\nyou know"


def test_a_clarification_needs_words() -> None:
    """An empty answer is refused and the question stays; a choice of it means nothing."""
    scenario = plan_given(TEAM).says("do it").understands("different_task", clarification="what?")
    scenario.answers("", answer=" ").refused("bad_answer")
    scenario.when(Answer(step_id=scenario.step("").step_id, by="alice", choice="close_and_start")).refused("bad_answer")
    assert scenario.answers("", answer="a poem").refusal is None


def test_a_question_that_asks_is_made_safe() -> None:
    """What a model asks is untrusted text."""
    scenario = plan_given(TEAM).says("do it").understands("different_task", clarification="\x1b[2Jwhat?\u202e")
    assert scenario.step("").question == "what?"


def test_another_input_while_a_question_is_open() -> None:
    """While a question waits, work and inputs go on; both answers count."""
    scenario = solving().says("a poem").understands("different_task").says("a song").understands("different_task")
    assert [step.input.text for step in scenario.state.open_steps.values() if step.input] == ["a poem", "a song"]
    scenario.answers("ask_new_task", "finish_first").answers("ask_new_task", "finish_first")
    assert [each.text for each in scenario.state.door.deferred] == ["a song", "a poem"]


def test_a_fallback_to_the_rules_is_said() -> None:
    """Invalid output of a model is asked for once more, then the rules answer and a notice says so."""
    report = ReportUnderstanding(input_id="i1", analysis=analyse("different_task"), fallback_reason="no JSON")
    scenario = plan_given(TEAM).says("x").when(report)
    assert [fact.code for fact in only(scenario.new, NoticePosted)] == ["understood_by_rules"]


def test_explicit_understanding_needs_no_understander() -> None:
    """Markers and commands only: a new goal when nothing is under way, else the human says what it means."""
    scenario = plan_given(EXPLICIT).says("write")
    scenario.then(
        "message.posted", "routing.decided", "workflow.changed", "plan.start", "turn.started", "session.activated"
    )
    scenario.says("shorter").says("bluer")
    assert [fact.input_id for fact in only(scenario.facts, RoutingDecided)] == ["i1", "i2", "i3"]
    assert len(scenario.state.open_steps) == 2


def test_markers_have_no_queue_to_change_here() -> None:
    """[NEXT:] and [DROP:] mean nothing; what else was said still counts."""
    scenario = plan_given(TEAM).says("[NEXT: w1] write")
    assert [fact.code for fact in only(scenario.new, NoticePosted)] == ["no_queue_here"]
    assert [each.text for each in scenario.state.door.inputs] == ["write"]


def test_a_message_for_a_member_is_not_told_of_queues() -> None:
    """Who wrote no marker, as in a comment on lines, did nothing that has no meaning here."""
    scenario = plan_given(TEAM).when(Post(text="write", to=("w1",)))
    assert only(scenario.new, NoticePosted) == []
    assert [each.text for each in scenario.state.door.inputs] == ["write"]


@pytest.mark.parametrize("text", ["[DONE]", "/end"])
def test_people_end_the_session(text: str) -> None:
    """The work stops with it."""
    scenario = solving().when(Post(text=text, by="alice"))
    assert [fact.event for fact in scenario.new][-1] == "session.completed"
    assert scenario.work.status is Flow.FAILED


def test_what_an_understander_is_given() -> None:
    """Status, current task with its counts, tasks, history without the input itself."""
    scenario = solving(TEAM, task("a"), task("b"), task("c")).completes("a").task_fails("b", "auth").says("and now?")
    given = semantic_input(scenario.state, "and now?", flow_of(scenario.state))
    current = given.system_state.current_task
    assert current is not None
    assert given.system_state.workflow_status == "execution"
    assert (current.goal, current.completed_tasks, current.blocked_tasks) == ("write a report", 1, 1)
    assert [(each.id, each.status) for each in given.tasks] == [("a", "DONE"), ("b", "BLOCKED"), ("c", "DISPATCHING")]
    assert [each.content for each in given.recent_history] == ["write a report"]
