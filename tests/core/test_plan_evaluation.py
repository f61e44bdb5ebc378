"""Whether a plan still holds: the planner is asked first, people where it cannot say."""

import pytest

from moot.core import limits
from moot.core.flows.plan.plan_commands import CancelTask, Replan, RestartTask
from moot.core.flows.plan.plan_events import (
    EvaluationStarted,
    GoalChanged,
    Interrupted,
    PlanEvaluated,
    PlanStarted,
    TaskSkipped,
    WorkflowChanged,
)
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CancelTurn, CompleteTurn
from moot.testing import PlanScenario, task
from tests.core.plan_teams import TEAM, make_plan_team, planned, retrying, solving
from tests.core.teams import only, turn_input


def doubtful() -> PlanScenario:
    """A task that another one depends on has failed for good."""
    return solving(TEAM, task("a"), task("b", "a")).task_fails("a", "auth", "no key")


def triggers(scenario: PlanScenario) -> list[str]:
    return [fact.trigger for fact in only(scenario.new, WorkflowChanged)]


# after a failure


def test_a_failure_that_others_depend_on_is_weighed_by_the_planner() -> None:
    """The planner is given the plan with its states, the task and the failure; nobody is asked yet."""
    scenario = doubtful()
    assert (triggers(scenario), scenario.work.status) == (["major_failure"], Flow.REPLAN_EVALUATION)
    assert only(scenario.new, EvaluationStarted)[0].task_id == "a"
    given = turn_input("session-1", scenario.state, scenario.turn("evaluate")).assignment
    assert given is not None
    assert (given.trouble, given.task and given.task.id) == ("auth: no key", "a")
    assert [(report.task.id, report.state) for report in given.tasks] == [("a", "BLOCKED"), ("b", "CREATED")]
    assert scenario.state.open_steps == {}


def test_a_failure_that_nobody_depends_on_is_the_humans() -> None:
    """The plan holds without it: there is nothing to weigh."""
    scenario = solving(TEAM, task("a"), task("b")).task_fails("a", "auth")
    assert (triggers(scenario), scenario.work.status) == ([], Flow.EXECUTION)
    assert scenario.step("task_failed")


def test_the_planner_plans_again() -> None:
    """replan_required: the next plan is made with the failure as feedback and the snapshot of what is done."""
    scenario = doubtful().evaluates("replan", "another source is needed")
    assert triggers(scenario) == ["replan_required"]
    assert only(scenario.new, PlanEvaluated)[0].reason == "another source is needed"
    begun = only(scenario.new, PlanStarted)[0]
    assert (begun.feedback, begun.snapshot_id) == ("Task a: auth no key", "x1")
    assert scenario.work.replan_reason == "major_failure"


def test_the_planner_goes_on_without_the_task() -> None:
    """replan_not_required: the task is skipped, what depends on it runs, and the end is partial."""
    scenario = doubtful().evaluates("continue", "b works without it")
    assert (triggers(scenario), scenario.work.status) == (["replan_not_required"], Flow.EXECUTION)
    assert only(scenario.new, TaskSkipped)[0].task_id == "a"
    assert scenario.offered == ["b"]
    assert scenario.completes("b").aggregates().work.outcome == "partial"


@pytest.mark.parametrize("said", ["I do not know", '{"decision": "maybe"}', '{"decision": ["replan"]}', ""])
def test_a_planner_that_cannot_say_leaves_it_to_people(said: str) -> None:
    """user_decision_required: the question is the one that was asked before planners were."""
    scenario = doubtful()
    scenario.when(CompleteTurn(turn_id=scenario.turn("evaluate").turn_id, text=said))
    assert triggers(scenario) == ["user_decision_required"]
    assert (scenario.step("task_failed").task_id, scenario.step("task_failed").detail) == ("a", "no key")
    assert scenario.answers("task_failed", "retry").offered == ["a"]


def test_a_decision_may_stand_in_prose() -> None:
    """One tolerant reader for planners that write."""
    scenario = doubtful()
    text = 'Well:\n```json\n{"decision": "continue", "reason": "fine"}\n```'
    scenario.when(CompleteTurn(turn_id=scenario.turn("evaluate").turn_id, text=text))
    assert only(scenario.new, PlanEvaluated)[0].decision == "continue"


def test_a_planner_that_gives_up_ends_the_work() -> None:
    """unrecoverable_failure: FAILED, and the session waits for a human."""
    scenario = doubtful().evaluates("abort", "it cannot be done")
    assert triggers(scenario) == ["replan_not_required", "unrecoverable_failure"]
    assert only(scenario.new, Interrupted)[0].reason == "planner_abort"
    assert (scenario.work.status, scenario.state.door.state) == (Flow.FAILED, "FAILED")


def test_a_human_who_gives_up_on_a_failure_ends_the_work_as_unrecoverable() -> None:
    """In EXECUTION the answer is unrecoverable_failure, in WAIT_USER_DECISION it is user_abort."""
    alone = solving(TEAM, task("a"), task("b")).task_fails("a", "auth").answers("task_failed", "abort")
    assert (triggers(alone), alone.work.outcome) == (["unrecoverable_failure"], "user_abort")
    assert triggers(doubtful().answers("task_failed", "abort")) == ["user_abort"]


def test_a_planner_that_fails_to_weigh_is_retried_and_then_people_decide() -> None:
    """Never stuck: the question about the task is asked, not one about the planner."""
    team = make_plan_team(plan=retrying(1))
    scenario = solving(team, task("a"), task("b", "a")).task_fails("a", "auth").job_fails("evaluate").waits()
    scenario.job_fails("evaluate")
    assert scenario.step("task_failed").task_id == "a"


def test_other_tasks_go_on_while_the_planner_weighs() -> None:
    """The answer waits for the decision; the tasks do not."""
    scenario = solving(TEAM, task("a"), task("b", "a"), task("c"), task("d", "c")).task_fails("a", "auth")
    assert scenario.completes("c").offered == ["d"]


@pytest.mark.parametrize("command", [RestartTask(task_id="a", by="alice"), CancelTask(task_id="a", by="alice")])
def test_what_people_do_to_the_task_ends_the_weighing(command: RestartTask | CancelTask) -> None:
    """There is nothing to weigh any more: the planner's turn is cancelled."""
    scenario = doubtful().when(command)
    assert [turn.job for turn in scenario.state.running] == []
    assert triggers(scenario) == ["replan_not_required"]


def test_a_weighing_that_waits_to_be_retried_ends_with_the_restart_of_its_task() -> None:
    """The retry would begin outside of the evaluation, where nothing that the planner decides can be carried out."""
    scenario = doubtful().job_fails("evaluate").when(RestartTask(task_id="a", by="alice"))
    scenario.waits()
    assert [turn.job for turn in scenario.state.running] == []
    scenario.completes("a").completes("b").aggregates("all of it")
    assert scenario.work.status is Flow.COMPLETED


def test_people_may_replan_or_cancel_while_the_planner_weighs() -> None:
    """Their word counts at once."""
    assert triggers(doubtful().when(Replan(feedback="better", by="alice"))) == ["replan_required"]
    assert triggers(doubtful().when(CancelTurn(by="alice"))) == ["user_abort"]


def test_planners_do_not_replan_for_ever() -> None:
    """Where nobody confirms plans, the third doubt in a row is a human's."""
    scenario = planned(make_plan_team(plan=PlanSettings(confirm="never")), task("a"), task("b", "a"))
    for _ in range(limits.REPLANS):
        scenario.task_fails("a", "auth").evaluates("replan").plans(task("a"), task("b", "a"))
    scenario.task_fails("a", "auth")
    assert [turn.job for turn in scenario.state.running] == []
    assert scenario.step("task_failed")


# after a large change


def test_a_large_change_is_weighed_by_the_planner() -> None:
    """The planner is given what the person said; meanwhile the work goes on."""
    scenario = solving().says("for children").understands("same_task_major_change")
    assert triggers(scenario) == ["major_change"]
    given = turn_input("session-1", scenario.state, scenario.turn("evaluate")).assignment
    assert given is not None
    assert given.trouble == "for children"
    assert scenario.completes("a").offered == ["b", "c"]


def test_a_large_change_that_needs_another_plan_gets_one() -> None:
    """replan_required with the new goal; the plan is confirmed like every other."""
    scenario = solving().says("for children").understands("same_task_major_change").evaluates("replan")
    assert triggers(scenario) == ["replan_required"]
    assert only(scenario.new, GoalChanged)[0].question == "write a report\nChange: for children"
    assert scenario.plans(task("x")).step("confirm_plan")


def test_a_large_change_that_the_plan_covers_changes_nothing() -> None:
    """replan_not_required, with the planner's reason in the log."""
    scenario = solving().says("for children").understands("same_task_major_change")
    scenario.evaluates("continue", "it is for children already")
    assert (triggers(scenario), scenario.work.question) == (["replan_not_required"], "write a report")


def test_the_answer_waits_for_a_decision_about_the_change() -> None:
    """WAIT_USER_DECISION until a human says what becomes of the change; then the results become the answer."""
    scenario = solving(TEAM, task("a")).says("for children").understands("same_task_major_change").evaluates("ask")
    scenario.completes("a")
    assert (scenario.work.status, scenario.state.waiting_for) == (Flow.WAIT_USER_DECISION, "alice")
    assert scenario.answers("ask_replan", "continue").turn("aggregate")
