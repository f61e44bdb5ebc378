"""The dispatch handshake: acks, nacks, timeouts, leases, breakers."""

import pytest

from moot.core import limits
from moot.core.effects import Deadline, LeaseCheck, RunTask
from moot.core.flows.plan.plan_commands import ProbeMember
from moot.core.flows.plan.plan_events import (
    DispatchNacked,
    DispatchRequested,
    LeaseExpired,
    MemberUnavailable,
    SolverCompleted,
    SolverStarted,
    TaskBlocked,
)
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.machines.agent import State as Slot
from moot.core.machines.task import TaskState
from moot.core.outstanding import outstanding
from moot.core.session.commands import (
    AckDispatch,
    CompleteTurn,
    ExpireDispatch,
    ExpireLease,
    ExpireTurn,
    FailTurn,
    NackDispatch,
    Pause,
    StartTask,
)
from moot.testing import PlanScenario, task
from moot.testing.scenario import AT
from tests.core.plan_teams import TEAM, make_plan_team, retrying, solving, worker
from tests.core.teams import only, task_input

ONE = make_plan_team(worker("w1"))


def deadlines(scenario: PlanScenario) -> dict[str, float]:
    return {each.key: each.after_s for each in outstanding(scenario.state) if isinstance(each, Deadline)}


# the handshake


def test_an_offer_names_task_slot_and_dispatch() -> None:
    """task_dispatch_requested(taskId, agentId, dispatchId); one worker from the offer to the end."""
    scenario = solving(ONE, task("a"))
    offer = only(scenario.new, DispatchRequested)[0]
    assert (offer.task_id, offer.agent_id, offer.dispatch_id, offer.member) == ("a", "w1#1", "d1", "w1")
    assert [each.dispatch_id for each in outstanding(scenario.state) if isinstance(each, RunTask)] == ["d1"]


def test_taken_and_started_are_two_facts() -> None:
    """Ack, then solver.start with the whole task, the attempt and the dispatch."""
    scenario = solving(ONE, task("a")).acks("a").then("task.dispatch_acked")
    scenario.starts("a").then("solver.start")
    assert only(scenario.new, SolverStarted)[0] == SolverStarted(
        task=task("a"), member="w1", attempt=1, dispatch_id="d1", started_at=AT, state=TaskState.RUNNING
    )


def test_an_executor_is_given_its_task_and_what_it_builds_on() -> None:
    """The results of the dependencies, nothing of the others."""
    scenario = solving(TEAM, task("a"), task("z"), task("b", "a")).completes("z", "Z").completes("a", "A")
    run = scenario.run("b")
    given = task_input("session-1", scenario.state, run).assignment
    assert given is not None
    assert given.task is not None
    assert (given.task.id, given.attempt, given.question) == ("b", 1, "write a report")
    assert [(report.task.id, report.result) for report in given.tasks] == [("a", "A")]


# which failure it is


@pytest.mark.parametrize("reason", ["busy", "no_resource", ""])
def test_not_taken_is_a_dispatch_failure(reason: str) -> None:
    """Before the start it is DISPATCH_FAILED, however it is called; no execution failed."""
    scenario = solving(TEAM, task("a")).nacks("a", reason).then("task.dispatch_nacked")
    assert scenario.state_of("a") is TaskState.DISPATCH_FAILED
    assert only(scenario.new, DispatchNacked)[0].reason == (reason or "refused")


def test_failed_after_the_start_is_an_execution_failure() -> None:
    """After the start it is EXECUTION_FAILED; the member is not blamed for its dispatches."""
    scenario = solving(TEAM, task("a")).task_fails("a", "timeout")
    assert scenario.state_of("a") is TaskState.EXECUTION_FAILED
    assert scenario.work.slots["w1"].failures == 0


def test_a_worker_may_only_say_what_fits() -> None:
    """No result before the start, no refusal after it, no start without an ack."""
    scenario = solving(TEAM, task("a"))
    scenario.when(StartTask(dispatch_id="d1")).refused("stale_turn")
    scenario.when(CompleteTurn(turn_id="d1", text="x")).refused("stale_turn")
    scenario.when(FailTurn(turn_id="d1", error_type="agent", message="x")).refused("stale_turn")
    scenario.acks("a").when(NackDispatch(dispatch_id="d1", reason="x")).refused("stale_turn")
    scenario.starts("a").when(NackDispatch(dispatch_id="d1", reason="x")).refused("stale_turn")
    scenario.when(AckDispatch(dispatch_id="d1")).refused("stale_turn")
    scenario.when(StartTask(dispatch_id="d1")).refused("stale_turn")


# timeouts


def test_no_answer_in_time_counts_as_a_refusal() -> None:
    """30 s without an answer is nack(timeout): counted on the member, offered to another one after the delay."""
    scenario = solving(TEAM, task("a"))
    assert deadlines(scenario) == {"dispatch:d1": 30.0}
    scenario.when(ExpireDispatch(dispatch_id="d1")).then("task.dispatch_nacked")
    assert only(scenario.new, DispatchNacked)[0].reason == "timeout"
    assert scenario.work.slots["w1"].failures == 1
    scenario.waits()
    assert (scenario.run("a").member, scenario.dispatch_id("a")) == ("w2", "d2")


def test_a_late_ack_is_ignored() -> None:
    """The ack of a dispatch that timed out is stale, also when the task was offered again meanwhile."""
    scenario = solving(TEAM, task("a")).when(ExpireDispatch(dispatch_id="d1"))
    scenario.when(AckDispatch(dispatch_id="d1")).refused("stale_turn")
    scenario.waits().when(AckDispatch(dispatch_id="d1")).refused("stale_turn")
    assert scenario.state_of("a") is TaskState.DISPATCHING


def test_taken_but_not_started_is_a_dispatch_failure_too() -> None:
    """A start timeout is DISPATCH_FAILED; the slot is given back."""
    scenario = solving(TEAM, task("a")).acks("a").when(ExpireDispatch(dispatch_id="d1"))
    assert scenario.state_of("a") is TaskState.DISPATCH_FAILED
    assert scenario.work.slots["w1"].states == {"w1#1": Slot.IDLE}


def test_a_task_that_runs_too_long_fails() -> None:
    """The turn timeout ends an execution, not an offer."""
    scenario = solving(TEAM, task("a"))
    scenario.when(ExpireTurn(turn_id="d1")).refused("stale_turn")
    scenario.starts("a").when(ExpireDispatch(dispatch_id="d1")).refused("stale_turn")
    scenario.when(ExpireTurn(turn_id="d1"))
    assert (scenario.state_of("a"), scenario.run("a").error_type) == (TaskState.EXECUTION_FAILED, "timeout")


def test_two_results_of_one_dispatch_are_one() -> None:
    """The first commit wins, the second is stale."""
    scenario = solving(TEAM, task("a"), task("b")).completes("a", "first")
    scenario.when(CompleteTurn(turn_id="d1", text="second")).refused("stale_turn")
    scenario.when(FailTurn(turn_id="d1", error_type="agent", message="x")).refused("stale_turn")
    assert [fact.result for fact in only(scenario.facts, SolverCompleted)] == ["first"]


def test_dispatch_failures_have_their_own_counter() -> None:
    """They share the retry settings, not the count; then BLOCKED and a human is asked."""
    scenario = solving(ONE, task("a"))
    delays = []
    for _ in range(4):
        scenario.nacks("a")
        delays.append(only(scenario.new, DispatchNacked)[0].retry_in_s)
        scenario.waits() if len(delays) < 4 else None
    assert delays == [1.0, 2.0, 4.0, None]
    assert [fact.event for fact in scenario.new] == [
        "task.dispatch_nacked",
        "task.blocked",
        "agent.user_confirm",
        "session.paused",
    ]
    assert only(scenario.new, TaskBlocked) == [TaskBlocked(task_id="a", reason="dispatch", state=TaskState.BLOCKED)]
    assert scenario.step("task_failed").error_type == "dispatch"
    assert "error.execution" not in {fact.event for fact in scenario.facts}


def test_a_task_that_starts_forgets_its_refusals() -> None:
    """The count is of refusals in a row."""
    scenario = solving(ONE, task("a")).nacks("a").waits().nacks("a").waits().task_fails("a").waits()
    scenario.nacks("a")
    assert only(scenario.new, DispatchNacked)[0].retry_in_s == 1.0


# the breaker


def storm() -> PlanScenario:
    """w1 takes nothing, five times in a row."""
    scenario = solving(make_plan_team(worker("w1"), plan=retrying(20, base_delay_s=2.0)), task("a"), task("b"))
    for task_id in ("a", "b", "a", "b"):
        scenario.nacks(task_id).waits()
    return scenario.nacks("a")


def test_five_refusals_in_a_row_open_the_breaker() -> None:
    """The member is unavailable; its slots are BREAKER_OPEN, and nothing more is offered to it."""
    scenario = storm()
    opened = only(scenario.new, MemberUnavailable)[0]
    assert (opened.member, opened.failures, opened.retry_in_s) == ("w1", 5, 2.0)
    scenario.nacks("b").waits()
    assert scenario.offered == []
    assert set(scenario.work.slots["w1"].states.values()) == {Slot.BREAKER_OPEN}


def test_one_offer_is_the_probe() -> None:
    """After the base delay one task is offered; until it is answered there is no second probe."""
    scenario = storm().nacks("b").waits()
    assert {key: delay for key, delay in deadlines(scenario).items() if "probe" in key} == {"probe:w1:2": 2.0}
    scenario.when(ProbeMember(member="w1")).then("member.probed", "task.dispatch_requested")
    assert scenario.offered == ["a"]
    assert not any("probe" in key for key in deadlines(scenario))
    scenario.when(ProbeMember(member="w1")).refused("stale_turn")


def test_a_probe_that_is_taken_closes_the_breaker() -> None:
    """The ack lets the others follow at once."""
    scenario = storm().nacks("b").waits().when(ProbeMember(member="w1")).acks("a")
    scenario.then("task.dispatch_acked", "task.dispatch_requested")
    assert scenario.offered == ["a", "b"]
    assert not scenario.work.slots["w1"].is_open


def test_a_probe_that_is_refused_waits_again() -> None:
    """The breaker stays open, another probe follows after the delay."""
    scenario = storm().nacks("b").waits().when(ProbeMember(member="w1")).nacks("a")
    scenario.then("task.dispatch_nacked", "member.unavailable")
    assert any(key.startswith("probe:w1:3") for key in deadlines(scenario))


def test_one_ack_begins_the_count_again() -> None:
    """Five *in a row*."""
    scenario = solving(make_plan_team(worker("w1"), plan=retrying(20)), task("a"), task("b"))
    for _ in range(4):
        scenario.nacks("a").waits()
    assert only(scenario.starts("b").nacks("a").facts, MemberUnavailable) == []


def test_a_probe_waits_for_something_to_offer() -> None:
    """With every task blocked nothing is offered, and no timer runs for nothing."""
    scenario = solving(make_plan_team(worker("w1"), plan=retrying(0)), *[task(str(number)) for number in range(5)])
    for number in range(5):
        scenario.nacks(str(number))
    scenario.when(ProbeMember(member="w1")).then("member.probed", "session.paused")
    assert deadlines(scenario) == {}
    assert scenario.answers("task_failed", "retry").offered == ["4"]


def test_a_probe_of_somebody_who_works_is_stale() -> None:
    """Timers may come late: nothing changes."""
    solving().when(ProbeMember(member="w1")).refused("stale_turn")
    solving().when(ProbeMember(member="nobody")).refused("stale_turn")


def test_failed_executions_do_not_open_the_breaker() -> None:
    """Five *dispatch* failures; a member whose tasks fail takes the next one all the same."""
    scenario = solving(ONE, *[task(str(number)) for number in range(6)])
    for number in range(6):
        scenario.task_fails(str(number), "auth")
    assert only(scenario.facts, MemberUnavailable) == []


def test_another_member_takes_over() -> None:
    """Who refused a task before comes last when it is offered again."""
    scenario = solving(TEAM, task("a")).nacks("a").waits()
    assert scenario.run("a").member == "w2"
    assert scenario.nacks("a").waits().run("a").member == "w1"


# concurrency


def test_a_member_runs_as_many_tasks_as_it_may() -> None:
    """`concurrency` tasks at once, each in a slot of its own; the next member takes what is left."""
    team = make_plan_team(
        worker("w1", concurrency=1), worker("w2", 21, concurrency=2), plan=PlanSettings(max_parallel=9)
    )
    scenario = solving(team, *[task(str(number)) for number in range(5)])
    assert [scenario.run(each).agent_id for each in scenario.offered] == ["w1#1", "w2#1", "w2#2"]
    assert scenario.completes("1").offered == ["0", "2", "3"]


def test_whoever_has_least_to_do_is_offered_a_task_first() -> None:
    """Members that could each take all are given one after the other."""
    team = make_plan_team(worker("w1", concurrency=3), worker("w2", 21, concurrency=3))
    scenario = solving(team, *[task(str(number)) for number in range(3)])
    assert [scenario.run(each).agent_id for each in scenario.offered] == ["w1#1", "w2#1", "w1#2"]


def test_no_more_tasks_run_than_the_plan_allows() -> None:
    """max_parallel counts offers too."""
    scenario = solving(make_plan_team(plan=PlanSettings(max_parallel=3)), *[task(str(each)) for each in range(9)])
    assert len(scenario.offered) == 3
    assert len(scenario.completes("0").task_fails("1").offered) == 3


# leases


def test_a_lost_lease_offers_the_same_attempt_again() -> None:
    """The worker is gone, after the ack or while running; the same attempt, at the same place of its script."""
    scenario = solving(ONE, task("a")).starts("a").loses_lease("a")
    scenario.then("task.lease_expired", "task.dispatch_requested")
    again = only(scenario.new, DispatchRequested)[0]
    assert (again.dispatch_id, again.attempt, again.index, again.task_index, again.is_again) == ("d2", 1, 0, 0, True)
    scenario.acks("a").loses_lease("a")
    assert scenario.run("a").attempt == 1


def test_a_lease_is_looked_after_once_a_task_is_taken() -> None:
    """Every 30 s; an offer that nobody took has no lease."""
    scenario = solving(ONE, task("a"))
    assert not any(isinstance(each, LeaseCheck) for each in outstanding(scenario.state))
    scenario.when(ExpireLease(dispatch_id="d1")).refused("stale_turn")
    assert [each.every_s for each in outstanding(scenario.acks("a").state) if isinstance(each, LeaseCheck)] == [30.0]


def test_a_result_after_the_lease_was_lost_is_stale() -> None:
    """One outcome: a worker that comes back is told to drop its task."""
    scenario = solving(ONE, task("a")).starts("a").loses_lease("a")
    scenario.when(CompleteTurn(turn_id="d1", text="late")).refused("stale_turn")
    assert scenario.completes("a", "fresh").run("a").result == "fresh"


def test_a_restart_voids_every_lease_but_no_offer() -> None:
    """An embedded worker's leases are void when the server starts again."""
    scenario = solving(TEAM, task("a"), task("b"), task("c")).starts("a").acks("b").when(ExpireLease())
    assert [fact.task_id for fact in only(scenario.new, LeaseExpired)] == ["a", "b"]
    assert scenario.dispatch_id("c") == "d3"
    assert {scenario.state_of(each) for each in "abc"} == {TaskState.DISPATCHING}


def test_a_restart_with_nothing_taken_changes_nothing() -> None:
    """There is no lease to lose, running or paused."""
    assert solving(TEAM, task("a")).when(ExpireLease()).then()
    assert solving(TEAM, task("a")).when(Pause(by="alice")).when(ExpireLease()).then()


@pytest.mark.parametrize("is_started", [True, False])
def test_a_task_that_kills_its_workers_is_not_offered_for_ever(is_started: bool) -> None:
    """After LEASES_LOST lost workers it fails: executing for good, only taken like any refusal."""
    scenario = solving(ONE, task("a"))
    for _ in range(limits.LEASES_LOST):
        (scenario.starts if is_started else scenario.acks)("a")
        scenario.loses_lease("a")
    assert scenario.state_of("a") is TaskState.DISPATCHING
    (scenario.starts if is_started else scenario.acks)("a")
    scenario.loses_lease("a")
    if is_started:
        assert (scenario.state_of("a"), scenario.step("task_failed").error_type) == (TaskState.BLOCKED, "config")
    else:
        scenario.then("task.dispatch_nacked")
        assert scenario.run("a").wait is not None
