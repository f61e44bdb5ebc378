"""Which plans can be run: planners' plans and people's edits, one rule."""

import time
from typing import Any

import pytest

from moot.core import limits
from moot.core.codec import Head, decode, stamp
from moot.core.flows.plan.plan_events import PlanCancelled, PlanCompleted, PlanRefused
from moot.core.flows.plan.tasks import InvalidPlan, find_cycle, read_tasks
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CompleteTurn
from moot.core.session.events import StepAsked
from moot.testing import PlanScenario, plan_given, task
from tests.core.plan_teams import GATED, REVIEWER, TEAM, make_plan_team, planned, solving, worker
from tests.core.teams import only, turn_input

TOO_MANY = [task(str(number)) for number in range(10_000)]
WRONG: list[tuple[Any, str, str]] = [
    (None, "tasks", "needs a list"),
    ("prose", "tasks", "needs a list"),
    ({"id": "a"}, "tasks", "needs a list"),
    ([], "tasks", "at least one"),
    (TOO_MANY, "tasks", "at most 100 tasks, this one has 10000"),
    ([7], "tasks[0]", "an object with id and title"),
    ([{}], "tasks[0]", "an object with id and title"),
    ([{"title": "x"}], "tasks[0].id", "is missing"),
    ([{"id": " ", "title": "x"}], "tasks[0].id", "is missing"),
    ([{"id": "a"}], "tasks[0].title", "is missing"),
    ([{"id": "a", "title": ["x"]}], "tasks[0].title", "must be text"),
    ([{"id": True, "title": "x"}], "tasks[0].id", "must be text"),
    ([{"id": "a" * 81, "title": "x"}], "tasks[0].id", "the limit is 80"),
    ([task("a", title="x" * 201)], "tasks[0].title", "the limit is 200"),
    ([task("a", objective="x" * 70_000)], "tasks[0]", "65536"),
    ([task("a", notes=["x" * 1_000] * 70)], "tasks[0]", "larger than 65536 bytes"),
    ([{"id": "a", "title": "x", "depends_on": "b"}], "tasks[0].depends_on", "a list of task ids"),
    ([{"id": "a", "title": "x", "depends_on": [{}]}], "tasks[0].depends_on[0]", "must be a task id"),
    ([task("a"), task("a")], "tasks[1].id", "'a' is the id of tasks[0] already"),
    ([task("a"), task("b", "c")], "tasks[1].depends_on", "no task has the id 'c'"),
    ([task("a", "a")], "tasks[0].depends_on", "a → a"),
    ([task("x"), task("a", "b"), task("b", "c"), task("c", "a")], "tasks[1].depends_on", "a → b → c → a"),
    ([task("a", member="ghost")], "tasks[0].member", "nobody called 'ghost' may do tasks; there are w1, w2"),
    ([task("a", member="alice")], "tasks[0].member", "nobody called 'alice' may do tasks"),
    ([task("a", role="painter")], "tasks[0].role", "nobody who may do tasks has the role 'painter'"),
]


@pytest.mark.parametrize(("tasks", "path", "words"), WRONG, ids=[f"{path} {words}" for _, path, words in WRONG])
def test_a_plan_that_cannot_be_run_says_where_and_why(tasks: Any, path: str, words: str) -> None:
    """The path of the error and a sentence."""
    with pytest.raises(InvalidPlan) as caught:
        read_tasks(tasks, TEAM)
    assert any(problem.path == path and words in problem.tell("en") for problem in caught.value.problems), caught.value


@pytest.mark.parametrize(("tasks", "path", "words"), WRONG, ids=[f"{path} {words}" for _, path, words in WRONG])
def test_an_edited_plan_that_cannot_be_run_starts_nothing(tasks: Any, path: str, words: str) -> None:
    """invalid_plan with the path; the question stays open and a sound answer still counts."""
    edited = tuple(tasks) if isinstance(tasks, list) else (tasks,)
    scenario = planned().approves(tasks=edited).refused("invalid_plan")
    if isinstance(tasks, list):
        assert path in scenario.refusal_text
        assert words in scenario.refusal_text
    assert scenario.work.status is Flow.WAIT_USER_DECISION
    assert scenario.approves().offered == ["a"]


def test_a_task_without_an_id_hides_no_other_problem() -> None:
    """The path of each error, whatever else is wrong; a task without an id is nobody's double."""
    broken = [task("a", "b"), task("b", "a"), {"title": "x"}, {"title": "y"}, task("b", member="ghost"), 7]
    with pytest.raises(InvalidPlan) as caught:
        read_tasks(broken, TEAM)
    expected = ["tasks[2].id", "tasks[3].id", "tasks[5]", "tasks[4].id", "tasks[4].member"]
    assert [problem.path for problem in caught.value.problems] == expected
    with pytest.raises(InvalidPlan, match="a → b → a"):
        read_tasks(broken[:3], TEAM)


def test_all_problems_are_told_at_once_but_not_without_end() -> None:
    """Every error with its path, at most twenty of them."""
    with pytest.raises(InvalidPlan) as caught:
        read_tasks([task(f"t{number}", "nowhere", member="ghost") for number in range(50)], TEAM)
    assert len(caught.value.problems) == limits.PROBLEMS
    assert {problem.path for problem in caught.value.problems[:2]} == {"tasks[0].depends_on", "tasks[0].member"}


def test_ten_thousand_tasks_are_refused_quickly() -> None:
    """A plan that is too long costs nothing: it is not read."""
    before = time.perf_counter()
    for _ in range(100):
        with pytest.raises(InvalidPlan):
            read_tasks(TOO_MANY, TEAM)
    assert time.perf_counter() - before < 0.5


def test_a_hundred_tasks_in_a_chain_are_a_plan() -> None:
    """Up to a hundred tasks, however they depend on each other."""
    chain = [task("t0"), *(task(f"t{number}", f"t{number - 1}") for number in range(1, 100))]
    assert [each.id for each in read_tasks(list(reversed(chain)), TEAM)][-1] == "t0"
    assert find_cycle({"a": ["b"], "b": ["a"], "c": []}) == ["a", "b", "a"]


def test_what_a_task_says_is_made_safe_and_bounded() -> None:
    """Escapes, overrides and lone surrogates go, in keys too; numbers that JSON cannot hold do not stay."""
    hostile = {
        "id": "a\x1b[2J",
        "title": "evil\u202e\ud800",
        "k\x00ey": {"x\x1b[0m": ["\x07bell"]},
        "huge": 10**40,
        "nan": float("nan"),
        "inf": [float("inf")],
        "odd": {1, 2},
        "deep": [[[[[[[[[[["bottom"]]]]]]]]]]],
    }
    (read,) = read_tasks([hostile], TEAM)
    assert (read.id, read.title) == ("a", "evil")
    assert read.document["key"] == {"x": ["bell"]}
    assert read.document["huge"] == str(10**40)
    assert (read.document["nan"], read.document["inf"]) == (None, [None])
    assert "bottom" not in str(read.document["deep"])


def test_a_hostile_plan_can_be_logged_and_read_again() -> None:
    """Pure replay: whatever a planner writes, the stored bytes give the same facts."""
    scenario = planned(TEAM, task("a", n=10**30, f=1e308, t={"\ud800": None}), task("b", x=[{}] * 50))
    events = stamp(TEAM, "session-1", Head(), scenario.facts, "2026-01-01T00:00:00.000Z")
    assert [decode(event.data, event.hash) for event in events] == events


@pytest.mark.parametrize(
    "said",
    [
        '{"summary": "s", "tasks": [{"id": "a", "title": "A"}]}',
        'Here it is:\n```json\n{"tasks": [{"id": "a", "title": "A"}], "plan_summary": "s"}\n```\nGood luck!',
        'First {"tasks": "no"} was wrong. {"summary": "s", "tasks": [{"id": "a", "title": "A"}]}',
    ],
)
def test_a_plan_may_stand_in_prose(said: str) -> None:
    """One tolerant reader finds the object in what a model writes."""
    scenario = plan_given(TEAM).says("x").understands("different_task")
    scenario.when(CompleteTurn(turn_id=scenario.turn("plan").turn_id, text=said))
    shown = only(scenario.new, PlanCompleted)[0]
    assert (shown.plan_summary, [each["id"] for each in shown.tasks]) == ("s", ["a"])


def test_prose_instead_of_a_plan_is_sent_back_with_the_shape_that_is_wanted() -> None:
    """The planner gets the problem; nothing is shown to people yet."""
    scenario = plan_given(TEAM).says("x").understands("different_task")
    scenario.when(CompleteTurn(turn_id=scenario.turn("plan").turn_id, text="I would rather not plan."))
    scenario.then("turn.completed", "workflow.plan_refused", "turn.started")
    given = turn_input("session-1", scenario.state, scenario.turn("plan")).assignment
    assert given is not None
    assert "return JSON" in given.problems[0]


def refused_three_times() -> PlanScenario:
    scenario = plan_given(TEAM).says("x").understands("different_task")
    return scenario.plans(task("a", "b")).plans(task("a"), task("a")).plans()


def test_a_wrong_plan_is_sent_back_twice_then_a_human_decides() -> None:
    """Three tries in all; then agent.user_confirm with what is wrong, and the session waits for the human."""
    scenario = refused_three_times()
    scenario.then("turn.completed", "workflow.plan_refused", "agent.user_confirm", "session.paused")
    assert [fact.n for fact in only(scenario.facts, PlanRefused)] == [1, 2, 3]
    asked = only(scenario.new, StepAsked)[0]
    assert ([option.id for option in asked.options], asked.job) == (["retry", "abort"], "plan")
    assert "at least one task" in asked.detail


def test_the_human_may_let_the_planner_try_again() -> None:
    """Retry gives the planner another try; a sound plan then is shown as usual."""
    scenario = refused_three_times().answers("plan_refused", "retry")
    scenario.then("agent.user_confirm_closed", "turn.started", "session.activated")
    assert scenario.plans(task("a")).approves().offered == ["a"]


def test_the_human_may_give_the_plan_up() -> None:
    """Abort → plan.cancelled(invalid_plan)."""
    scenario = refused_three_times().answers("plan_refused", "abort")
    assert only(scenario.new, PlanCancelled) == [PlanCancelled(reason="invalid_plan")]
    assert scenario.work.status is Flow.FAILED


def test_a_sound_plan_forgets_the_wrong_ones() -> None:
    """Twice at most *in a row*: the count starts again with each plan."""
    scenario = plan_given(TEAM).says("x").understands("different_task").plans().plans(task("a"))
    scenario.says("more").understands("same_task_major_change").plans().plans()
    assert [fact.n for fact in only(scenario.facts, PlanRefused)] == [1, 1, 2]
    assert scenario.turn("plan")


def test_who_runs_a_task() -> None:
    """The member it names, else one with its role, else the first free executor by order."""
    painter = worker("pat", 19, role="painter")
    team = make_plan_team(worker("w2", 22), worker("w1", 21), painter)
    scenario = planned(team, task("a"), task("b", role="painter"), task("c", member="W2"), task("d", role="executor"))
    scenario.approves()
    assert {task_id: scenario.run(task_id).member for task_id in "abcd"} == {
        "a": "w1",
        "b": "pat",
        "c": "w2",
        "d": "w1",
    }


def test_planners_run_no_tasks_unless_they_are_named() -> None:
    """Executors are those without a role or with the role executor."""
    scenario = planned(GATED, task("a"), task("b", member="planner")).approves()
    assert (scenario.run("a").member, scenario.run("b").member) == ("w1", "planner")


def test_the_only_reviewer_runs_no_tasks() -> None:
    """Nobody else could review them; a second reviewer can."""
    refused = only(planned(GATED, task("a", member="critic"), task("b", role="reviewer")).new, PlanRefused)[0]
    assert refused.problems == (
        "tasks[0].member: nobody called 'critic' may do tasks; there are w1, w2",
        "tasks[1].role: nobody who may do tasks has the role 'reviewer'; there are executor",
    )
    two = make_plan_team(worker("w1"), REVIEWER, worker("judge", 30, role="reviewer"))
    assert planned(two, task("a", member="critic")).approves().run("a").member == "critic"


@pytest.mark.parametrize("role", ["Painter", "PAINTER ", "pain-ter", "Executor"])
def test_roles_are_compared_like_names(role: str) -> None:
    """Case, spaces and dashes do not matter, in plans and in teams."""
    team = make_plan_team(worker("w1", role="Executor"), worker("p1", 30, role="painter"))
    scenario = planned(team, task("a", role=role)).approves()
    assert scenario.run("a").member == ("w1" if role == "Executor" else "p1")


def test_who_has_the_fewest_tasks_is_offered_the_next_one() -> None:
    """Members of the same role share the work; the order of the team decides between equals."""
    scenario = solving(TEAM, task("a"), task("b"), task("c"))
    assert [scenario.run(each).member for each in "abc"] == ["w1", "w2", "w1"]


def test_problems_of_a_plan_are_told_in_the_language_of_the_session() -> None:
    """To the planner, in the log and in refusals."""
    team = make_plan_team(language="zh")
    refused = only(planned(team, task("a", "b", role="画家"), task("b", "a")).new, PlanRefused)[0]
    assert refused.problems == (
        "tasks[0].role: 没有可以执行任务的成员具有角色 '画家'；现有：executor",
        "tasks[0].depends_on: 任务互相等待：a → b → a",
    )
    scenario = planned(team, task("a")).approves(tasks=({"id": "x"},)).refused("invalid_plan")
    assert scenario.refusal_text == "计划无效：tasks[0].title: 缺少"
    told = solving(team).says("删掉 z").understands("same_task_minor_change").patches({"op": "remove", "task_id": "z"})
    assert only(told.new, PlanRefused)[0].problems == ("patches[0]: 没有 id 为 'z' 的任务；现有：a, b, c",)
