"""The review gate: pass, rework with the feedback, the human; reviewers that say nothing."""

import pytest
from msgspec.structs import replace

from moot.core.flows.plan import staffing
from moot.core.flows.plan.plan_commands import CancelTask, RestartTask
from moot.core.flows.plan.plan_events import (
    AggregateReviewed,
    FinalAnswered,
    PipelineCompleted,
    PlanReviewed,
    RecoveryStarted,
    TaskReviewed,
)
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CompleteTurn, Retry
from moot.core.session.team import Team
from moot.testing import task
from tests.core.plan_teams import AGGREGATOR, GATED, REVIEWER, make_plan_team, planned, solving, worker
from tests.core.teams import only, task_input, turn_input


def test_a_passed_review_is_done() -> None:
    """task_review_result pass → DONE, and what depends on it starts."""
    scenario = solving(GATED).completes("a").then("solver.completed", "turn.started")
    assert (scenario.state_of("a"), scenario.offered) == (TaskState.REVIEWING, [])
    scenario.reviews("a", passes=True).then(
        "turn.completed", "task.reviewed", "task.dispatch_requested", "task.dispatch_requested"
    )
    assert scenario.state_of("a") is TaskState.DONE


def test_a_rejected_task_is_done_again_with_the_feedback() -> None:
    """review_reject → rework; the worker is told what was wrong."""
    scenario = solving(GATED, task("a")).completes("a").reviews("a", passes=False, feedback="too long\x1b[0m")
    scenario.then("turn.completed", "task.reviewed", "task.dispatch_requested")
    run = scenario.run("a")
    given = task_input("session-1", scenario.state, run).assignment
    assert given is not None
    assert (given.feedback, given.attempt) == ("too long", 2)


def test_after_the_last_rework_a_human_decides() -> None:
    """At most max_rework (2); then the planner's matter: REPLAN_EVALUATION and a question."""
    scenario = solving(GATED, task("a"))
    for _ in range(3):
        scenario.completes("a").reviews("a", passes=False, feedback="no")
    assert [fact.is_reworked for fact in only(scenario.facts, TaskReviewed)] == [True, True, False]
    assert (scenario.state_of("a"), scenario.work.replan_reason) == (TaskState.BLOCKED, "review_reject")
    assert scenario.step("review_failed").detail == "no"
    assert scenario.answers("review_failed", "skip").turn("aggregate")


@pytest.mark.parametrize("said", ["looks fine to me", '{"pass": "yes"}', '{"verdict": true}', ""])
def test_a_reviewer_without_a_verdict_is_asked_again(said: str) -> None:
    """No verdict is a failed review: retried at once the first time, never taken for a pass."""
    scenario = solving(GATED, task("a")).completes("a")
    scenario.when(CompleteTurn(turn_id=scenario.turn("review").turn_id, text=said))
    scenario.then("turn.failed", "error.execution", "error.recovery_started")
    assert only(scenario.new, RecoveryStarted)[0].delay_s == 0.0
    scenario.waits()
    given = turn_input("session-1", scenario.state, scenario.turn("review")).assignment
    assert given is not None
    assert "no verdict found" in given.problems[0]
    assert scenario.reviews("a", passes=True).state_of("a") is TaskState.DONE


def test_a_reviewer_that_cannot_is_the_humans_decision() -> None:
    """Skip takes the result as it is."""
    scenario = solving(GATED, task("a")).completes("a").job_fails("review", "auth")
    assert [option.id for option in scenario.step("job_failed").options] == ["retry", "skip", "abort"]
    assert scenario.answers("job_failed", "skip", by="alice").state_of("a") is TaskState.DONE
    assert only(scenario.new, TaskReviewed)[0].member == "alice"


def test_the_verdict_may_stand_in_prose() -> None:
    """One tolerant reader."""
    scenario = solving(GATED, task("a")).completes("a")
    said = 'I think\n```json\n{"pass": true, "feedback": ""}\n```'
    scenario.when(CompleteTurn(turn_id=scenario.turn("review").turn_id, text=said))
    assert scenario.state_of("a") is TaskState.DONE


def test_a_last_answer_of_another_kind_lets_the_workflow_go_on_too() -> None:
    """Never stuck: the workflow waits for decisions about work until the last of them, whichever it is."""
    scenario = solving(GATED, task("a"), task("b"), task("c", "b")).completes("a").task_fails("b", "auth")
    scenario.job_fails("review", "auth", task_id="a")
    assert scenario.answers("task_failed", "skip").work.status is Flow.WAIT_USER_DECISION
    assert scenario.answers("job_failed", "retry").work.status is Flow.EXECUTION
    scenario.reviews("a", passes=True).completes("c").reviews("c", passes=True)
    assert scenario.turn("aggregate")


def test_a_plan_waiting_for_confirmation_is_no_failure() -> None:
    """/retry means nothing then."""
    planned().when(Retry(by="alice")).refused("nothing_to_retry")


@pytest.mark.parametrize("command", [RestartTask(task_id="a", by="alice"), CancelTask(task_id="a", by="alice")])
@pytest.mark.parametrize("waits", [True, False])
def test_a_review_that_is_not_wanted_any_more_does_not_come_back(
    command: RestartTask | CancelTask, waits: bool
) -> None:
    """Never stuck: a review that failed and waits, or runs again, ends with its task being restarted or cancelled."""
    scenario = solving(GATED, task("a"), task("b")).completes("a").job_fails("review")
    scenario = scenario if waits else scenario.waits()
    scenario.when(command)
    assert scenario.work.episodes == {}
    assert [turn.job for turn in scenario.state.running] == []
    scenario.completes("b").reviews("b", passes=True)
    if isinstance(command, RestartTask):
        scenario.completes("a").reviews("a", passes=True)
    assert scenario.turn("aggregate")


# the plan itself, before people are asked

CHECKED = make_plan_team(worker("w1"), REVIEWER, plan=PlanSettings(review=True))
UNASKED = make_plan_team(worker("w1"), REVIEWER, plan=PlanSettings(review=True, confirm="never"))


def test_a_plan_is_reviewed_before_people_are_asked() -> None:
    """The reviewer is given the goal and the tasks; the question comes when the plan has passed."""
    scenario = planned(CHECKED, task("a"), task("b", "a")).then("turn.completed", "plan.completed", "turn.started")
    given = turn_input("session-1", scenario.state, scenario.turn("review_plan")).assignment
    assert given is not None
    assert (given.question, [report.task.id for report in given.tasks]) == ("write a report", ["a", "b"])
    scenario.reviews_plan(passes=True)
    assert only(scenario.new, PlanReviewed)[0].passed
    assert scenario.approves().offered == ["a"]


def test_a_rejected_plan_goes_back_to_the_planner_with_the_feedback() -> None:
    """The planner sees its plan and what is wrong with it."""
    scenario = planned(CHECKED, task("a")).reviews_plan(passes=False, feedback="nobody checks the facts")
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert (given.problems, [report.state for report in given.tasks]) == (("nobody checks the facts",), ["PROPOSED"])
    scenario.plans(task("a"), task("b", "a")).reviews_plan(passes=True)
    assert [each["id"] for each in scenario.step("confirm_plan").tasks or ()] == ["a", "b"]


@pytest.mark.parametrize("team", [CHECKED, UNASKED])
def test_after_two_rejections_people_decide_about_the_plan(team: Team) -> None:
    """Twice at most; then a human is asked with the reviewer's doubts, also in a team that confirms nothing."""
    scenario = planned(team, task("a"))
    for _ in range(2):
        scenario.reviews_plan(passes=False, feedback="no").plans(task("a"))
    scenario.reviews_plan(passes=False, feedback="still no")
    assert [(fact.n, fact.is_reworked) for fact in only(scenario.facts, PlanReviewed)] == [
        (1, True),
        (2, True),
        (3, False),
    ]
    assert scenario.step("confirm_plan").detail == "still no"
    assert scenario.approves(by="alice").offered == ["a"]


def test_a_plan_that_passes_runs_where_nobody_confirms() -> None:
    """The review gate is the only gate then: PLAN_LOOP → EXECUTION by plan_approved."""
    scenario = planned(UNASKED, task("a")).reviews_plan(passes=True)
    assert scenario.work.status is Flow.EXECUTION
    assert scenario.offered == ["a"]


def test_a_plan_review_that_fails_can_be_skipped() -> None:
    """Never stuck: a human goes on without the review."""
    scenario = planned(CHECKED, task("a")).job_fails("review_plan", "auth").answers("job_failed", "skip")
    assert scenario.step("confirm_plan")
    scenario.says("shorter").understands("same_task_minor_change").plans(task("b"))
    assert scenario.turn("review_plan")


def test_what_is_said_during_a_plan_review_makes_another_plan() -> None:
    """The plan in review is not the one that is wanted any more."""
    scenario = planned(CHECKED, task("a")).says("shorter").understands("same_task_minor_change")
    assert [turn.job for turn in scenario.state.running] == ["plan"]


# the answer, before it is given

FINAL = make_plan_team(worker("w1"), REVIEWER, AGGREGATOR, plan=PlanSettings(final_review=True))


def test_the_answer_is_given_when_its_review_has_passed() -> None:
    """EXECUTION → COMPLETED only after the final review; the reviewer is given the answer and the results."""
    scenario = solving(FINAL, task("a")).completes("a", "A").reviews("a", passes=True).aggregates("all of it")
    assert scenario.work.status is Flow.EXECUTION
    given = turn_input("session-1", scenario.state, scenario.turn("review_answer")).assignment
    assert given is not None
    assert (given.answer, [report.result for report in given.tasks]) == ("all of it", ["A"])
    scenario.reviews_answer(passes=True)
    assert (scenario.work.status, scenario.work.outcome) == (Flow.COMPLETED, "complete")
    assert only(scenario.new, FinalAnswered) == [FinalAnswered(text="all of it", member="editor")]


def test_a_rejected_answer_is_written_once_more() -> None:
    """The aggregator is told what to change; a second rejection ends the work as partial."""
    scenario = solving(FINAL, task("a")).completes("a").reviews("a", passes=True).aggregates("bad")
    scenario.reviews_answer(passes=False, feedback="name the sources")
    given = turn_input("session-1", scenario.state, scenario.turn("aggregate")).assignment
    assert given is not None
    assert given.feedback == "name the sources"
    scenario.aggregates("better").reviews_answer(passes=False, feedback="no")
    assert [(fact.n, fact.is_reworked) for fact in only(scenario.facts, AggregateReviewed)] == [(1, True), (2, False)]
    assert only(scenario.new, PipelineCompleted) == [PipelineCompleted(status="partial", is_rejected=True)]
    assert only(scenario.new, FinalAnswered)[0].text == "better"


def test_a_skipped_task_makes_the_end_partial() -> None:
    """Rejected to the last and skipped, or failed and skipped: the end names what is missing."""
    scenario = solving(GATED, task("a"), task("b"))
    for _ in range(3):
        scenario.completes("a").reviews("a", passes=False, feedback="no")
    scenario.answers("review_failed", "skip").completes("b").reviews("b", passes=True).aggregates()
    assert only(scenario.new, PipelineCompleted) == [PipelineCompleted(status="partial", missing=("Task a",))]


def test_new_work_during_the_final_review_is_done_first() -> None:
    """A change makes the answer incomplete: its review ends, and another answer is made."""
    scenario = solving(FINAL, task("a")).completes("a").reviews("a", passes=True).aggregates("old")
    scenario.says("and b").understands("same_task_minor_change")
    scenario.patches({"op": "add", "task_id": "b", "changes": {"title": "B"}})
    assert [turn.job for turn in scenario.state.running] == []
    scenario.completes("b").reviews("b", passes=True).aggregates("new").reviews_answer(passes=True)
    assert [fact.text for fact in only(scenario.facts, FinalAnswered)] == ["new"]


def test_a_final_review_that_fails_can_be_skipped() -> None:
    """Never stuck: a human takes the answer without it."""
    scenario = solving(FINAL, task("a")).completes("a").reviews("a", passes=True).aggregates("it")
    scenario.job_fails("review_answer", "auth").answers("job_failed", "skip")
    assert scenario.work.outcome == "complete"


# nobody reviews what it made itself


def test_a_task_that_a_human_gave_to_the_reviewer_is_not_reviewed_by_it() -> None:
    """With a second reviewer that one reviews it, without one nobody does."""
    alone = solving(GATED, task("a")).task_fails("a", "auth").answers("task_failed", "reassign", answer="critic")
    assert alone.completes("a").state_of("a") is TaskState.DONE
    second = worker("judge", 30, role="Reviewer")
    pair = solving(make_plan_team(worker("w1"), REVIEWER, second), task("a")).task_fails("a", "auth")
    pair.answers("task_failed", "reassign", answer="critic").completes("a")
    assert pair.turn("review", "a").member == "judge"


def test_a_team_without_a_planner_is_not_planned_by_its_reviewer() -> None:
    """The first AI that does not review plans."""
    team = make_plan_team(worker("w1", 20), REVIEWER)
    team = replace(team, members=tuple(each for each in team.members if each.role != "planner"))
    assert staffing.planner(team).id == "w1"
