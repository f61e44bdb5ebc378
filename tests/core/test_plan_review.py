"""The review gate: pass, rework with the feedback, the human; reviewers that say nothing."""

import pytest

from moot.core.flows.plan.plan_commands import CancelTask, RestartTask
from moot.core.flows.plan.plan_events import RecoveryStarted, TaskReviewed
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CompleteTurn, Retry
from moot.testing import task
from tests.core.plan_teams import GATED, planned, solving
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
