"""What becomes of failures: retries, delays, and the human's decision."""

import pytest
from msgspec.structs import replace

from moot.core.flows.plan import recovery
from moot.core.flows.plan.plan_commands import EndWait
from moot.core.flows.plan.plan_events import (
    ExecutionFailed,
    PipelineCompleted,
    PlanCancelled,
    RecoveryFailed,
    RecoveryStarted,
    RecoverySucceeded,
    SolverStarted,
    TaskFailed,
)
from moot.core.flows.plan.plan_settings import Retry as Policy
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import Answer, FailTurn, Retry
from moot.testing import PlanScenario, plan_given, task
from tests.core.plan_teams import EDITED, GATED, TEAM, make_plan_team, retrying, solving, worker
from tests.core.teams import only, task_input, turn_input

ONE = make_plan_team(worker("w1"))


def errors(scenario: PlanScenario) -> list[str]:
    """The story of the failures, from the first to the human's decision."""
    told = []
    for fact in scenario.facts:
        match fact:
            case ExecutionFailed():
                told.append("execution")
            case RecoveryStarted(attempt=attempt):
                told.append(f"recovery_started {attempt}")
            case RecoverySucceeded(attempt=attempt):
                told.append(f"recovery_success {attempt}")
            case RecoveryFailed(attempt=attempt):
                told.append(f"recovery_failed {attempt}")
            case _:
                pass
    return told


# retries and what people decide


def test_a_failed_task_is_tried_again_and_recovers() -> None:
    """Execution → recovery_started{1} → the retry → solver.completed → recovery_success."""
    scenario = solving(ONE, task("a")).task_fails("a")
    scenario.then("task.failed", "error.execution", "error.recovery_started")
    scenario.waits().then("task.retry_due", "task.dispatch_requested").starts("a")
    assert only(scenario.new, SolverStarted)[0].attempt == 2
    scenario.completes("a").then("solver.completed", "error.recovery_success", "aggregate.start", "turn.started")
    assert errors(scenario) == ["execution", "recovery_started 1", "recovery_success 1"]


def test_the_whole_story_of_a_task_that_never_recovers() -> None:
    """One first run and three retries; error.execution once; then a human is always asked."""
    scenario = solving(ONE, task("a"))
    for _ in range(4):
        scenario.task_fails("a").waits() if scenario.run("a").retries < 3 else scenario.task_fails("a")
    assert errors(scenario) == [
        "execution",
        "recovery_started 1",
        "recovery_started 2",
        "recovery_started 3",
        "recovery_failed 3",
    ]
    scenario.then("task.failed", "error.recovery_failed", "task.blocked", "agent.user_confirm", "session.paused")
    asked = scenario.step("task_failed")
    assert [option.id for option in asked.options] == ["retry", "skip", "reassign", "replan", "abort"]
    assert (asked.kind, asked.task_id, asked.expires_at) == ("decision", "a", None)


def test_a_task_that_recovers_late_has_one_episode() -> None:
    """Success at the third retry; a later failure of the same task would be a new episode."""
    scenario = solving(GATED, task("a"))
    for _ in range(3):
        scenario.task_fails("a").waits()
    scenario.completes("a").reviews("a", passes=False).task_fails("a").waits().completes("a")
    assert errors(scenario) == [
        "execution",
        "recovery_started 1",
        "recovery_started 2",
        "recovery_started 3",
        "recovery_success 3",
        "execution",
        "recovery_started 1",
        "recovery_success 1",
    ]


@pytest.mark.parametrize("error_type", ["auth", "refused", "budget", "config"])
def test_terminal_errors_are_not_retried(error_type: str) -> None:
    """Trying again would end the same: execution(recoverable=false) → recovery_failed → the human."""
    scenario = solving(ONE, task("a")).task_fails("a", error_type, "check key OPENAI_API_KEY")
    failure = only(scenario.new, ExecutionFailed)[0]
    assert (failure.recoverable, failure.suggested_action, failure.error_type) == (False, "decide", error_type)
    assert errors(scenario) == ["execution", "recovery_failed 0"]
    assert scenario.step("task_failed").detail == "check key OPENAI_API_KEY"


@pytest.mark.parametrize("error_type", ["validation", "timeout", "network", "agent", "rate_limit", "something new"])
def test_other_errors_are_retried(error_type: str) -> None:
    """Recoverable errors are retried; an unknown type is worth a try."""
    failure = only(solving(ONE, task("a")).task_fails("a", error_type).new, ExecutionFailed)[0]
    assert (failure.recoverable, failure.suggested_action) == (True, "retry")


def test_a_terminal_error_ends_an_episode_that_had_hope() -> None:
    """One error.execution an episode, whatever ends it."""
    scenario = solving(ONE, task("a")).task_fails("a").waits().task_fails("a", "auth")
    assert errors(scenario) == ["execution", "recovery_started 1", "recovery_failed 1"]


def test_without_retries_a_human_decides_at_once() -> None:
    """max_attempts counts retries; 0 means none."""
    assert errors(solving(make_plan_team(plan=retrying(0)), task("a")).task_fails("a")) == [
        "execution",
        "recovery_failed 0",
    ]


# delays


def test_delays_double_with_equal_jitter_up_to_the_cap() -> None:
    """Retry 1 after the base, retry n ≥ 2 after at least half of base × 2^(n−1) and at most all of it or the cap."""
    policy = Policy(max_attempts=9, base_delay_s=2.0, cap_s=20.0)
    assert [recovery.delay_s(policy, attempt, 1.0) for attempt in range(1, 7)] == [2.0, 4.0, 8.0, 16.0, 20.0, 20.0]
    assert [recovery.delay_s(policy, attempt, 0.5) for attempt in range(1, 5)] == [2.0, 3.0, 6.0, 12.0]
    assert recovery.delay_s(policy, 2, 0.0) == 2.0
    assert recovery.delay_s(policy, 10**6, 1.0) == 20.0


def test_a_validation_error_is_retried_at_once_the_first_time() -> None:
    """验证错误 → 立即重试; from the second retry on like the others."""
    scenario = solving(ONE, task("a")).task_fails("a", "validation")
    assert scenario.then(
        "task.failed", "error.execution", "error.recovery_started", "task.dispatch_requested"
    ).offered == ["a"]
    scenario.task_fails("a", "validation")
    assert [fact.delay_s for fact in only(scenario.facts, RecoveryStarted)] == [0.0, 2.0]
    assert scenario.offered == []


@pytest.mark.parametrize(
    ("asked_s", "delay_s"),
    [(0.0, 1.0), (7.0, 7.0), (0.5, 1.0), (1e9, 60.0), (float("inf"), 60.0), (float("nan"), 1.0), (-5.0, 1.0)],
)
def test_retry_after_is_honoured_up_to_the_cap(asked_s: float, delay_s: float) -> None:
    """Whoever was asked may want to be left alone for longer; nonsense is ignored."""
    scenario = solving(ONE, task("a")).starts("a")
    scenario.when(FailTurn(turn_id="d1", error_type="rate_limit", message="slow down", retry_after_s=asked_s))
    assert [fact.delay_s for fact in only(scenario.new, RecoveryStarted)] == [delay_s]


def test_jitter_comes_from_outside() -> None:
    """Pure core: the chance is a parameter of the decision."""
    scenario = solving(ONE, task("a")).task_fails("a").waits().starts("a")
    failure = FailTurn(turn_id=scenario.dispatch_id("a"), error_type="network", message="x")
    assert only(scenario.when(failure, chance=0.25).new, RecoveryStarted)[0].delay_s == 1.25


def test_a_wait_ends_once() -> None:
    """Timers may come twice or late: only the wait they are about ends."""
    scenario = solving(ONE, task("a")).task_fails("a").when(EndWait(number=99)).refused("stale_turn")
    wait = scenario.run("a").wait
    assert wait is not None
    scenario.when(EndWait(number=wait.number)).when(EndWait(number=wait.number)).refused("stale_turn")


def test_others_go_on_meanwhile() -> None:
    """A task that waits or is asked about holds up nobody else."""
    scenario = solving(TEAM, task("a"), task("b"), task("c", "b")).task_fails("a", "auth").completes("b")
    assert scenario.offered == ["c"]
    scenario.completes("c")
    assert not scenario.state.running  # the answer waits for the decision about a


# the human's decision


def failed(*tasks: object) -> PlanScenario:
    return solving(TEAM, *(tasks or (task("a"), task("b", "a")))).task_fails("a", "auth", "no key")


def test_retry_begins_a_new_episode() -> None:
    """Retry starts the task anew, with the next attempt and a fresh count of failures."""
    scenario = failed().answers("task_failed", "retry")
    scenario.then(
        "agent.user_confirm_closed",
        "solver.restarted",
        "workflow.changed",
        "task.dispatch_requested",
        "session.activated",
    )
    assert (scenario.run("a").attempt, scenario.run("a").retries) == (2, 0)
    assert errors(scenario.task_fails("a"))[-2:] == ["execution", "recovery_started 1"]


def test_skip_lets_the_others_run_without_it() -> None:
    """Skip goes on without the result; the pipeline is partial then."""
    scenario = failed().answers("task_failed", "skip")
    assert (scenario.offered, scenario.run("a").is_skipped) == (["b"], True)
    run = scenario.run("b")
    given = task_input("session-1", scenario.state, run).assignment
    assert given is not None
    assert [(report.task.id, report.state) for report in given.tasks] == [("a", "SKIPPED")]
    scenario.completes("b").aggregates()
    assert only(scenario.new, PipelineCompleted) == [PipelineCompleted(status="partial", missing=("Task a",))]


def test_reassign_gives_it_to_another_member() -> None:
    """The one that is named, else the first other one who could do it."""
    assert failed().answers("task_failed", "reassign").run("a").member == "w2"
    assert failed().answers("task_failed", "reassign", answer="planner").run("a").member == "planner"


def test_reassign_looks_for_somebody_with_the_same_role() -> None:
    """A painter's task goes to another painter before it goes to any executor."""
    painters = (worker("p1", 30, role="painter"), worker("p2", 31, role="painter"))
    scenario = solving(make_plan_team(worker("w1"), *painters), task("a", role="painter")).task_fails("a", "auth")
    assert scenario.answers("task_failed", "reassign").run("a").member == "p2"


@pytest.mark.parametrize(("name", "code"), [("ghost", "no_such_member"), ("alice", "no_such_member")])
def test_reassign_needs_an_ai(name: str, code: str) -> None:
    """Typed refusals; the question stays open."""
    scenario = failed().answers("task_failed", "reassign", answer=name).refused(code)
    assert scenario.step("task_failed")


def test_reassign_finds_any_other_ai() -> None:
    """A team with one executor gives it to whoever is left."""
    assert (
        solving(ONE, task("a")).task_fails("a", "auth").answers("task_failed", "reassign").run("a").member == "planner"
    )


def test_reassign_is_not_offered_where_nobody_else_is() -> None:
    """A team of one AI, which plans and works: the numbers of the options are those that are there."""
    alone = replace(ONE, members=tuple(each for each in ONE.members if each.id != "planner"))
    scenario = solving(alone, task("a")).task_fails("a", "auth")
    assert [option.id for option in scenario.step("task_failed").options] == ["retry", "skip", "replan", "abort"]
    scenario.answers("task_failed", "reassign").refused("bad_answer")
    assert scenario.answers("task_failed", "retry").offered == ["a"]


def test_replan_tells_the_planner_what_failed() -> None:
    """With the snapshot and the reason; the human's words instead of the error where there are some."""
    scenario = failed().answers("task_failed", "replan")
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert "no key" in given.feedback
    assert scenario.work.latest_execution_snapshot_id == "x1"
    scenario = failed().answers("task_failed", "replan", answer="\x1b[2Juse another service")
    assert scenario.work.feedback == "use another service"


def test_abort_ends_the_work() -> None:
    """Workflow FAILED, what runs is cancelled, the session waits for new input."""
    scenario = failed(task("a"), task("c")).answers("task_failed", "abort")
    scenario.then(
        "agent.user_confirm_closed", "solver.cancelled", "workflow.changed", "agent.interrupted", "session.paused"
    )
    assert scenario.work.status is Flow.FAILED


def test_a_choice_that_was_not_offered_is_refused() -> None:
    """Only the options count; a plain yes means nothing among five."""
    scenario = failed()
    scenario.answers("task_failed", "approve").refused("bad_answer")
    scenario.when(Answer(step_id=scenario.step("task_failed").step_id, confirmed=True)).refused("bad_answer")


def test_two_failures_are_two_questions() -> None:
    """Both are shown; the last answer lets the workflow go on."""
    scenario = solving(TEAM, task("a"), task("b"), task("c", "a", "b")).task_fails("a", "auth").task_fails("b", "auth")
    scenario.evaluates("ask")
    assert len(scenario.state.open_steps) == 2
    scenario.answers("task_failed", "skip")
    assert scenario.work.status is Flow.WAIT_USER_DECISION
    scenario.answers("task_failed", "skip")
    assert (scenario.work.status, scenario.offered) == (Flow.EXECUTION, ["c"])


def test_slash_retry_starts_everything_that_failed() -> None:
    """/retry answers every question about a failure; with none it is refused."""
    scenario = (
        solving(TEAM, task("a"), task("b")).task_fails("a", "auth").task_fails("b", "auth").when(Retry(by="alice"))
    )
    assert (scenario.offered, scenario.state.open_steps) == (["a", "b"], {})
    solving().when(Retry(by="alice")).refused("nothing_to_retry")
    plan_given(TEAM).when(Retry(by="alice")).refused("no_workflow")


# turns of planners, reviewers and aggregators


def test_a_planner_that_fails_is_retried_like_a_task() -> None:
    """The same events, with `job` and without a task."""
    scenario = plan_given(TEAM).says("x").understands("different_task").job_fails("plan")
    scenario.then("turn.failed", "error.execution", "error.recovery_started")
    assert [(fact.task_id, fact.job) for fact in only(scenario.new, RecoveryStarted)] == [(None, "plan")]
    scenario.waits().then("turn.started").plans(task("a"))
    assert errors(scenario) == ["execution", "recovery_started 1", "recovery_success 1"]


def test_a_planner_that_cannot_is_the_humans_decision() -> None:
    """Retry or abort; an aborted plan is cancelled."""
    scenario = plan_given(TEAM).says("x").understands("different_task").job_fails("plan", "auth")
    assert [option.id for option in scenario.step("job_failed").options] == ["retry", "abort"]
    assert scenario.answers("job_failed", "abort").work.status is Flow.FAILED
    assert only(scenario.new, PlanCancelled) == [PlanCancelled(reason="failed")]


def test_slash_retry_restarts_a_failed_job() -> None:
    """/retry is the same as answering retry."""
    scenario = (
        plan_given(TEAM).says("x").understands("different_task").job_fails("plan", "auth").when(Retry(by="alice"))
    )
    scenario.then("agent.user_confirm_closed", "turn.started", "session.activated")
    assert scenario.turn("plan")


def test_an_aggregator_that_fails_is_retried_and_then_asked_about() -> None:
    """The results are not lost; retry makes the answer after all."""
    scenario = solving(EDITED, task("a")).completes("a").job_fails("aggregate", "auth")
    assert scenario.step("job_failed").who == "editor"
    scenario.answers("job_failed", "retry").aggregates("fine")
    assert scenario.work.status is Flow.COMPLETED


# a member that says itself that it cannot


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("BLOCKED: no network here\nI tried twice.", "no network here"),
        ("\n**BLOCKED：** 没有网络", "没有网络"),
        ("BLOCKED:", ""),
    ],
)
def test_a_result_that_begins_with_blocked_is_a_failure(result: str, reason: str) -> None:
    """It is not tried again: a human decides, and is told why in the member's words."""
    scenario = solving(ONE, task("a")).completes("a", result)
    failed = only(scenario.new, TaskFailed)[0]
    assert (failed.error_type, failed.message) == ("blocked", reason)
    assert (errors(scenario), scenario.state_of("a")) == (["execution", "recovery_failed 0"], TaskState.BLOCKED)
    assert scenario.step("task_failed").detail == reason


@pytest.mark.parametrize("result", ["The road is BLOCKED: take another", "blocked: lower case", "I cannot do it"])
def test_other_results_are_taken_as_they_are(result: str) -> None:
    """Only the word itself at the beginning counts; nothing is guessed."""
    assert solving(ONE, task("a")).completes("a", result).state_of("a") is TaskState.DONE


def test_an_aggregator_that_is_blocked_gives_no_answer() -> None:
    """The same word ends the turns of planners, reviewers and aggregators."""
    scenario = solving(ONE, task("a")).completes("a").aggregates("BLOCKED: the results contradict each other")
    assert scenario.step("job_failed").detail == "the results contradict each other"
