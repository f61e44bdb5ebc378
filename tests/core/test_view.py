"""The public projection of a session: what screens and programs are shown of its state, for all three flows."""

from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import Phase, given, settings

from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.plan.plan_slice import find_work
from moot.core.flows.plan.plan_view import RESULT_CHARS, Work
from moot.core.flows.supervisor.supervision import CHOICES
from moot.core.flows.supervisor.supervisor_events import SupervisorUndecided
from moot.core.flows.supervisor.supervisor_slice import find_job
from moot.core.flows.supervisor.supervisor_view import Job
from moot.core.session.commands import Command, Post
from moot.core.session.events import MessagePosted, TurnCancelled, TurnFailed, TurnStarted
from moot.core.session.notices import queue_line
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.session.usage import Usage
from moot.core.view import View, project
from moot.testing import PlanScenario, Scenario, task
from moot.testing import given as start
from moot.testing.scenario import AT
from tests.core import test_properties as chat
from tests.core import test_supervisor_properties as supervised
from tests.core.plan_moves import Move, histories
from tests.core.plan_teams import EDITED, GATED, TEAM, planned, solving
from tests.core.teams import make_chat_team
from tests.core.test_plan_properties import opening, play, teams
from tests.core.test_supervisor_flow import STUDIO, rejected, started
from tests.core.test_supervisor_people import asked, stuck

CHAT_TEAM = make_chat_team()


def states_of(facts: list[Fact]) -> Iterator[State]:
    state: State | None = None
    for fact in facts:
        state = evolve(state, fact)
        yield state


def work_of(scenario: PlanScenario) -> Work:
    work = project(scenario.state).work
    assert work is not None
    return work


def job_of(scenario: Any) -> Job:
    job = project(scenario.state).supervision
    assert job is not None
    return job


def check_wire(view: View) -> None:
    """What is sent can be read again."""
    assert msgspec.json.decode(msgspec.json.encode(view), type=View) == view


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(chat.teams, chat.histories)
def test_a_conversation_is_projected_whole(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """After every event the view has the queue, the running turns, the questions, and counts what the log counts."""
    facts, _ = chat.play(team, [*parts[0], *parts[1]])
    messages = turns = failed = 0
    for fact, state in zip(facts, states_of(facts), strict=True):
        messages += isinstance(fact, MessagePosted)
        turns += isinstance(fact, TurnStarted)
        failed += isinstance(fact, TurnFailed | TurnCancelled)
        view = project(state)
        check_wire(view)
        assert (view.counters.messages, view.counters.turns, view.counters.failed_turns) == (messages, turns, failed)
        assert (view.executing, list(view.pending)) == (state.slice.queue[0], list(state.slice.queue[1]))
        assert [turn.turn_id for turn in view.running] == [turn.turn_id for turn in (*state.running, *state.asides)]
        assert all(turn.started_at for turn in view.running)
        assert {turn.turn_id for turn in view.parked} == set(state.parked)
        assert [question.step_id for question in view.questions] == list(state.open_steps)
        assert view.is_settled == state.is_settled
        for viewer in (None, team.first_human.id):
            assert view.queue_line(viewer) == queue_line(state, viewer)


@settings(max_examples=30, phases=[Phase.generate])
@given(teams, histories)
def test_a_plan_is_projected_whole(team: Team, history: list[Move]) -> None:
    """The board has every task in the order of the plan; progress goes back only with a new start or attempt."""
    facts, _ = play(team, [opening[0], *history])
    before: dict[str, tuple[int, int, int]] = {}
    for state in states_of(facts):
        view = project(state)
        check_wire(view)
        assert (view.input_routing, view.interrupt) == (state.door.state, state.interrupt)
        work = find_work(state)
        if work is None or view.work is None:
            assert view.work is None
            continue
        assert [row.id for row in view.work.rows] == list(work.tasks)
        for task_id, run in work.tasks.items():
            row = view.work.tasks[task_id]
            assert (row.state, row.attempt, row.is_finished) == (run.state, run.attempt, run.is_finished)
            is_waiting = run.wait is not None and run.wait.delay_s > 0
            assert bool(row.retry_at) == is_waiting
        assert set(view.work.unavailable) == {member for member, each in work.slots.items() if each.is_open}
        now = {task_id: (run.attempt, run.leases_lost, run.done_steps) for task_id, run in work.tasks.items()}
        assert all(task_id not in before or place >= before[task_id] or not place[2] for task_id, place in now.items())
        before = now


@settings(max_examples=30)
@given(supervised.teams, supervised.histories)
def test_a_job_is_projected_whole(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """The view has the shared state, who wrote it, and which tools run."""
    facts, _ = supervised.play(team, [*supervised.begin, *parts[0], *parts[1]])
    for state in states_of(facts):
        view, job = project(state), find_job(state)
        check_wire(view)
        assert [each.text for each in view.deferred] == [each.text for each in state.door.deferred]
        if job is None or view.supervision is None:
            assert view.supervision is None
            continue
        shown = view.supervision
        assert (shown.goal, shown.outcome or None, shown.state) == (job.goal, job.outcome, job.state)
        assert set(shown.writers) <= set(job.state)
        assert [tool.call_id for tool in shown.tools if not tool.is_done] == list(job.calls) or job.outcome


def test_the_view_has_a_version() -> None:
    """Whoever reads a view over the wire can tell which one it is."""
    assert project(start(CHAT_TEAM).state).version == 1


def test_a_question_is_told_in_the_readers_language() -> None:
    """The same step is shown in Chinese and in English, whatever the session speaks."""
    state = start(CHAT_TEAM).says("[NEXT: bob, carol] go").when(Post(text="/queue clear")).state
    assert [question.text for question in project(state, "en").questions] == ["Clear the queue?"]
    (question,) = project(state, "zh").questions
    assert (question.text, [option.label for option in question.options]) == ("清空队列？", ["清空", "保留"])


def test_what_a_turn_cost_is_counted() -> None:
    """Tokens and cost of turns that failed count like those of the others."""
    scenario: Scenario = start(CHAT_TEAM).says("[NEXT: bob] go")
    usage = Usage(input_tokens=60, output_tokens=50, cost_usd=0.25)
    failed = TurnFailed(turn_id="t1", member="bob", error_type="agent", message="no", usage=usage)
    counters = project(evolve(scenario.state, failed)).counters
    assert (counters.failed_turns, counters.tokens, counters.cost_usd) == (1, 110, 0.25)


def test_a_plan_that_waits_for_its_confirmation() -> None:
    """Tasks, summary, options, deadline and default are there; so is how the input was understood."""
    view = project(planned().state)
    (question,) = view.questions
    assert (question.kind, question.plan_summary, question.default) == ("plan", "a plan", "reject")
    assert [each["id"] for each in question.tasks or ()] == ["a", "b", "c"]
    assert [option.id for option in question.options] == ["approve", "reject"]
    assert question.expires_at is None
    assert view.input is not None
    assert (view.input.text, view.input.relation, view.input.route) == ("write a report", "different_task", "new_task")
    assert view.input.confidence
    assert view.input.reasoning
    assert (view.input_routing, view.waiting_for) == ("PLAN_LOOP", "alice")


def test_a_task_that_is_tried_again() -> None:
    """Attempt, retries of how many, when the next one begins, what happened and how far it was; then it goes."""
    failed = solving().starts("a").steps("a", "halfway", 2).task_fails("a", "timeout", "too long")
    row = work_of(failed).tasks["a"]
    assert (row.state, row.error_type, row.message) == ("EXECUTION_FAILED", "timeout", "too long")
    assert (row.retries, row.max_attempts, row.retry_in_s) == (1, 3, 1.0)
    assert (row.started_at, row.retry_at) == (AT, "2026-01-01T00:00:01.000Z")
    assert (row.done, row.total, row.percent, row.step) == (1, 2, 50.0, "halfway")
    again = work_of(failed.waits().starts("a")).tasks["a"]
    assert (again.state, again.attempt, again.done, again.retry_in_s, again.retry_at) == ("RUNNING", 2, 0, None, "")
    done = work_of(failed.completes("a", "the text")).tasks["a"]
    assert (done.state, done.result, done.error_type, done.message, done.retries) == ("DONE", "the text", "", "", 0)


def test_work_from_review_to_answer() -> None:
    """The review moves the task and its feedback is shown; the end has an outcome and an answer."""
    scenario = solving(GATED, task("a")).completes("a")
    assert work_of(scenario).tasks["a"].state == "REVIEWING"
    assert [turn.task_id for turn in project(scenario.state).running] == ["a"]
    again = work_of(scenario.reviews("a", passes=False, feedback="shorter")).tasks["a"]
    assert (again.feedback, again.attempt) == ("shorter", 2)
    scenario.completes("a").reviews("a", passes=True)
    assert work_of(scenario).is_aggregating
    work = work_of(scenario.aggregates("all of it"))
    assert (work.status, work.outcome, work.done_count, work.answer) == ("COMPLETED", "complete", 1, "all of it")
    assert not work.is_aggregating


def test_a_turn_that_is_no_task_and_fails() -> None:
    """A planner's failure is shown with its retry, and goes when it succeeds."""
    scenario = planned(EDITED).rejects().says("again").understands("different_task").job_fails("plan")
    ((job, trouble),) = work_of(scenario).troubles.items()
    assert (job, trouble.error_type, trouble.retries, trouble.max_attempts) == ("plan", "network", 1, 3)
    assert trouble.retry_at == "2026-01-01T00:00:01.000Z"
    assert work_of(scenario.waits().plans(task("x"))).troubles == {}


def test_an_input_that_is_put_off() -> None:
    """Another goal is shown as waiting until its time comes; it is never lost."""
    scenario = solving(TEAM, task("a")).says("write a poem").understands("different_task")
    assert [each.input for each in project(scenario.state).questions] == ["write a poem"]
    put_off = project(scenario.answers("ask_new_task", "finish_first").state)
    assert [(each.text, each.member) for each in put_off.deferred] == [("write a poem", "alice")]
    begun = project(scenario.completes("a").aggregates().state)
    assert begun.deferred == ()
    assert begun.work is not None
    assert (begun.work.question, begun.work.tasks) == ("write a poem", {})


def test_long_results_are_cut() -> None:
    """A view is bounded; the log has all of it."""
    row = work_of(solving(TEAM, task("a")).completes("a", "x" * 2 * RESULT_CHARS)).tasks["a"]
    assert len(row.result) == RESULT_CHARS


def test_a_correction_can_be_seen() -> None:
    """Who was passed over, and why."""
    job = job_of(started().decides("review_agent", guidance="go"))
    [choice] = job.choices
    assert (choice.next, choice.corrected_from, choice.correction) == ("writer_agent", "review_agent", "precondition")
    assert (choice.guidance, job.acting) == ("go", "writer_agent")


def test_a_failed_review_can_be_seen() -> None:
    """The verdict, whom it points at, and who wrote what was reviewed."""
    job = job_of(rejected())
    assert job.review is not None
    assert (job.review.approved, job.review.fallback) == (False, "research_evidence_agent")
    assert job.writers["generatedContent"] == "writer_agent"


def test_a_question_brings_what_a_form_needs() -> None:
    """Options, how many may be chosen, whether one may write."""
    [question] = project(asked().state).questions
    assert (question.kind, question.key, question.selection) == ("ask_user", "audience", "single")
    assert (question.allow_custom_input, question.job) == (True, "brief_compiler_agent")


def test_choices_are_bounded() -> None:
    """The newest are kept, and numbered from the beginning of the job."""
    state = stuck().state
    for number in range(300):
        unusable = SupervisorUndecided(turn_id="t1", member="supervisor", fault="empty", given="", count=number)
        state = evolve(state, unusable)
    job = project(state).supervision
    assert job is not None
    assert len(job.choices) == CHOICES
    assert job.choices[-1].number > 300
    assert state.team.flow == STUDIO.flow
