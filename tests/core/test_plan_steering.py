"""Steering a running plan with what people say."""

from collections.abc import Callable

import pytest

from moot.core import limits
from moot.core.effects import Understand
from moot.core.flows.plan.plan_commands import CancelTask, Replan
from moot.core.flows.plan.plan_events import (
    ChangeRequested,
    FinalAnswered,
    GoalChanged,
    PlanApproved,
    PlanCompleted,
    PlanPatched,
    PlanStarted,
    SnapshotSaved,
    SolverRestarted,
    WorkflowChanged,
)
from moot.core.flows.registry import flow_of
from moot.core.intake.front_door import semantic_input
from moot.core.intake.intent import PlanPatch, Relation
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import Answer, CancelTurn, Pause, Resume
from moot.core.session.events import InputDeferred, NoticePosted, RoutingDecided, SessionPaused, StepAsked, StepClosed
from moot.core.session.team import Team
from moot.testing import PlanScenario, task
from tests.core.plan_teams import GATED, TEAM, make_plan_team, planned, solving
from tests.core.teams import only, task_input, turn_input


def patch(op: str, task_id: str, **changes: object) -> PlanPatch:
    return PlanPatch(op=op, task_id=task_id, changes=changes)  # type: ignore[arg-type]


def said(scenario: PlanScenario, *patches: PlanPatch) -> PlanScenario:
    """A small change whose patches the rules know."""
    return scenario.says("a little different").understands("same_task_minor_change", plan_patches=patches)


def codes(scenario: PlanScenario) -> list[str]:
    return [fact.code for fact in only(scenario.new, NoticePosted)]


# minor changes


def test_a_simple_change_to_a_task_that_waits_is_applied_at_once() -> None:
    """Patches straight from the rules; what runs is not touched."""
    scenario = said(solving().starts("a"), patch("modify", "b", title="Bee"))
    scenario.then("understanding.completed", "routing.decided", "workflow.patched")
    assert scenario.run("b").task.title == "Bee"
    assert scenario.state_of("a") is TaskState.RUNNING


def test_a_change_to_a_task_that_runs_restarts_it() -> None:
    """Running tasks that a patch touches are restarted, with what is new."""
    scenario = said(solving().starts("a"), patch("modify", "a", objective="in blue"))
    scenario.then(
        "understanding.completed", "routing.decided", "workflow.patched", "solver.restarted", "task.dispatch_requested"
    )
    restarted = only(scenario.new, SolverRestarted)[0]
    assert (restarted.reason, restarted.task["objective"]) == ("patched", "in blue")
    assert (scenario.run("a").attempt, scenario.dispatch_id("a")) == (2, "d2")


def test_tasks_may_be_added_removed_and_moved() -> None:
    """Add, remove, reorder; each plan is checked like any other."""
    scenario = said(
        solving(),
        patch("add", "d", title="Dee", depends_on=["a"]),
        patch("remove", "c"),
        patch("reorder", "d", after="a"),
    )
    assert list(scenario.work.tasks) == ["a", "d", "b"]
    assert scenario.completes("a").offered == ["d", "b"]
    assert list(said(scenario, patch("reorder", "b")).work.tasks) == ["b", "a", "d"]


def test_a_removed_task_is_stopped() -> None:
    """Its worker stops, its question closes, what it held up is checked."""
    scenario = said(solving(TEAM, task("a"), task("b")).starts("a"), patch("remove", "a"))
    assert [fact.event for fact in scenario.new][2:] == ["solver.cancelled", "workflow.patched"]
    assert scenario.offered == ["b"]
    failed = solving(TEAM, task("a"), task("b")).task_fails("a", "auth")
    assert said(failed, patch("remove", "a")).state.open_steps == {}


def test_a_change_may_give_a_task_something_to_wait_for() -> None:
    """A task that could start waits again when a patch gives it a dependency."""
    serial = make_plan_team(*TEAM.ais[1:2])
    scenario = solving(serial, task("z", member="w1"), task("a"), task("b"))
    scenario = said(scenario, patch("modify", "b", depends_on=["a"]))
    assert scenario.state_of("b") is TaskState.CREATED
    assert scenario.completes("a").state_of("b") is TaskState.DISPATCHING


def test_what_does_not_fit_the_plan_goes_to_the_planner() -> None:
    """Patches of the rules that are no sound plan are left to the planner; all or none are applied."""
    scenario = said(solving(), patch("modify", "b", title="Bee"), patch("remove", "ghost"))
    scenario.then("understanding.completed", "routing.decided", "workflow.change_requested", "turn.started")
    assert scenario.run("b").task.title == "Task b"
    assert only(scenario.new, ChangeRequested)[0].text == "a little different"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (patch("remove", "a"), "is over"),
        (patch("modify", "a", title="x"), "is over"),
        (patch("modify", "b"), "changes are missing"),
        (patch("modify", "b", depends_on=["b"]), "b → b"),
        (patch("add", "b", title="x"), "is there already"),
        (patch("add", "d"), "title"),
        (patch("reorder", "b", after="b"), "no other task"),
        (patch("modify", "ghost", title="x"), "there are a, b, c"),
    ],
)
def test_patches_that_make_no_sound_plan_are_sent_back(wrong: PlanPatch, words: str) -> None:
    """Validated like a plan, applied to tasks not yet done; the planner gets the reasons."""
    scenario = solving().completes("a").says("change").understands("same_task_minor_change")
    scenario.patches({"op": wrong.op, "task_id": wrong.task_id, "changes": wrong.changes})
    scenario.then("turn.completed", "workflow.plan_refused", "turn.started")
    given = turn_input("session-1", scenario.state, scenario.turn("patch")).assignment
    assert given is not None
    assert words in " ".join(given.problems)


def test_the_planner_turns_words_into_patches() -> None:
    """It is given the change and how far the plan is; its patches are applied while work goes on."""
    scenario = solving().starts("a").says("call b Bee").understands("same_task_minor_change")
    given = turn_input("session-1", scenario.state, scenario.turn("patch")).assignment
    assert given is not None
    assert given.feedback == "call b Bee"
    assert [(report.task.id, report.state) for report in given.tasks[:1]] == [("a", "RUNNING")]
    scenario.patches({"op": "modify", "task_id": "b", "changes": {"title": "Bee"}})
    scenario.then("turn.completed", "workflow.patched")
    assert (scenario.run("b").task.title, scenario.work.feedback) == ("Bee", "")


def test_patches_are_made_safe() -> None:
    """What a planner writes into a patch is untrusted, and must be stored."""
    scenario = solving().says("x").understands("same_task_minor_change")
    scenario.patches({"op": "modify", "task_id": "b", "changes": {"title": "\x1b[2JBee", "n": 10**40}})
    patched = only(scenario.new, PlanPatched)[0]
    assert patched.patches[0].changes == {"title": "Bee", "n": str(10**40)}


def test_two_changes_in_a_row_are_made_together() -> None:
    """Never lost: a change that the planner was working on is asked for again with the next one."""
    scenario = solving().says("first").understands("same_task_minor_change")
    scenario.says("second").understands("same_task_minor_change")
    assert only(scenario.new, ChangeRequested)[0].text == "first\nsecond"
    assert [turn.job for turn in scenario.state.running] == ["patch"]
    scenario.patches().says("third").understands("same_task_minor_change")
    assert only(scenario.new, ChangeRequested)[0].text == "third"


def test_patches_that_are_never_right_are_the_humans_decision() -> None:
    """Sent back twice, then asked: try again, go on as planned, or plan again."""
    scenario = solving().says("x").understands("same_task_minor_change")
    for _ in range(3):
        scenario.patches({"op": "explode"})
    assert [option.id for option in scenario.step("plan_refused").options] == ["retry", "continue", "replan"]
    scenario.answers("plan_refused", "continue")
    assert (scenario.work.feedback, scenario.work.refusals) == ("", 0)  # the change is given up
    assert scenario.completes("a").offered == ["b", "c"]


def test_a_change_while_the_answer_is_being_made_reopens_the_work() -> None:
    """Never lost: the answer would be about less; it is made again when the change is done."""
    scenario = solving(TEAM, task("a")).completes("a").says("and b").understands("same_task_minor_change")
    assert [turn.job for turn in scenario.state.running] == ["patch"]
    scenario.patches({"op": "add", "task_id": "b", "changes": {"title": "B"}}).completes("b")
    assert scenario.aggregates().work.status is Flow.COMPLETED


def test_an_answer_waits_for_a_change() -> None:
    """Never lost: the last task ends while the planner is patching; nothing is aggregated before."""
    scenario = solving(TEAM, task("a")).says("and b").understands("same_task_minor_change").completes("a")
    assert [turn.job for turn in scenario.state.running] == ["patch"]
    assert scenario.patches().turn("aggregate")


# major changes


def test_a_big_change_is_asked_about_while_work_goes_on() -> None:
    """major_change → full_replan, which asks if the planner cannot say; declined, nothing changes."""
    scenario = solving().says("in Chinese").understands("same_task_major_change").evaluates("ask")
    asked = only(scenario.new, StepAsked)[0]
    assert (asked.code, [option.id for option in asked.options]) == (
        "ask_replan",
        ["replan", "minor_replan", "continue", "finish_first", "close_and_start", "abort"],
    )
    scenario.completes("a")
    assert scenario.offered == ["b", "c"]
    scenario.answers("ask_replan", "continue").then("agent.user_confirm_closed", "workflow.changed")


def test_a_full_replan_keeps_finished_work() -> None:
    """With the snapshot of what is done; what runs is stopped, what still fits is not done again."""
    scenario = solving().completes("a", "A").starts("b").says("other end").understands("same_task_major_change")
    scenario.answers("ask_replan", "replan", by="alice")
    scenario.then(
        "agent.user_confirm_closed",
        "workflow.goal_changed",
        "workflow.snapshot_saved",
        "solver.cancelled",
        "solver.cancelled",
        "workflow.changed",
        "plan.start",
        "turn.started",
    )
    snapshot = only(scenario.new, SnapshotSaved)[0]
    assert (snapshot.done, snapshot.running) == (("a",), ("b", "c"))
    begun = only(scenario.new, PlanStarted)[0]
    assert (begun.feedback, begun.snapshot_id, begun.plan_id) == ("other end", snapshot.snapshot_id, "p2")
    scenario.plans(task("a"), task("x", "a"))
    assert only(scenario.new, PlanCompleted)[0].kept == ("a",)
    scenario.approves()
    assert (scenario.state_of("a"), scenario.run("a").result, scenario.offered) == (TaskState.DONE, "A", ["x"])


def test_a_plan_of_finished_work_goes_straight_to_the_answer() -> None:
    """Nothing is left to run."""
    scenario = solving(TEAM, task("a")).completes("a").says("again").understands("same_task_major_change")
    assert scenario.answers("ask_replan", "replan").plans(task("a")).approves().turn("aggregate")


def test_finished_work_that_changed_is_done_again() -> None:
    """Kept where it still fits: another objective, or another basis, is another task; who does it is not."""
    scenario = solving(TEAM, task("a"), task("b", "a"), task("z")).completes("a").completes("b").completes("z")
    scenario.says("again").understands("same_task_major_change").answers("ask_replan", "replan")
    scenario.plans(task("a", objective="new"), task("b", "a"), task("z", member="w2")).approves()
    assert only(scenario.new, PlanApproved)[0].kept == ("z",)
    assert [scenario.state_of(each) for each in "abz"] == [TaskState.DISPATCHING, TaskState.CREATED, TaskState.DONE]


def test_what_waits_to_be_tried_again_is_forgotten_by_a_replan() -> None:
    """Never stuck: retries of tasks and of changes belong to the plan before."""
    scenario = solving(TEAM, task("a"), task("b")).task_fails("a").says("bit").understands("same_task_minor_change")
    scenario.job_fails("patch").says("all").understands("same_task_major_change").evaluates().answers(
        "ask_replan", "replan"
    )
    assert [effect.key for effect in outstanding(scenario.state)] == ["t4", "deadline:t4"]


def test_feedback_on_a_plan_that_waits_makes_another_one() -> None:
    """Minor or major → the planner plans again with the input as feedback; the old step is superseded."""
    scenario = planned().says("shorter").understands("same_task_minor_change")
    assert only(scenario.new, StepClosed) == [StepClosed(step_id="confirm_plan_p1", outcome="superseded")]
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert given.feedback == "shorter"
    assert [(report.task.id, report.state) for report in given.tasks] == [(each, "PROPOSED") for each in "abc"]
    scenario.plans(task("a"))
    assert scenario.step("confirm_plan").step_id == "confirm_plan_p2"
    scenario.when(Answer(step_id="confirm_plan_p1", by="alice", confirmed=True)).refused("confirmation_expired")
    assert scenario.refusal_text == "This question was withdrawn: the work has moved on"


def test_feedback_adds_up_until_a_plan_is_approved() -> None:
    """Never lost: what was said about a plan in the making counts for the next one too."""
    scenario = planned().says("shorter").understands("same_task_minor_change")
    scenario.says("and blue").understands("same_task_major_change")
    assert scenario.work.feedback == "shorter\nand blue"
    assert scenario.plans(task("a")).approves().work.feedback == ""


def test_what_is_said_about_a_later_plan_goes_to_the_planner() -> None:
    """A plan that is being made, the first one or a later one; the old plan is not patched any more."""
    scenario = solving().says("bigger").understands("same_task_major_change").answers("ask_replan", "replan")
    said(scenario, patch("remove", "b"))
    assert (scenario.work.feedback, "b" in scenario.work.tasks) == ("bigger\na little different", True)


def test_nothing_new_never_approves() -> None:
    """no_change while a plan waits: a notice says that it still waits."""
    scenario = planned().says("looks good, go ahead").understands("same_task_no_change")
    assert codes(scenario) == ["plan_waits"]
    assert (scenario.work.status, scenario.offered) == (Flow.WAIT_USER_DECISION, [])
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="step")


# another task


def test_another_task_is_asked_about() -> None:
    """different_task while work is under way: now or later, or a change of this work after all, or drop, or abort."""
    scenario = solving().says("a poem").understands("different_task")
    assert [option.id for option in scenario.step("ask_new_task").options] == [
        "finish_first",
        "close_and_start",
        "minor_replan",
        "replan",
        "drop",
        "abort",
    ]
    assert scenario.completes("a").offered == ["b", "c"]


def test_finish_first_begins_when_the_work_is_complete() -> None:
    """The new input is never lost; it begins by itself after pipeline.completed, in order."""
    scenario = solving(TEAM, task("a"))
    for text in ("a poem", "a song"):
        scenario.says(text).understands("different_task").answers("ask_new_task", "finish_first")
        assert only(scenario.new, InputDeferred)[0].text == text
    scenario.completes("a").aggregates()
    assert (scenario.work.question, scenario.turn("plan").member) == ("a poem", "planner")
    assert only(scenario.new, WorkflowChanged)[-1].is_deferred
    assert [each.text for each in scenario.state.door.deferred] == ["a song"]


def test_close_and_start_ends_the_current_work() -> None:
    """close_and_new_task: what runs is cancelled, the new plan begins at once."""
    scenario = solving().says("a poem").understands("different_task").answers("ask_new_task", "close_and_start")
    scenario.then(
        "agent.user_confirm_closed",
        "solver.cancelled",
        "agent.interrupted",
        "workflow.changed",
        "workflow.changed",
        "plan.start",
        "turn.started",
    )
    assert (scenario.work.question, scenario.work.tasks) == ("a poem", {})


def test_drop_forgets_the_input() -> None:
    """Dropped, and said so."""
    scenario = solving().says("a poem").understands("different_task").answers("ask_new_task", "drop")
    assert codes(scenario) == ["input_dropped"]
    assert scenario.state.door.deferred == ()


def test_work_that_ends_while_the_question_waits_does_not_lose_the_input() -> None:
    """Never lost: whatever is chosen then, the input is a goal of its own."""
    for choice in ("finish_first", "close_and_start"):
        scenario = solving(TEAM, task("a")).says("a poem").understands("different_task").completes("a").aggregates()
        assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="step")
        assert scenario.answers("ask_new_task", choice).work.question == "a poem"


def test_an_input_that_is_understood_after_the_end_continues_the_work() -> None:
    """Never lost: the work completes while its meaning is looked for."""
    scenario = solving(TEAM, task("a")).completes("a").says("make it blue").aggregates()
    assert [type(effect) for effect in outstanding(scenario.state)] == [Understand]
    assert scenario.understands("same_task_minor_change").work.question == "write a report\nChange: make it blue"


def test_what_was_put_off_waits_after_a_cancel() -> None:
    """Cancelled work does not start the next by itself; /resume does, and so does the end of later work."""
    scenario = solving(TEAM, task("a")).says("a poem").understands("different_task")
    scenario.answers("ask_new_task", "finish_first").when(CancelTurn(by="alice"))
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="finished")
    assert [each.text for each in scenario.state.door.deferred] == ["a poem"]
    assert scenario.when(Resume(by="alice")).work.question == "a poem"
    assert scenario.state.door.deferred == ()


def test_a_pause_holds_what_was_put_off_too() -> None:
    """The last turn ends within the grace; the next work begins when somebody resumes."""
    scenario = solving(TEAM, task("a")).says("a poem").understands("different_task")
    scenario.answers("ask_new_task", "finish_first").completes("a").when(Pause(by="alice")).aggregates()
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="user_pause")
    assert scenario.when(Resume(by="alice")).work.question == "a poem"


def test_no_more_is_put_off_than_the_limit() -> None:
    """A limit on everything: the answer is refused, the question stays."""
    scenario = solving()
    for number in range(limits.DEFERRED):
        scenario.says(f"poem {number}").understands("different_task").answers("ask_new_task", "finish_first")
    scenario.says("one more").understands("different_task").answers("ask_new_task", "finish_first")
    scenario.refused("too_many_inputs")
    assert scenario.answers("ask_new_task", "drop").refusal is None


# another plan instead of the one that runs


def by_command(scenario: PlanScenario) -> PlanScenario:
    return scenario.when(Replan(feedback="better", by="alice"))


def by_choice(scenario: PlanScenario) -> PlanScenario:
    return scenario.says("bigger").understands("same_task_major_change").answers("ask_replan", "replan")


@pytest.mark.parametrize("replan", [by_command, by_choice])
def test_a_replan_asks_nothing_about_the_plan_that_it_replaces(replan: Callable[[PlanScenario], PlanScenario]) -> None:
    """The tasks that depend on a running one belong to the old plan; the new plan runs to its answer."""
    scenario = replan(solving(TEAM, task("a"), task("b", "a")).starts("a"))
    assert scenario.state.open_steps == {}
    scenario.plans(task("c")).approves().completes("c").aggregates("all of it")
    assert [fact.text for fact in only(scenario.new, FinalAnswered)] == ["all of it"]
    assert scenario.work.status is Flow.COMPLETED


def test_a_replan_withdraws_what_was_asked_about_the_old_plan() -> None:
    """A question about a cancelled task closes with the replan; an answer to it is told that it was withdrawn."""
    scenario = solving(TEAM, task("a"), task("b", "a"), task("c")).starts("c").when(CancelTask(task_id="a", by="alice"))
    asked = scenario.step("task_dropped").step_id
    scenario.when(Replan(feedback="better", by="alice"))
    scenario.when(Answer(step_id=asked, by="alice", choice="restart")).refused("confirmation_expired")
    assert "withdrawn" in scenario.refusal_text
    scenario.plans(task("d")).approves().completes("d")
    assert scenario.turn("aggregate")


# a large change gives the work another goal


def goals(scenario: PlanScenario, *jobs: str) -> set[str]:
    """The goal that the members of these running turns are given."""
    inputs = [turn_input("session-1", scenario.state, scenario.turn(job)).assignment for job in jobs]
    return {each.question for each in inputs if each}


def test_a_large_change_replaces_the_goal_for_everybody() -> None:
    """Planner, executors, reviewer, aggregator and understanding are given the new goal, and a fact says what it is."""
    scenario = by_choice(solving(GATED, task("a"), task("b", "a")).starts("a"))
    goal = "write a report\nChange: bigger"
    assert only(scenario.new, GoalChanged) == [GoalChanged(question=goal, was="write a report", member="alice")]
    assert only(scenario.new, PlanStarted)[0].question == goal
    assert goals(scenario, "plan") == {goal}
    scenario.plans(task("c")).approves()
    given = task_input("session-1", scenario.state, scenario.run("c")).assignment
    assert given is not None
    assert given.question == goal
    assert goals(scenario.completes("c"), "review") == {goal}
    assert goals(scenario.reviews("c", passes=True), "aggregate") == {goal}
    told = semantic_input(scenario.state, "shorter", flow_of(scenario.state)).system_state.current_task
    assert told is not None
    assert told.goal == goal


def test_the_goal_of_a_model_replaces_the_old_one_whole() -> None:
    """A model that understood the change says what the goal is now; rules can only add the change to the old goal."""
    team = make_plan_team(understanding="llm")
    scenario = solving(team).says("about tea instead").understands("same_task_major_change", goal="a report about tea")
    scenario.answers("ask_replan", "replan")
    assert scenario.work.question == "a report about tea"


def test_a_small_change_and_feedback_on_a_plan_leave_the_goal() -> None:
    """Only a large change replaces the goal, also while a plan waits for its confirmation."""
    small = planned().says("shorter").understands("same_task_minor_change").plans(task("a"))
    small.answers("confirm_plan", answer="in blue")
    small.plans(task("a")).approves().when(Replan(feedback="better", by="alice"))
    assert small.work.question == "write a report"
    large = planned().says("for children").understands("same_task_major_change")
    assert large.work.question == "write a report\nChange: for children"


# every question about an input offers every way on


@pytest.mark.parametrize(
    ("relation", "confidence", "code"),
    [
        ("same_task_major_change", 0.9, "ask_replan"),
        ("different_task", 0.9, "ask_new_task"),
        ("same_task_no_change", 0.3, "ask_unsure"),
    ],
)
@pytest.mark.parametrize(
    ("choice", "happens"),
    [
        ("replan", "plan.start"),
        ("minor_replan", "workflow.change_requested"),
        ("finish_first", "workflow.deferred"),
        ("close_and_start", "plan.start"),
        ("abort", "agent.interrupted"),
    ],
)
def test_each_way_on_can_be_chosen(relation: Relation, confidence: float, code: str, choice: str, happens: str) -> None:
    """Plan again, change a little, do it later or instead, or stop the work: whatever Moot took the input for."""
    scenario = solving().says("hm").understands(relation, confidence).answers(code, choice)
    assert happens in [fact.event for fact in scenario.new]
    assert scenario.state.slice.is_active is (choice != "abort")


def test_a_choice_that_comes_when_the_work_is_over_starts_nothing_to_abort() -> None:
    """The work may end while its question is open: aborting it then changes nothing."""
    scenario = solving(TEAM, task("a")).says("hm").understands("same_task_no_change", 0.3)
    scenario.completes("a").aggregates().answers("ask_unsure", "abort")
    assert scenario.work.status is Flow.COMPLETED


# what people are told while a plan waits


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("same_task_no_change", "route_plan_stays"),
        ("same_task_minor_change", "route_plan_again"),
        ("same_task_major_change", "route_plan_again"),
    ],
)
def test_a_route_says_what_happens_to_a_plan_that_is_not_approved(relation: Relation, code: str) -> None:
    """Nothing runs yet, so nothing goes on: the plan stays or is made again, and nobody is asked about that."""
    routed = only(planned().says("hm").understands(relation).new, RoutingDecided)[0]
    assert (routed.message_code, routed.user_confirmation_required) == (code, False)
    assert only(solving().says("hm").understands("same_task_no_change").new, RoutingDecided)[0].message_code == (
        "route_continue_execution"
    )


# what is said about finished work continues it


def finished(team: Team = TEAM) -> PlanScenario:
    return solving(team, task("a")).completes("a", "A").aggregates("a long report")


def test_a_change_of_finished_work_continues_it() -> None:
    """The same goal with the change; planner and executors are given the finished result."""
    scenario = finished().says("make it shorter").understands("same_task_minor_change")
    assert only(scenario.new, RoutingDecided)[0].message_code == "route_follow_up"
    assert only(scenario.new, WorkflowChanged)[0].follows
    assert scenario.work.question == "write a report\nChange: make it shorter"
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert (given.before, given.feedback) == ("a long report", "make it shorter")
    scenario.plans(task("b")).approves()
    solver = task_input("session-1", scenario.state, scenario.run("b")).assignment
    assert solver is not None
    assert solver.before == "a long report"


def asked() -> PlanScenario:
    """A question about finished work."""
    return finished().says("why is it so long?").understands("same_task_no_change", action="query")


def test_a_question_about_finished_work_is_answered_without_a_plan() -> None:
    """One task with the result at hand; the goal stays, and nobody is asked to approve anything."""
    scenario = asked()
    assert only(scenario.new, RoutingDecided)[0].message_code == "route_asks_back"
    assert (scenario.offered, scenario.work.question) == (["answer"], "write a report")
    solver = task_input("session-1", scenario.state, scenario.run("answer")).assignment
    assert solver is not None
    assert solver.task is not None
    assert (solver.task.title, solver.before) == ("why is it so long?", "a long report")
    assert [fact.text for fact in only(scenario.completes("answer").aggregates("sorry").facts, FinalAnswered)][
        -1
    ] == "sorry"


def test_the_result_stays_at_hand_after_a_question_about_it() -> None:
    """What is changed next is the report, and not what was said about it."""
    scenario = asked().completes("answer").aggregates("it had to be")
    scenario.says("make it shorter").understands("same_task_minor_change")
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert (given.question, given.before) == (
        "write a report\nChange: make it shorter",
        "a long report\n\nit had to be",
    )


def test_another_task_after_finished_work_is_its_own() -> None:
    """It gets its own goal; the planner may look at the last result, in case the person meant it."""
    scenario = finished().says("a poem").understands("different_task")
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert (given.question, given.before) == ("a poem", "a long report")


def test_cancelled_work_is_not_continued() -> None:
    """There is no result to go on with."""
    scenario = solving().when(CancelTurn(by="alice")).says("shorter").understands("same_task_minor_change")
    assert scenario.work.question == "shorter"
    assert only(scenario.new, RoutingDecided)[0].message_code == "route_new_task"


def test_understanding_is_told_what_was_finished_and_what_members_do() -> None:
    """Completed work with its goal, the newest steps, and who there is."""
    after = semantic_input(finished().state, "shorter", flow_of(finished().state)).system_state
    assert after.current_task is not None
    assert (after.workflow_status, after.current_task.goal, after.current_task.progress) == (
        "completed",
        "write a report",
        1.0,
    )
    running = solving().starts("a").steps("a", "reading the sources").state
    told = semantic_input(running, "how far?", flow_of(running)).system_state
    assert told.last_activity == "Task a: reading the sources"
    assert told.available_resources == ("planner", "w1", "w2")
