"""The human's confirmation of a plan."""

import pytest

from moot.core.effects import StepDeadline
from moot.core.flows.plan.plan_events import PlanApproved, SolverStarted
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.plan.tasks import plan_hash
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import Answer, ExpireStep, Retry
from moot.core.session.events import SessionPaused, StepAsked, StepClosed
from moot.core.states import decode, encode
from moot.testing import task
from tests.core.plan_teams import PAIR, TEAM, make_plan_team, planned, solving
from tests.core.teams import only

IN_TIME = make_plan_team(plan=PlanSettings(confirm_timeout_s=300.0))  # nobody has set a time by default
CONFIRM = "confirm_plan_p1"


def test_what_runs_is_what_was_shown() -> None:
    """The hash of the question is that of what was approved, and of what the solvers are given."""
    scenario = solving()
    approved = only(scenario.new, PlanApproved)[0]
    assert approved.plan_hash == only(scenario.facts, StepAsked)[0].plan_hash
    assert (approved.by, approved.plan_id) == ("alice", "p1")
    assert only(scenario.starts("a").new, SolverStarted)[0].task == approved.tasks[0]


def test_the_answer_may_edit_the_tasks() -> None:
    """The edited tasks run, their hash is new, and the answer keeps them."""
    edited = (task("a", objective="in blue"), task("x", "a"))
    scenario = planned().approves(tasks=edited, by="alice")
    approved, shown = only(scenario.new, PlanApproved)[0], only(scenario.facts, StepAsked)[0]
    assert [each["id"] for each in approved.tasks] == ["a", "x"]
    assert approved.plan_hash == plan_hash([run.task for run in scenario.work.tasks.values()]) != shown.plan_hash
    assert only(scenario.new, StepClosed)[0].tasks == approved.tasks
    assert only(scenario.starts("a").new, SolverStarted)[0].task["objective"] == "in blue"


def test_answering_with_the_tasks_as_shown_changes_nothing() -> None:
    """Unknown keys are kept, so that the tasks exactly as shown are valid."""
    scenario = planned(TEAM, task("a", colour="red", nested={"deep": [1, None, True]}), {"id": 7, "title": "seven"})
    shown = scenario.step("confirm_plan")
    approved = only(scenario.approves(tasks=shown.tasks).new, PlanApproved)[0]
    assert approved.tasks == shown.tasks
    assert approved.plan_hash == shown.plan_hash
    assert [each["id"] for each in approved.tasks] == ["a", "7"]  # a number as id counts as its decimal string


def test_the_first_answer_wins() -> None:
    """Two humans answer one step; the second is told who was first."""
    scenario = planned(PAIR).approves(by="adam").when(Answer(step_id=CONFIRM, by="alice", confirmed=False))
    assert "adam" in scenario.refused("already_answered").refusal_text


@pytest.mark.parametrize("at", ["2026-01-01T00:04:59.999Z", "2026-01-01T00:05:00.000Z", "2027-01-01T00:00:00.000Z"])
def test_an_answer_counts_until_the_question_is_closed(at: str) -> None:
    """A timer of the server closes it; the wall clock, which may have jumped, does not."""
    scenario = planned().when(Answer(step_id=CONFIRM, by="alice", confirmed=True), at=at)
    assert scenario.work.status is Flow.EXECUTION


def test_expiry_cancels_the_plan() -> None:
    """No answer in five minutes → plan.cancelled(timeout); asking anew makes a new plan."""
    scenario = planned().when(ExpireStep(step_id=CONFIRM))
    scenario.then("agent.user_confirm_closed", "plan.cancelled", "workflow.changed", "session.paused")
    assert scenario.new[1].reason == "timeout"  # type: ignore[attr-defined]
    scenario.when(Answer(step_id=CONFIRM, by="alice", confirmed=True)).refused("confirmation_expired")
    scenario.says("write a report").understands("different_task")
    assert scenario.work.plan_id == "p2"


def test_a_plan_that_expired_is_asked_about_again() -> None:
    """The same plan, without the planner; approved, it runs. Only one that expired comes back."""
    scenario = planned(IN_TIME)
    tasks, summary = scenario.work.proposed, scenario.work.summary
    scenario.when(ExpireStep(step_id=CONFIRM)).when(Retry(by="alice"))
    asked = ("plan.start", "plan.completed", "agent.user_confirm", "workflow.changed", "session.paused")
    scenario.then("workflow.changed", *asked)
    assert (scenario.work.proposed, scenario.work.summary, scenario.work.question) == (tasks, summary, "write a report")
    assert not scenario.state.running
    scenario.when(ExpireStep(step_id="confirm_plan_p2")).when(Retry(by="alice"))
    scenario.when(Answer(step_id="confirm_plan_p3", by="alice", confirmed=True))
    assert (scenario.work.status, list(scenario.work.tasks)) == (Flow.EXECUTION, ["a", "b", "c"])
    planned().when(Answer(step_id=CONFIRM, by="alice", confirmed=False)).when(Retry(by="alice")).refused("no_workflow")


@pytest.mark.parametrize("step_id", ["confirm_plan_p2", "confirm_plan", "", "other-session"])
def test_a_guessed_step_is_unknown(step_id: str) -> None:
    """A step nobody asked is refused."""
    planned().when(Answer(step_id=step_id, by="alice", confirmed=True)).refused("unknown_step")


def test_an_ai_cannot_approve_its_plan() -> None:
    """Answers come from humans."""
    planned().when(Answer(step_id=CONFIRM, by="planner", confirmed=True)).refused("sender_is_ai")


def test_the_question_is_still_there_after_a_restart() -> None:
    """The deadline is a time of the clock, and the snapshot has the question."""
    scenario = planned(IN_TIME)
    scenario.state = decode(encode(scenario.state))
    assert outstanding(scenario.state) == [StepDeadline(CONFIRM, "2026-01-01T00:05:00.000Z", 300.0)]
    assert scenario.approves(by="alice").offered == ["a"]


def test_two_plans_are_asked_about_in_one_run() -> None:
    """Each confirmation has a step id of its own; both are shown."""
    scenario = planned().answers("confirm_plan", answer="make it shorter", by="alice").plans(task("a"))
    assert scenario.step("confirm_plan").step_id == "confirm_plan_p2"
    assert [step.step_id for step in only(scenario.facts, StepAsked)] == ["confirm_plan_p1", "confirm_plan_p2"]


@pytest.mark.parametrize("fields", [{}, {"choice": "explode"}, {"answer": " "}, {"choice": "retry", "confirmed": True}])
def test_an_answer_that_does_not_fit_leaves_the_plan_waiting(fields: dict[str, object]) -> None:
    """Refused with the options; the next answer counts."""
    scenario = planned().when(Answer(step_id=CONFIRM, by="alice", **fields))  # type: ignore[arg-type]
    assert "approve, reject" in scenario.refused("bad_answer").refusal_text
    assert scenario.approves().offered == ["a"]


# rejection


@pytest.mark.parametrize(
    "fields", [{"confirmed": False}, {"choice": "reject"}, {"choice": "reject", "confirmed": True}]
)
def test_a_rejected_plan_is_cancelled_and_the_session_waits(fields: dict[str, object]) -> None:
    """plan.cancelled(user_reject), then the session waits for new input; a choice beats `confirmed`."""
    scenario = planned().when(Answer(step_id=CONFIRM, by="alice", **fields))  # type: ignore[arg-type]
    scenario.then("agent.user_confirm_closed", "plan.cancelled", "workflow.changed", "session.paused")
    assert scenario.new[1].reason == "user_reject"  # type: ignore[attr-defined]
    assert (scenario.work.status, scenario.offered) == (Flow.FAILED, [])
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="finished")
    assert outstanding(scenario.state) == []
