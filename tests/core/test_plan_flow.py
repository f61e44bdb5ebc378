"""Plan, confirm, solve, aggregate."""

import msgspec

from moot.core.codec import Head, frame, stamp
from moot.core.effects import RunTurn
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_events import (
    DispatchRequested,
    FinalAnswered,
    PipelineCompleted,
    PlanCompleted,
    PlanStarted,
    PlanStepped,
    SolverProgressed,
)
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.plan.plan_slice import find_work
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.outstanding import outstanding
from moot.core.session.commands import CancelTurn, End, ExpireTurn, ReportStep
from moot.core.session.events import SessionPaused, StepAsked, UnderstandingCompleted
from moot.testing import PlanScenario, plan_given, task
from tests.core.plan_teams import EDITED, GATED, PAIR, TEAM, make_plan_team, planned, solving, worker
from tests.core.teams import only, turn_input

CONFIRM = "confirm_plan_p1"


def finished(scenario: PlanScenario) -> PlanScenario:
    return scenario.completes("a", "A").completes("b", "B").completes("c", "C")


def frames(scenario: PlanScenario) -> list[dict[str, object]]:
    """What a client is sent, from the first event on."""
    events = stamp(scenario.state.team, "session-1", Head(), scenario.facts, "2026-01-01T00:00:00.000Z")
    return [msgspec.json.decode(frame(event, "en")) for event in events]


# the whole way


def test_a_message_leads_to_a_plan() -> None:
    """user.message starts planning; the planner acts."""
    scenario = plan_given(TEAM).says("write a report")
    scenario.then("message.posted", "understanding.started", "session.activated")
    scenario.understands("different_task")
    scenario.then("understanding.completed", "routing.decided", "workflow.changed", "plan.start", "turn.started")
    assert only(scenario.new, PlanStarted)[0].question == "write a report"
    assert [turn.member for turn in scenario.state.running] == ["planner"]


def test_each_step_of_the_planner_is_told() -> None:
    """plan.step_completed × N, counted."""
    scenario = plan_given(TEAM).says("write a report").understands("different_task")
    turn_id = scenario.turn("plan").turn_id
    scenario.when(ReportStep(turn_id=turn_id, thought="one"), ReportStep(turn_id=turn_id, action="two"))
    steps = only(scenario.facts, PlanStepped)
    assert [(step.step, step.n, step.member) for step in steps] == [("one", 1, "planner"), ("two", 2, "planner")]
    assert [(step.thought, step.action, step.observation) for step in steps] == [
        ("one", None, None),
        (None, "two", None),
    ]


def test_a_plan_is_shown_and_asked_about() -> None:
    """plan.completed with tasks and summary, then agent.user_confirm with a step id of its own."""
    scenario = planned()
    scenario.then("turn.completed", "plan.completed", "agent.user_confirm", "workflow.changed", "session.paused")
    shown, asked = only(scenario.new, PlanCompleted)[0], only(scenario.new, StepAsked)[0]
    assert (shown.plan_summary, [each["id"] for each in shown.tasks]) == ("a plan", ["a", "b", "c"])
    assert (asked.step_id, asked.kind, asked.asked_by) == (CONFIRM, "plan", "alice")
    assert (asked.tasks, asked.plan_summary, asked.plan_hash) == (shown.tasks, "a plan", shown.plan_hash)
    assert (asked.expires_at, asked.default) == (None, "reject")
    assert [option.id for option in asked.options] == ["approve", "reject"]
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="step")


def test_the_plan_runs_in_parallel_after_its_dependencies_and_is_aggregated() -> None:
    """solver.* for each task, then aggregate.*, pipeline.completed, agent.final_answer."""
    scenario = solving()
    scenario.then(
        "agent.user_confirm_closed",
        "workflow.plan_approved",
        "workflow.changed",
        "task.dispatch_requested",
        "session.activated",
    )
    scenario.completes("a", "A").then("solver.completed", "task.dispatch_requested", "task.dispatch_requested")
    assert scenario.offered == ["b", "c"]
    scenario.completes("c", "C").completes("b", "B").then("solver.completed", "aggregate.start", "turn.started")
    scenario.aggregates("all of it").then(
        "turn.completed",
        "aggregate.completed",
        "pipeline.completed",
        "agent.final_answer",
        "workflow.changed",
        "session.paused",
    )
    assert only(scenario.new, PipelineCompleted) == [PipelineCompleted(status="complete")]
    assert only(scenario.new, FinalAnswered) == [FinalAnswered(text="all of it", member="planner")]
    assert scenario.new[-1] == SessionPaused(waiting_for="alice", reason="finished")
    assert scenario.work.status is Flow.COMPLETED


def test_the_session_goes_on_after_the_pipeline() -> None:
    """The pipeline is complete, the session continues with new input."""
    scenario = finished(solving()).aggregates().says("and now a poem").understands("same_task_no_change")
    assert scenario.state.door.current_routing_decision is not None
    assert scenario.state.door.current_routing_decision.route == "new_task"  # nothing is under way: never asks
    assert (scenario.work.question, scenario.work.plan_id) == ("and now a poem", "p2")


def test_the_order_of_events() -> None:
    """Three tasks at once, the third times out and is retried while the others are done already."""
    team = make_plan_team(worker("w1"), plan=PlanSettings(max_parallel=3))
    scenario = solving(team, task("1"), task("2"), task("3"))
    before = len(scenario.facts)
    scenario.starts("1").steps("1").starts("2").steps("2").starts("3").completes("1").steps("2").steps("3")
    scenario.completes("2").when(ExpireTurn(turn_id=scenario.dispatch_id("3"))).waits().completes("3")
    told = [
        fact.event for fact in scenario.facts[before:] if fact.event.split(".")[0] in ("solver", "error", "aggregate")
    ]
    assert told == [
        "solver.start",
        "solver.progress",
        "solver.start",
        "solver.progress",
        "solver.start",
        "solver.completed",
        "solver.progress",
        "solver.progress",
        "solver.completed",
        "error.execution",
        "error.recovery_started",
        "solver.start",
        "solver.completed",
        "error.recovery_success",
        "aggregate.start",
    ]


def test_without_an_aggregator_the_planner_aggregates() -> None:
    """An aggregator is optional."""
    assert finished(solving()).turn("aggregate").member == "planner"
    scenario = solving(EDITED, task("a")).completes("a")
    assert scenario.turn("aggregate").member == "editor"


def test_the_aggregator_is_given_all_results() -> None:
    """The answer is made of the results."""
    scenario = finished(solving())
    given = turn_input("session-1", scenario.state, scenario.turn("aggregate")).assignment
    assert given is not None
    assert [(report.task.id, report.state, report.result) for report in given.tasks] == [
        ("a", "DONE", "A"),
        ("b", "DONE", "B"),
        ("c", "DONE", "C"),
    ]


def test_an_aggregator_with_nothing_to_say_does_not_lose_the_results() -> None:
    """An empty answer becomes the results themselves."""
    scenario = finished(solving()).aggregates(" ")
    assert only(scenario.new, FinalAnswered)[0].text == "Task a: A\n\nTask b: B\n\nTask c: C"


def test_plans_may_run_without_being_confirmed() -> None:
    """plan.confirm = never starts at once."""
    scenario = planned(make_plan_team(plan=PlanSettings(confirm="never")), task("a"))
    scenario.then(
        "turn.completed", "plan.completed", "workflow.plan_approved", "workflow.changed", "task.dispatch_requested"
    )
    assert scenario.state.open_steps == {}


# tasks that are brought along


def test_tasks_that_are_brought_run_without_planning() -> None:
    """user.solve_tasks: no planning, no confirmation, the same ending."""
    scenario = plan_given(TEAM).when(SolveTasks(tasks=(task("a"), task("b", "a")), question="do it", by="alice"))
    scenario.then(
        "workflow.changed", "workflow.plan_approved", "workflow.changed", "task.dispatch_requested", "session.activated"
    )
    scenario.completes("a").completes("b").aggregates()
    assert scenario.work.status is Flow.COMPLETED
    assert scenario.work.question == "do it"


def test_tasks_that_are_brought_need_a_free_session_and_a_sound_plan() -> None:
    """Typed refusals: work is under way already, or the tasks cannot be run."""
    solving().when(SolveTasks(tasks=(task("a"),))).refused("workflow_active")
    scenario = plan_given(TEAM).when(SolveTasks(tasks=(task("a", "zz"),))).refused("invalid_plan")
    assert "tasks[0].depends_on" in scenario.refusal_text
    assert find_work(scenario.state) is None


def test_the_question_of_brought_tasks_is_made_safe() -> None:
    """It is untrusted text; without one the titles say what it is about."""
    scenario = plan_given(TEAM).when(SolveTasks(tasks=(task("a"),), question="\x1b[2Jdo\u202e it"))
    assert scenario.work.question == "do it"
    assert plan_given(TEAM).when(SolveTasks(tasks=(task("a"), task("b")))).work.question == "Task a; Task b"


# timeline, sources, persisted fields


def test_the_timeline_names_come_in_order() -> None:
    """The twelve names, in the order in which a person meets them."""
    scenario = solving(GATED, task("a")).starts("a").steps("a").completes("a").reviews("a", passes=True)
    told = [str(sent["timeline"]) for sent in frames(scenario) if "timeline" in sent]
    assert told == [
        "user_input_received",
        "semantic_understanding_started",
        "semantic_understanding_completed",
        "routing_decision_made",
        "phase_transition",  # PLAN_LOOP
        "user_confirmation_required",
        "phase_transition",  # WAIT_USER_DECISION
        "phase_transition",  # EXECUTION
        "task_dispatch_requested",
        "task_dispatch_ack",
        "task_execution_started",
        "agent_step_completed",
        "task_execution_result",
        "task_review_result",
    ]


def test_a_failed_handshake_and_a_failed_run_have_their_timeline_names() -> None:
    """task_dispatch_nack; task_execution_result also tells failures."""
    scenario = solving(TEAM, task("a")).nacks("a").waits().task_fails("a")
    told = {str(sent["event"]): sent.get("timeline") for sent in frames(scenario)}
    assert told["task.dispatch_nacked"] == "task_dispatch_nack"
    assert told["task.failed"] == "task_execution_result"


def test_every_event_names_its_loop_and_role() -> None:
    """`{loop_id}.{role}`; the front end never guesses."""
    scenario = solving(GATED, task("a")).completes("a").reviews("a", passes=True).aggregates()
    sources = {str(sent["event"]): sent["source"] for sent in frames(scenario)}

    def named(event: str) -> str:
        source = sources[event]
        assert isinstance(source, dict)
        return f"{source['loop_id']}.{source['role']}"

    assert named("plan.start") == named("plan.completed") == "moot-orchestrator.planner"
    assert named("task.dispatch_requested") == "moot-orchestrator.orchestrator"
    assert (
        named("task.dispatch_acked") == named("solver.start") == named("solver.completed") == "moot-executor.executor"
    )
    assert named("task.reviewed") == "moot-orchestrator.reviewer"
    assert named("message.posted") == "moot-orchestrator.user"
    assert all(isinstance(source, dict) and source["loop_id"] and source["role"] for source in sources.values())


def test_frames_show_the_tasks_in_content_too() -> None:
    """Clients find tasks and summary in `content`; stored they are once."""
    sent = {str(each["event"]): each for each in frames(planned())}
    for event in ("plan.completed", "agent.user_confirm"):
        metadata = sent[event]["metadata"]
        assert isinstance(metadata, dict)
        assert sent[event]["content"] == {"tasks": metadata["tasks"], "plan_summary": "a plan"}
    assert sent["agent.user_confirm"]["step_id"] == CONFIRM


def test_the_final_answer_is_content() -> None:
    """agent.final_answer has the aggregator's text as its content, a string."""
    sent = {str(each["event"]): each for each in frames(finished(solving()).aggregates("all"))}
    assert sent["agent.final_answer"]["content"] == "all"


def test_a_decision_says_that_it_asks_nothing() -> None:
    """`user_confirmation_required` is a field of every decision, also when it is false."""
    [decided] = [each for each in frames(planned()) if each["event"] == "routing.decided"]
    assert decided["metadata"]["user_confirmation_required"] is False  # type: ignore[index]


def test_the_analysis_is_in_the_log() -> None:
    """What was understood and how it was routed are events, and the newest are in the state."""
    scenario = planned()
    analysis = only(scenario.facts, UnderstandingCompleted)[0].analysis
    assert scenario.state.door.current_intent_analysis == analysis
    decision = scenario.state.door.current_routing_decision
    assert decision is not None
    assert (decision.route, decision.user_confirmation_required) == ("new_task", False)


def test_the_fields_of_section_11_follow_the_work() -> None:
    """Status, replan_reason, decision_required, decision_options, latest_execution_snapshot_id."""
    scenario = planned()
    work = scenario.work
    assert (work.status, work.decision_required, work.decision_options) == (
        Flow.WAIT_USER_DECISION,
        True,
        ("approve", "reject"),
    )
    work = scenario.approves().work
    assert (work.status, work.decision_required, work.decision_options) == (Flow.EXECUTION, False, ())
    work = scenario.task_fails("a", "auth").work
    assert (work.status, work.replan_reason) == (Flow.REPLAN_EVALUATION, "major_failure")
    work = scenario.evaluates("ask").work
    assert (work.status, work.replan_reason) == (Flow.WAIT_USER_DECISION, "major_failure")
    assert work.decision_options == ("retry", "skip", "reassign", "replan", "abort")
    work = scenario.answers("task_failed", "replan").work
    assert (work.status, work.replan_reason, work.latest_execution_snapshot_id) == (
        Flow.PLAN_LOOP,
        "major_failure",
        "x1",
    )


def test_giving_up_is_no_reason_to_replan() -> None:
    """replan_reason is one of four reasons; a user's abort is none of them."""
    assert solving().when(CancelTurn(by="alice")).work.replan_reason is None


def test_the_end_of_the_session_stops_everything() -> None:
    """Workers are stopped, questions withdrawn, inputs forgotten; nothing is outstanding."""
    scenario = solving().says("faster").when(End(by="alice"))
    scenario.then("solver.cancelled", "agent.interrupted", "workflow.changed", "session.completed")
    assert outstanding(scenario.state) == []
    assert scenario.state.is_settled


def test_progress_is_counted_and_never_nonsense() -> None:
    """Totals of 0, less than done, or beyond all bounds are ignored; percent stays within 0 and 100."""
    scenario = solving(TEAM, task("a")).starts("a")
    for total in (4, -1, 0, 1, 10**30, 8):
        scenario.steps("a", total=total)
    told = only(scenario.facts, SolverProgressed)
    assert [(each.done, each.total, each.percent) for each in told] == [
        (1, 4, 25.0),
        (2, None, None),
        (3, None, None),
        (4, None, None),
        (5, None, None),
        (6, 8, 75.0),
    ]


def test_steps_after_the_end_are_stale() -> None:
    """A step of a task that is done is ignored, so the board never goes back."""
    scenario = solving(TEAM, task("a")).starts("a")
    dispatch_id = scenario.dispatch_id("a")
    scenario.completes("a").when(ReportStep(turn_id=dispatch_id, thought="late")).refused("stale_turn")


def test_only_humans_have_the_floor() -> None:
    """The log ends in session.paused with the human who asked, not with the first of the team."""
    scenario = plan_given(PAIR).says("write", by="adam").understands("different_task").plans(task("a"))
    assert scenario.new[-1] == SessionPaused(waiting_for="adam", reason="step")


def test_a_turn_that_runs_is_what_is_outstanding() -> None:
    """Recovery is the ordinary path: after a crash the planner's turn is what there is to do."""
    scenario = plan_given(TEAM).says("write a report").understands("different_task")
    assert [effect.turn.job for effect in outstanding(scenario.state) if isinstance(effect, RunTurn)] == ["plan"]


def test_offers_follow_the_order_of_the_plan() -> None:
    """Tasks that can start are offered in the order of the plan, up to max_parallel."""
    team = make_plan_team(worker("w1"), plan=PlanSettings(max_parallel=2))
    scenario = solving(team, task("c"), task("a"), task("b"))
    assert [fact.task_id for fact in only(scenario.new, DispatchRequested)] == ["c", "a"]
    assert scenario.completes("a").offered == ["c", "b"]
