"""What people may do to work, in every state of it: an edge, or a typed refusal."""

from collections.abc import Callable

import pytest

from moot.core.decide import create, decide
from moot.core.errors import Refused
from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, EndGrace, Replan, RestartTask, SolveTasks
from moot.core.flows.plan.plan_events import Interrupted, PlanCancelled, PlanStarted, SolverCancelled, SolverRestarted
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import CancelTurn, Command, CreateSession, Pause, Resume, Retry
from moot.core.session.events import SessionPaused
from moot.testing import PlanScenario, plan_given, task
from moot.testing.scenario import AT
from tests.core.plan_teams import GATED, TEAM, make_plan_team, planned, solving
from tests.core.teams import make_chat_team, only

Place = Callable[[], PlanScenario]


def planning() -> PlanScenario:
    return plan_given(TEAM).says("write").understands("different_task")


def replanning() -> PlanScenario:
    return solving().completes("a").when(Replan(feedback="better", by="alice"))


def aggregating() -> PlanScenario:
    return solving(TEAM, task("a")).completes("a")


PLACES: dict[str, Place] = {
    "nothing": lambda: plan_given(TEAM),
    "understanding": lambda: plan_given(TEAM).says("write"),
    "planning": planning,
    "plan fails": lambda: planning().job_fails("plan"),
    "plan refused": lambda: planning().plans().plans().plans(),
    "confirming": planned,
    "offered": solving,
    "taken": lambda: solving().acks("a"),
    "running": lambda: solving().starts("a"),
    "refused": lambda: solving().nacks("a"),
    "retrying": lambda: solving().task_fails("a"),
    "blocked": lambda: solving().task_fails("a", "auth"),
    "reviewing": lambda: solving(GATED).completes("a"),
    "pausing": lambda: solving().starts("a").when(Pause(by="alice")),
    "paused": lambda: solving().starts("a").when(Pause(by="alice"), EndGrace()),
    "asked": lambda: solving().says("poem").understands("different_task"),
    "changing": lambda: solving().says("bit").understands("same_task_minor_change"),
    "replanning": replanning,
    "aggregating": aggregating,
    "complete": lambda: aggregating().aggregates(),
    "cancelled": lambda: solving().when(CancelTurn(by="alice")),
}
OVER = ("nothing", "understanding", "complete", "cancelled")
UNAPPROVED = ("planning", "plan fails", "plan refused", "confirming", "replanning")
UNTRIED = ("offered", "taken", "asked", "changing")  # nobody has begun the task


def tell(place: str, command: Command) -> PlanScenario:
    return PLACES[place]().when(command)


@pytest.mark.parametrize("place", PLACES)
def test_cancel_ends_the_work_wherever_it_is(place: str) -> None:
    """user.cancel → solver.cancelled for each task under way, agent.interrupted, FAILED(user_abort), paused."""
    scenario = tell(place, CancelTurn(by="alice"))
    if place in OVER:
        scenario.refused("nothing_running")
        return
    assert only(scenario.new, Interrupted) == [Interrupted(reason="user_cancel")]
    assert (scenario.work.status, scenario.offered, scenario.state.running) == (Flow.FAILED, [], ())
    assert isinstance(scenario.new[-1], SessionPaused)
    assert not [effect for effect in outstanding(scenario.state) if effect.key.startswith(("d", "t", "wait", "step"))]


@pytest.mark.parametrize("place", PLACES)
def test_cancel_plan_says_so(place: str) -> None:
    """user.cancel_plan → plan.cancelled {reason: user_cancel}; the next message begins anew."""
    scenario = tell(place, CancelPlan(by="alice"))
    if place in OVER:
        scenario.refused("no_workflow")
        return
    assert only(scenario.new, PlanCancelled) == [PlanCancelled(reason="user_cancel")]
    assert scenario.work.status is Flow.FAILED


@pytest.mark.parametrize("place", PLACES)
def test_replan_plans_again_wherever_there_is_work(place: str) -> None:
    """user.replan with feedback; what is under way is stopped, one planner works."""
    scenario = tell(place, Replan(feedback="\x1b[2Jshorter", by="alice"))
    if place in OVER:
        scenario.refused("no_workflow")
        return
    begun = only(scenario.new, PlanStarted)[0]
    assert begun.feedback.endswith("shorter")
    assert "\x1b" not in begun.feedback
    assert (scenario.offered, [turn.job for turn in scenario.state.running]) == ([], ["plan"])
    assert scenario.plans(task("a", objective="new")).approves().offered == ["a"]


@pytest.mark.parametrize("place", PLACES)
def test_tasks_that_are_brought_wait_for_nobody(place: str) -> None:
    """user.solve_tasks is refused while work is under way."""
    scenario = tell(place, SolveTasks(tasks=(task("x"),), by="alice"))
    if place in OVER:
        assert scenario.offered == ["x"]
    else:
        scenario.refused("workflow_active")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [CancelTask, RestartTask])
def test_single_tasks(place: str, kind: type[CancelTask] | type[RestartTask]) -> None:
    """user.cancel_task → solver.cancelled, user.restart_task → solver.restarted; else a typed refusal."""
    scenario = tell(place, kind(task_id="a", by="alice"))
    if place in OVER:
        scenario.refused("no_workflow")
    elif place in UNAPPROVED:
        scenario.refused("plan_in_the_making")
    elif place in UNTRIED and kind is RestartTask:
        scenario.refused("task_not_started")
    elif place == "aggregating":
        scenario.refused("task_over")
    else:
        told = [fact.task["id"] for fact in scenario.new if isinstance(fact, SolverCancelled | SolverRestarted)]
        assert told == ["a"]
        assert any(isinstance(fact, SolverCancelled) for fact in scenario.new) == (kind is CancelTask)
        assert scenario.state_of("a") in (TaskState.CANCELLED, TaskState.READY, TaskState.DISPATCHING)


def test_a_task_is_given_to_another_member() -> None:
    """A human reassigns a task that runs; who is nobody, or a human, is refused with those who could."""
    scenario = tell("running", RestartTask(task_id="a", member="w2", by="alice"))
    restarted = next(fact for fact in scenario.new if isinstance(fact, SolverRestarted))
    assert (restarted.task["id"], restarted.member, restarted.reason) == ("a", "w2", "reassign")
    for name in ("ghost", "alice"):
        tell("running", RestartTask(task_id="a", member=name, by="alice")).refused("no_such_member")


@pytest.mark.parametrize("place", PLACES)
def test_retry_needs_something_that_failed(place: str) -> None:
    """/retry where a human is asked about a failure, else a typed refusal."""
    scenario = tell(place, Retry(by="alice"))
    if place in OVER:
        scenario.refused("no_workflow")
    elif place in ("blocked", "plan refused"):
        assert scenario.state.open_steps == {}
    else:
        scenario.refused("nothing_to_retry")


@pytest.mark.parametrize("place", PLACES)
def test_resume_needs_a_pause(place: str) -> None:
    """/resume ends a pause, reached or not; else a typed refusal."""
    scenario = tell(place, Resume(by="alice"))
    if place in ("pausing", "paused"):
        assert (scenario.state.interrupt, scenario.offered) == ("EXECUTION", ["a"])
    else:
        scenario.refused("nothing_to_resume")


@pytest.mark.parametrize("place", PLACES)
def test_a_pause_always_comes_to_rest(place: str) -> None:
    """Wherever it is asked for, at the end of the grace nothing runs and a human has the floor.

    What is only being understood cannot be held up, and is soon work that can: that is said.
    """
    scenario = tell(place, Pause(by="alice"))
    if place == "understanding":
        scenario.refused("still_understanding")
        return
    assert scenario.refusal is None
    if scenario.state.interrupt == "PAUSING":
        scenario.when(EndGrace())
    assert scenario.state.waiting_for == "alice"
    assert not [effect for effect in outstanding(scenario.state) if effect.key.startswith(("d", "t", "wait"))]


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_task_is_named(place: str) -> None:
    """The refusal says which tasks there are."""
    scenario = tell(place, CancelTask(task_id="ghost\x00" * 50, by="alice"))
    assert scenario.refusal is not None
    if place in OVER:
        scenario.refused("no_workflow")
    elif place in UNAPPROVED:
        scenario.refused("plan_in_the_making")
    else:
        scenario.refused("unknown_task")
        assert "a, b, c" in scenario.refusal_text or place == "aggregating"


@pytest.mark.parametrize(
    "command", [SolveTasks(tasks=()), CancelTask(task_id="a"), RestartTask(task_id="a"), CancelPlan(), Replan()]
)
def test_the_commands_of_this_flow_mean_nothing_in_another(command: Command) -> None:
    """not_in_this_flow, with the name that the client sent."""
    chat = create(CreateSession(team=make_chat_team())).state
    with pytest.raises(Refused, match="not_in_this_flow") as caught:
        decide(chat, command, AT)
    assert str(caught.value.params["detail"]).startswith("user.")


# single tasks, and those that depend on them


def test_dependants_of_a_cancelled_task_are_asked_about() -> None:
    """Run without it, cancel them too, or run it after all."""
    scenario = solving().when(CancelTask(task_id="a", by="alice"))
    asked = scenario.step("task_dropped")
    assert (asked.names, [option.id for option in asked.options]) == (
        ("Task b", "Task c"),
        ["run_without", "cancel_dependants", "restart"],
    )
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="step")


def test_dependants_may_run_without_it() -> None:
    """They start without its result; the pipeline is partial."""
    scenario = solving().when(CancelTask(task_id="a", by="alice")).answers("task_dropped", "run_without")
    assert scenario.offered == ["b", "c"]


def test_dependants_may_be_cancelled_too() -> None:
    """Also those that depend on them, in the order of the plan."""
    chain = (task("a"), task("b", "a"), task("c", "b"), task("d", "c"), task("z"))
    scenario = solving(TEAM, *chain).when(CancelTask(task_id="a", by="alice"))
    scenario.answers("task_dropped", "cancel_dependants")
    assert [fact.task["id"] for fact in only(scenario.new, SolverCancelled)] == ["b", "c", "d"]
    assert scenario.completes("z").turn("aggregate")


def test_a_cancelled_task_may_be_run_after_all() -> None:
    """Restart takes the cancelling back."""
    scenario = solving().when(CancelTask(task_id="a", by="alice")).answers("task_dropped", "restart")
    assert (scenario.offered, scenario.state.open_steps) == (["a"], {})


def test_a_task_that_is_restarted_does_not_wait_for_a_cancelled_one() -> None:
    """Never stuck: both were cancelled, the one that needs the other is wanted after all; that is asked about."""
    chain = (task("a"), task("d"), task("e", "d"))
    scenario = solving(TEAM, *chain).when(CancelTask(task_id="e", by="alice"), CancelTask(task_id="d", by="alice"))
    assert scenario.state.open_steps == {}
    scenario.when(RestartTask(task_id="e", by="alice"))
    assert (scenario.step("task_dropped").task_id, scenario.step("task_dropped").names) == ("d", ("Task e",))
    assert scenario.answers("task_dropped", "run_without").offered == ["a", "e"]


def test_a_change_that_needs_a_cancelled_task_is_asked_about() -> None:
    """Never stuck: a new task may depend on one that was cancelled before."""
    scenario = solving(TEAM, task("a"), task("d")).when(CancelTask(task_id="d", by="alice")).says("more")
    add = {"op": "add", "task_id": "e", "changes": {"title": "Task e", "depends_on": ["d"]}}
    scenario.understands("same_task_minor_change").patches(add)
    assert scenario.step("task_dropped").names == ("Task e",)


def test_a_blocked_task_can_be_cancelled() -> None:
    """Never stuck: its question closes, and with nothing left to do the answer is made."""
    scenario = solving(TEAM, task("a"), task("b")).completes("b").task_fails("a", "auth")
    scenario.when(CancelTask(task_id="a", by="alice"))
    assert (scenario.state_of("a"), scenario.state.open_steps) == (TaskState.CANCELLED, {})
    assert scenario.turn("aggregate")


def test_a_task_that_was_cancelled_may_be_restarted_while_the_answer_is_made() -> None:
    """Never lost: the answer is made again when the task is done."""
    scenario = solving(TEAM, task("a"), task("b")).completes("b").when(CancelTask(task_id="a", by="alice"))
    assert scenario.turn("aggregate")
    scenario.when(RestartTask(task_id="a", by="alice"))
    assert (scenario.offered, scenario.state.running) == (["a"], ())
    assert scenario.completes("a").aggregates().work.status is Flow.COMPLETED


def test_what_is_done_is_not_done_again() -> None:
    """A finished task can neither be cancelled nor restarted; a replan can change it."""
    scenario = solving().completes("a")
    assert "user.replan" in scenario.when(RestartTask(task_id="a", by="alice")).refused("task_over").refusal_text
    scenario.when(CancelTask(task_id="a", by="alice")).refused("task_over")


def test_a_restarted_task_begins_at_the_beginning() -> None:
    """The next attempt, no failures of before; the worker that had it is stopped, its result is stale."""
    scenario = solving(TEAM, task("a")).task_fails("a").waits().starts("a")
    scenario.when(RestartTask(task_id="a", by="alice"))
    run = scenario.run("a")
    assert (run.attempt, run.retries, run.state, run.dispatch_id) == (3, 0, TaskState.DISPATCHING, "d3")


def test_teams_speak_chinese() -> None:
    """Questions and options are in the language of the session."""
    scenario = solving(make_plan_team(language="zh")).when(CancelTask(task_id="a", by="alice"))
    assert [option.label for option in scenario.step("task_dropped").options] == [
        "不等它，继续执行",
        "一并取消",
        "重新执行它",
    ]
