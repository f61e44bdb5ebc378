"""Pausing work and giving it new instructions."""

import pytest

from moot.core import limits
from moot.core.effects import Deadline, RunTask, RunTurn
from moot.core.flows.plan.plan_commands import EndGrace
from moot.core.flows.plan.plan_events import DispatchRequested, PlanCancelled, SnapshotSaved, SolverStarted
from moot.core.intake.intent import PlanPatch
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import AckDispatch, CancelTurn, ExpireDispatch, ExpireStep, Pause, Post, Resume
from moot.core.session.events import SessionPaused
from moot.core.session.settings import Budget
from moot.testing import PlanScenario, control, plan_given, task
from tests.core.plan_teams import GATED, PAIR, TEAM, make_plan_team, planned, solving
from tests.core.teams import only

PATCH = PlanPatch(op="modify", task_id="b", changes={"title": "Bee"})


def keys(scenario: PlanScenario) -> list[str]:
    return [effect.key for effect in outstanding(scenario.state)]


def paused(scenario: PlanScenario | None = None) -> PlanScenario:
    """A runs, and is stopped at the end of its grace."""
    return (scenario or solving().starts("a")).when(Pause(by="alice"), EndGrace())


# pause, grace, checkpoint, resume


def test_a_pause_gives_what_runs_a_short_grace() -> None:
    """PAUSING: running tasks may finish; nothing new is offered; the grace has an end."""
    scenario = solving(TEAM, task("a"), task("b", "a")).starts("a").when(Pause(by="alice"))
    scenario.then("session.pause_requested")
    grace = [each for each in outstanding(scenario.state) if isinstance(each, Deadline) and each.key == "grace"]
    assert [each.after_s for each in grace] == [limits.PAUSE_GRACE_S]
    scenario.completes("a").then("solver.completed", "workflow.snapshot_saved", "session.paused")
    assert (scenario.offered, scenario.state.interrupt) == ([], Interrupt.PAUSED)


def test_at_the_end_of_the_grace_a_checkpoint_is_saved() -> None:
    """PAUSING → PAUSED by checkpoint_saved; what still ran begins again later, with the same attempt."""
    scenario = solving(TEAM, task("a"), task("b"), task("c", "b")).completes("b").starts("a").when(Pause(by="alice"))
    scenario.when(EndGrace()).then("task.lease_expired", "workflow.snapshot_saved", "session.paused")
    saved = only(scenario.new, SnapshotSaved)[0]
    assert (saved.reason, saved.done, saved.waiting) == ("pause", ("b",), ("a",))
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="user_pause")
    assert keys(scenario) == []


def test_resume_goes_on_with_the_same_attempt() -> None:
    """The same attempt number; a pause costs a task nothing."""
    scenario = paused().when(Resume(by="alice")).then("session.activated", "task.dispatch_requested")
    assert (only(scenario.new, DispatchRequested)[0].attempt, only(scenario.new, DispatchRequested)[0].is_again) == (
        1,
        True,
    )
    assert only(scenario.starts("a").new, SolverStarted)[0].attempt == 1
    for _ in range(limits.LEASES_LOST + 5):
        paused(scenario.starts("a")).when(Resume(by="alice"))
    assert (scenario.run("a").leases_lost, scenario.state_of("a")) == (0, TaskState.DISPATCHING)


def test_a_pause_that_was_not_reached_is_taken_back() -> None:
    """Resume while PAUSING: what runs has never stopped."""
    scenario = solving().starts("a").when(Pause(by="alice"), Resume(by="alice")).then("session.activated")
    assert (scenario.state.interrupt, scenario.state_of("a")) == (Interrupt.EXECUTION, TaskState.RUNNING)
    scenario.when(EndGrace()).refused("stale_turn")


def test_a_pause_with_nothing_at_work_is_reached_at_once() -> None:
    """An offer that nobody has taken is not waited for; it is made again when the work goes on."""
    scenario = solving().when(Pause(by="alice"))
    scenario.then("session.pause_requested", "workflow.snapshot_saved", "session.paused")
    assert keys(scenario) == []
    scenario.when(AckDispatch(dispatch_id="d1")).refused("stale_turn")
    scenario.when(ExpireDispatch(dispatch_id="d1")).refused("stale_turn")
    scenario.when(Resume(by="alice"))
    assert [effect.dispatch_id for effect in outstanding(scenario.state) if isinstance(effect, RunTask)] == ["d1"]


def test_pausing_twice_is_pausing_once() -> None:
    """A second pause adds nothing, while pausing or paused."""
    solving().starts("a").when(Pause(by="alice"), Pause(by="alice")).then()
    paused().when(Pause(by="alice")).then()


def test_a_retry_that_waits_parks() -> None:
    """The delay is not counted while paused; afterwards the same retry follows."""
    scenario = solving(TEAM, task("a")).task_fails("a").when(Pause(by="alice"))
    assert keys(scenario) == []
    scenario.when(Resume(by="alice"))
    assert [key.split(":")[0] for key in keys(scenario)] == ["wait"]
    assert scenario.waits().run("a").attempt == 2


def test_a_review_parks() -> None:
    """A review that runs is stopped and given out again as the same turn; one that is due waits."""
    scenario = paused(solving(GATED, task("a")).completes("a"))
    assert keys(scenario) == []
    scenario.when(Resume(by="alice"))
    assert [effect.turn.turn_id for effect in outstanding(scenario.state) if isinstance(effect, RunTurn)] == ["t2"]
    due = solving(GATED, task("a")).starts("a").when(Pause(by="alice")).completes("a")
    assert (due.state_of("a"), due.state.running) == (TaskState.EXECUTION_SUCCEEDED, ())
    assert due.when(Resume(by="alice")).turn("review", "a")


def test_a_planner_parks() -> None:
    """Planning is stopped at the end of the grace and goes on with the same turn."""
    scenario = plan_given(TEAM).says("x").understands("different_task").when(Pause(by="alice"), EndGrace())
    assert (keys(scenario), scenario.state.status) == ([], Status.PAUSED)
    assert keys(scenario.when(Resume(by="alice")))[0] == "t1"


def test_a_plan_can_be_answered_while_paused() -> None:
    """Approved, but nothing is offered before the work is resumed; its deadline goes on."""
    scenario = planned().when(Pause(by="alice")).approves()
    assert (scenario.work.status, scenario.offered) == (Flow.EXECUTION, [])
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="user_pause")
    assert scenario.when(Resume(by="alice")).offered == ["a"]
    late = planned().when(Pause(by="alice"), ExpireStep(step_id="confirm_plan_p1"))
    assert only(late.new, PlanCancelled) == [PlanCancelled(reason="timeout")]


def test_who_paused_has_the_floor() -> None:
    """The log names that human."""
    scenario = solving(PAIR).when(Pause(by="adam"))
    assert scenario.new[-1] == SessionPaused(waiting_for="adam", reason="user_pause")


def test_a_used_up_budget_pauses_and_resuming_grants_as_much_again() -> None:
    """Budget: the plan flow pauses like chat does."""
    scenario = solving(make_plan_team(budget=Budget(max_turns=2)), task("a"), task("b", "a")).completes("a")
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="budget")
    assert scenario.when(Resume(by="alice")).offered == ["b"]


# new input while paused


def test_go_on_resumes() -> None:
    """RELATION_CHECK → RESUME_READY → EXECUTION."""
    scenario = paused().says("go on").understands("same_task_no_change")
    assert (scenario.state.interrupt, scenario.offered) == (Interrupt.EXECUTION, ["a"])


def test_go_on_resumes_even_while_a_plan_waits() -> None:
    """Never stuck: the plan still waits, and after its approval the work starts without another resume."""
    scenario = planned().when(Pause(by="alice")).says("go on").understands("same_task_no_change")
    assert scenario.state.interrupt is Interrupt.EXECUTION
    assert scenario.approves().offered == ["a"]


def test_a_small_change_is_applied_and_resumes() -> None:
    """RELATION_CHECK → MINOR_REPLAN → EXECUTION by patch_plan_applied."""
    scenario = paused().says("Bee").understands("same_task_minor_change", plan_patches=(PATCH,))
    assert (scenario.state.interrupt, scenario.offered, scenario.run("b").task.title) == (
        Interrupt.EXECUTION,
        ["a"],
        "Bee",
    )


def test_tasks_wait_for_a_change_that_the_planner_makes() -> None:
    """MINOR_REPLAN: no task is offered before the patch is applied; the planner works, its retries too."""
    scenario = paused().says("Bee").understands("same_task_minor_change")
    assert (scenario.state.interrupt, scenario.offered) == (Interrupt.MINOR_REPLAN, [])
    assert (scenario.state.status, keys(scenario)[0]) == (Status.ACTIVE, scenario.turn("patch").turn_id)
    scenario.when(Pause(by="alice")).refused("plan_changes")
    scenario.job_fails("patch")
    assert [key.split(":")[0] for key in keys(scenario)] == ["wait"]
    scenario.waits().patches({"op": "modify", "task_id": "b", "changes": {"title": "Bee"}})
    assert (scenario.state.interrupt, scenario.offered) == (Interrupt.EXECUTION, ["a"])


@pytest.mark.parametrize("ending", ["refused", "failed"])
def test_a_change_that_cannot_be_made_does_not_hold_the_work(ending: str) -> None:
    """Never stuck: the human goes on as planned, and the paused tasks do."""
    scenario = paused().says("Bee").understands("same_task_minor_change")
    if ending == "refused":
        scenario.patches("?").patches("?").patches("?").answers("plan_refused", "continue")
    else:
        scenario.job_fails("patch", "auth").answers("job_failed", "continue")
    assert (scenario.state.interrupt, scenario.offered) == (Interrupt.EXECUTION, ["a"])


@pytest.mark.parametrize(
    ("relation", "code"), [("same_task_major_change", "ask_replan"), ("different_task", "ask_new_task")]
)
def test_what_changes_everything_is_asked_first(relation: str, code: str) -> None:
    """WAIT_USER_DECISION: the work stays paused until the human chooses, or resumes."""
    scenario = paused().says("other").understands(relation)  # type: ignore[arg-type]
    assert (scenario.state.interrupt, keys(scenario)) == (Interrupt.WAIT_USER_DECISION, [])
    assert scenario.step(code)
    assert scenario.when(Resume(by="alice")).offered == ["a"]
    assert scenario.step(code)  # still open: the work goes on meanwhile


def test_paused_work_can_be_planned_again() -> None:
    """WAIT_USER_DECISION → PLAN_LOOP by full_replan; the plan that follows runs unpaused."""
    scenario = paused().says("bigger").understands("same_task_major_change").answers("ask_replan", "replan")
    assert (scenario.work.status, scenario.state.interrupt) == (Flow.PLAN_LOOP, Interrupt.EXECUTION)
    assert scenario.plans(task("a")).approves().offered == ["a"]


def test_a_second_input_may_let_the_work_go_on() -> None:
    """WAIT_USER_DECISION → EXECUTION by continue_current, said in other words."""
    scenario = (
        paused().says("bigger").understands("same_task_major_change").says("go on").understands("same_task_no_change")
    )
    assert (scenario.state.interrupt, scenario.offered) == (Interrupt.EXECUTION, ["a"])


def test_an_answer_about_something_else_does_not_resume() -> None:
    """Only what the human decides about that input lets the work go on."""
    scenario = solving().says("Bee").understands("same_task_minor_change").job_fails("patch", "auth")
    scenario.when(Pause(by="alice")).says("bigger").understands("same_task_major_change")
    scenario.answers("job_failed", "continue")
    assert scenario.state.interrupt is Interrupt.WAIT_USER_DECISION
    assert scenario.answers("ask_replan", "continue").offered == ["a"]


def test_a_status_query_leaves_the_pause_as_it_is() -> None:
    """Answered from the state, without a model; about the run, not about the work."""
    scenario = paused().says("how far?").understands(control("status_query"))
    assert scenario.state.interrupt is Interrupt.PAUSED
    assert scenario.notices == ["Status: paused · 0 of 3 tasks done · running: -"]


def test_said_in_words_pause_resume_and_cancel_are_the_commands() -> None:
    """control_instruction → control_action."""
    scenario = solving().starts("a").says("hold on").understands(control("pause"))
    assert scenario.state.interrupt is Interrupt.PAUSING
    assert scenario.says("go on").understands(control("resume")).state.interrupt is Interrupt.EXECUTION
    assert scenario.says("stop it").understands(control("cancel")).work.status is Flow.FAILED


def test_what_cannot_be_done_is_said() -> None:
    """Nobody waits for an answer to an understanding; a notice says why nothing happens."""
    scenario = solving().says("go on").understands(control("resume"))
    assert [fact.event for fact in scenario.new][-1] == "notice.posted"
    assert plan_given(TEAM).says("stop").understands(control("cancel")).notices == [
        "No turn is running, there is nothing to cancel"
    ]


def test_cancelled_while_paused_is_over() -> None:
    """The pause ends with the work; the next message is understood and begins anew."""
    scenario = paused().when(CancelTurn(by="alice"))
    assert (scenario.work.status, scenario.state.interrupt) == (Flow.FAILED, Interrupt.EXECUTION)
    scenario.when(Post(text="another", by="alice"))
    assert scenario.state.status is Status.ACTIVE
    assert scenario.understands("different_task").turn("plan")
