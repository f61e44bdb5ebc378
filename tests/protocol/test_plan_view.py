"""The plan flow on a screen: after every event the view shows what the core knows, and everything people need.

`python -m tests.protocol.test_plan_view` from the root of the repository writes the expected view anew.
"""

import json
from functools import reduce as fold
from typing import Any

import msgspec
from hypothesis import Phase, given, settings

from moot.core.codec import Head, frame, stamp
from moot.core.events import Fact
from moot.core.evolve import evolve
from moot.core.machines.agent import AGENT
from moot.core.state import State
from moot.core.team import Team
from moot.protocol.view import View, reduce
from moot.protocol.work_view import RESULT_CHARS, Work
from moot.testing import PlanScenario, task
from tests.core.plan_moves import Move, histories
from tests.core.plan_teams import EDITED, GATED, TEAM, planned, solving
from tests.core.test_plan_properties import AT, opening, play, teams
from tests.protocol.client_cases import DATA

LOG = (DATA / "golden" / "plan-v1.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
EXPECTED = DATA / "protocol" / "plan-v1.view.json"


def frames_of(team: Team, facts: list[Fact]) -> list[dict[str, Any]]:
    events = stamp(team, "s_00000001", Head(), facts, AT)
    return [json.loads(frame(event, team.language)) for event in events]


def check_work(view: View, state: State) -> None:
    """The board, row by row."""
    work, shown = state.work, view.work
    if work is None or shown is None:
        assert work is None
        assert shown is None
        return
    assert (shown.question, shown.asked_by, shown.status) == (work.question, work.asked_by, work.status)
    assert (shown.plan_id, shown.summary, shown.answer) == (work.plan_id, work.summary, work.answer)
    assert (shown.replan_reason, shown.is_active) == (work.replan_reason, work.is_active)
    assert (shown.plan_steps, list(shown.problems)) == (work.plan_steps, list(work.problems))
    if work.is_active and not shown.outcome:  # it ends with the next event
        assert list(shown.proposed) == [task.document for task in work.proposed]
        assert shown.kept == (work.kept if work.proposed else ())
    assert list(shown.tasks) == list(work.tasks)
    for task_id, run in work.tasks.items():
        row = shown.tasks[task_id]
        assert (row.id, row.title, row.task) == (run.task.id, run.task.title, run.task.document)
        assert (row.state, row.attempt, row.retries) == (run.state, run.attempt, run.retries)
        assert (row.is_finished, row.feedback) == (run.is_finished, run.feedback)
        assert row.retry_in_s == (run.wait.delay_s if run.wait else None)
        assert row.result == run.result
    slots = {name: each for member in work.slots.values() for name, each in member.states.items()}
    assert {name: shown.slots.get(name, AGENT.initial) for name in slots} == slots
    assert set(shown.unavailable) == {member for member, each in work.slots.items() if each.is_open}
    assert set(shown.troubles) <= set(work.episodes)  # told by the event after the failure


def check(view: View, state: State) -> None:
    assert (view.status, view.waiting_for) == (state.status, state.waiting_for)
    assert (view.input_routing, view.interrupt) == (state.door.state, state.interrupt)
    assert [(each.text, each.member) for each in view.deferred] == [
        (each.text, each.member) for each in state.door.deferred
    ]
    assert [each.step_id for each in view.questions] == list(state.open_steps)
    for question, step in zip(view.questions, state.open_steps.values(), strict=True):
        assert question.tasks == step.tasks
        assert (question.code, question.task_id) == (step.code, step.task_id)
        assert question.input == (step.input.text if step.input else "")
    assert [turn.turn_id for turn in view.running] == [turn.turn_id for turn in state.running]
    decided = state.door.current_routing_decision
    if view.input and view.input.route and decided:
        assert (view.input.route, view.input.confidence) == (decided.route, decided.confidence)
    check_work(view, state)


@settings(max_examples=40, phases=[Phase.generate])
@given(teams, histories)
def test_the_view_agrees_with_the_core(team: Team, history: list[Move]) -> None:
    """Spec 1: one truth; after every event of a made-up session the screen shows the core's tasks, slots, machines,
    questions and inputs; progress goes back only with a new start."""
    facts, _ = play(team, [opening[0], *history])
    state: State | None = None
    view = View()
    for fact, each in zip(facts, frames_of(team, facts), strict=True):
        before = view.work.tasks if view.work else {}
        state = evolve(state, fact)
        view = reduce(view, each)
        check(view, state)
        for task_id, row in (view.work.tasks if view.work else {}).items():
            was = before.get(task_id) or row
            is_anew = (row.attempt, row.starts) > (was.attempt, was.starts) or not row.starts
            assert row.done >= was.done or is_anew


def golden_view() -> View:
    return fold(reduce, [json.loads(line) for line in LOG], View())


def test_the_golden_log_folds_to_the_expected_view() -> None:
    """UX: web page and terminal show the same state for the same recorded session."""
    assert golden_view() == msgspec.json.decode(EXPECTED.read_bytes(), type=View)


def view_of(scenario: PlanScenario) -> View:
    return fold(reduce, frames_of(scenario.state.team, scenario.facts), View())


def work_of(scenario: PlanScenario) -> Work:
    work = view_of(scenario).work
    assert work is not None
    return work


def test_a_plan_that_waits_for_its_confirmation() -> None:
    """UX confirm card: tasks, summary, options, time left and default are there; so is what was meant."""
    view = view_of(planned())
    (question,) = view.questions
    assert (question.kind, question.plan_summary, question.default) == ("plan", "a plan", "reject")
    assert [each["id"] for each in question.tasks or ()] == ["a", "b", "c"]
    assert [option.id for option in question.options] == ["approve", "reject"]
    assert question.expires_at
    assert view.input is not None
    assert (view.input.text, view.input.relation, view.input.route) == ("write a report", "different_task", "new_task")
    assert view.input.message
    assert (view.input_routing, view.waiting_for) == ("PLAN_LOOP", "alice")


def test_a_task_that_is_tried_again() -> None:
    """UX task board: attempt, retries of how many, the seconds to the next one, what happened; then it goes."""
    failed = solving().starts("a").steps("a", "halfway", 2).task_fails("a", "timeout", "too long")
    row = work_of(failed).tasks["a"]
    assert (row.state, row.error_type, row.message) == ("EXECUTION_FAILED", "timeout", "too long")
    assert (row.retries, row.max_attempts, row.retry_in_s, row.retry_from) == (1, 3, 1.0, AT)
    assert (row.done, row.total, row.percent, row.step) == (1, 2, 50.0, "halfway")
    again = work_of(failed.waits().starts("a")).tasks["a"]
    assert (again.state, again.attempt, again.starts, again.done, again.retry_in_s) == ("RUNNING", 2, 2, 0, None)
    done = work_of(failed.completes("a", "the text")).tasks["a"]
    assert (done.state, done.result, done.error_type, done.retries) == ("DONE", "the text", "", 0)


def test_work_from_review_to_answer() -> None:
    """Plan: the review moves the task, its feedback is shown; the final answer is a message of the conversation."""
    scenario = solving(GATED, task("a")).completes("a")
    assert work_of(scenario).tasks["a"].state == "REVIEWING"
    assert [turn.task_id for turn in view_of(scenario).running] == ["a"]
    rejected = work_of(scenario.reviews("a", passes=False, feedback="shorter")).tasks["a"]
    assert (rejected.feedback, rejected.attempt) == ("shorter", 2)
    scenario.completes("a").reviews("a", passes=True)
    assert work_of(scenario).is_aggregating
    view = view_of(scenario.aggregates("all of it"))
    assert (view.messages[-1].text, view.messages[-1].member) == ("all of it", "planner")
    assert view.work is not None
    assert (view.work.status, view.work.outcome, view.work.done_count) == ("COMPLETED", "complete", 1)
    assert [moment.passed for moment in view.timeline if moment.name == "task_review_result"] == [False, True]


def test_a_turn_that_is_no_task_and_fails() -> None:
    """Plan recovery: a planner's failure is shown with its retry, and goes when it succeeds."""
    scenario = planned(EDITED).rejects().says("again").understands("different_task").job_fails("plan")
    (trouble,) = work_of(scenario).troubles.items()
    assert (trouble[0], trouble[1].error_type, trouble[1].retries, trouble[1].max_attempts) == ("plan", "network", 1, 3)
    assert work_of(scenario.waits().plans(task("x"))).troubles == {}


def test_an_input_that_is_put_off() -> None:
    """Plan steering: another goal is shown as waiting until its time comes; it is never lost."""
    scenario = solving(TEAM, task("a")).says("write a poem").understands("different_task")
    assert [each.input for each in view_of(scenario).questions] == ["write a poem"]
    put_off = view_of(scenario.answers("ask_new_task", "finish_first"))
    assert [(each.text, each.member) for each in put_off.deferred] == [("write a poem", "alice")]
    begun = view_of(scenario.completes("a").aggregates())
    assert begun.deferred == ()
    assert begun.work is not None
    assert (begun.work.question, begun.work.tasks) == ("write a poem", {})


def test_long_results_are_cut() -> None:
    """Reliability: bounded; the log has all of it."""
    row = work_of(solving(TEAM, task("a")).completes("a", "x" * 2 * RESULT_CHARS)).tasks["a"]
    assert len(row.result) == RESULT_CHARS


if __name__ == "__main__":
    EXPECTED.write_bytes(msgspec.json.format(msgspec.json.encode(golden_view())) + b"\n")
