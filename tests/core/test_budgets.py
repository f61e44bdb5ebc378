"""Budgets of members: whose turns cost what, the pause at the limit, and what going on grants."""

import pytest
from msgspec.structs import replace

from moot.core.effects import RunTurn
from moot.core.flows.plan.plan_events import PipelineCompleted, TaskFailed
from moot.core.outstanding import outstanding
from moot.core.session.commands import CompleteTurn, FailTurn, Resume
from moot.core.session.events import NoticePosted, SessionPaused, TurnFailed
from moot.core.session.settings import Budget
from moot.core.session.team import Team
from moot.core.session.usage import Spent, Usage
from moot.testing import task
from moot.testing.scenario import Scenario, given
from tests.core.plan_teams import EDITED, GATED, solving
from tests.core.plan_teams import TEAM as PLAN_TEAM
from tests.core.teams import make_chat_team, only

COST = Usage(input_tokens=60, output_tokens=50, cost_usd=0.25)


def with_budget(team: Team, member_id: str, budget: Budget) -> Team:
    members = tuple(replace(each, budget=budget) if each.id == member_id else each for each in team.members)
    return replace(team, members=members)


def bob_may(**limits: float) -> Team:
    return with_budget(make_chat_team(), "bob", Budget(**limits))  # type: ignore[arg-type]


def pauses(scenario: Scenario) -> list[str]:
    return [fact.reason for fact in only(scenario.new, SessionPaused)]


def test_what_each_member_spends_is_known() -> None:
    """Turns, tokens and cost by member, since the session began."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok", usage=COST)).replies("[NEXT: bob]")
    assert scenario.state.spent_by_member == {
        "bob": Spent(turns=2, tokens=110, cost_usd=0.25),
        "carol": Spent(turns=1),
    }
    assert scenario.state.spent == Spent(turns=3, tokens=110, cost_usd=0.25)


@pytest.mark.parametrize(
    ("limit", "detail"),
    [
        ({"max_turns": 1}, "1/1 turns"),
        ({"max_tokens": 100}, "110/100 tokens"),
        ({"max_cost_usd": 0.2}, "0.25/0.20 USD"),
    ],
)
def test_a_member_at_its_limit_pauses_the_session(limit: dict[str, float], detail: str) -> None:
    """The same pause as for the session, before its next turn; the notice names the member."""
    scenario = given(bob_may(**limit)).says("[NEXT: bob, carol, bob] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok", usage=COST))
    assert pauses(scenario) == []  # it is Carol's turn, who has no budget
    scenario.replies("[NEXT: bob] you again")
    assert pauses(scenario) == ["budget"]
    (notice,) = only(scenario.new, NoticePosted)
    assert (notice.code, notice.who, notice.detail) == ("member_budget", "Bob", detail)
    assert scenario.notices[0].startswith("⏸ Bob has used up its budget")


def test_going_on_grants_a_member_as_much_again() -> None:
    """/resume starts its budget again, and only its; what it spent in all stays known."""
    team = replace(bob_may(max_turns=1), budget=Budget(max_turns=9))
    scenario = given(team).says("[NEXT: bob] go").replies("[NEXT: bob] more")
    assert pauses(scenario) == ["budget"]
    scenario.when(Resume())
    assert [turn.member for turn in scenario.state.running] == ["bob"]
    assert scenario.state.spent.turns == 2  # the session's own budget goes on
    assert scenario.state.spent_by_member["bob"].turns == 2
    scenario.replies("[NEXT: bob] more still")
    assert pauses(scenario) == ["budget"]


def test_speaking_goes_on_too() -> None:
    """Who says something after the pause lets the member go on."""
    scenario = (
        given(bob_may(max_turns=1)).says("[NEXT: bob] go").replies("[NEXT: bob] more").says("[NEXT: bob] yes, do")
    )
    assert [turn.member for turn in scenario.state.running] == ["bob"]


def test_what_a_failed_turn_cost_counts() -> None:
    """A model that fails has cost something all the same."""
    scenario = given(bob_may(max_tokens=100)).says("[NEXT: bob] go")
    scenario.when(FailTurn(turn_id="t1", error_type="agent", message="no", usage=COST))
    assert only(scenario.new, TurnFailed)[0].usage == COST
    assert scenario.state.spent.tokens == 110
    assert pauses(scenario.says("[NEXT: bob] again")) == ["budget"]


def test_a_worker_of_a_plan_at_its_limit_pauses_the_work() -> None:
    """Tasks count as turns, failed ones too; the pause comes when it is to be given work again."""
    scenario = solving(with_budget(PLAN_TEAM, "w1", Budget(max_tokens=100)))
    dispatch_id = scenario.dispatch_id("a")
    scenario.starts("a").when(FailTurn(turn_id=dispatch_id, error_type="agent", message="no", usage=COST))
    assert only(scenario.new, TaskFailed)[0].usage == COST
    assert scenario.state.spent_by_member["w1"] == Spent(turns=1, tokens=110, cost_usd=0.25)
    assert pauses(scenario) == []  # it waits for its next attempt
    scenario.waits()
    assert [notice.code for notice in only(scenario.new, NoticePosted)] == ["member_budget"]
    assert (pauses(scenario), scenario.offered) == (["budget"], [])
    scenario.when(Resume())
    assert (scenario.offered, scenario.state.is_over_budget) == (["a"], False)


def test_a_member_without_work_pauses_no_plan() -> None:
    """A planner that has used up its turns stops nothing that others have to do."""
    team = with_budget(EDITED, "planner", Budget(max_turns=1))
    scenario = solving(team, task("a")).completes("a").aggregates()
    assert "budget" not in [fact.reason for fact in only(scenario.facts, SessionPaused)]
    assert scenario.state.is_over_budget
    assert only(scenario.new, PipelineCompleted) == [PipelineCompleted(status="complete")]


def test_a_planner_at_its_limit_plans_when_a_human_says_so() -> None:
    """Its turn waits, nobody is asked before the pause is over, and the turn is the first granted."""
    team = with_budget(EDITED, "planner", Budget(max_turns=1))
    scenario = solving(team, task("a")).completes("a").aggregates()
    scenario.says("another report", by="alice").understands("different_task")
    assert pauses(scenario) == ["budget"]
    assert not [effect for effect in outstanding(scenario.state) if isinstance(effect, RunTurn)]
    scenario.when(Resume())
    assert [effect.turn.job for effect in outstanding(scenario.state) if isinstance(effect, RunTurn)] == ["plan"]
    scenario.plans("nonsense")  # which goes back to the planner
    assert pauses(scenario) == ["budget"]


def test_what_runs_comes_to_its_end_before_the_pause() -> None:
    """Another worker's task is finished; nothing new begins until a human says so."""
    team = with_budget(PLAN_TEAM, "w1", Budget(max_turns=1))
    tasks = (task("a", member="w1"), task("b", member="w2"), task("c", "a", member="w1"))
    scenario = solving(team, *tasks).starts("b").completes("a")
    assert [notice.code for notice in only(scenario.new, NoticePosted)] == ["member_budget"]
    assert (scenario.offered, pauses(scenario)) == (["b"], [])
    scenario.completes("b")
    assert (scenario.offered, pauses(scenario)) == ([], ["budget"])
    assert scenario.when(Resume()).offered == ["c"]


def test_a_task_that_is_only_offered_takes_nothing_of_a_new_budget() -> None:
    """Resuming always lets something start, also if the pause came between the offer of a task and its start."""
    team = with_budget(PLAN_TEAM, "w1", Budget(max_turns=1))
    tasks = (task("a", member="w1"), task("b", member="w1"), task("c", "a", member="w1"))
    scenario = solving(team, *tasks).completes("a")
    assert (scenario.offered, pauses(scenario)) == (["b"], ["budget"])
    scenario.when(Resume())
    assert (scenario.offered, pauses(scenario)) == (["b", "c"], [])


def test_a_verdict_that_cannot_be_read_was_paid_for() -> None:
    """What a reviewer spends counts, whatever it is worth."""
    scenario = solving(GATED).completes("a")
    turn = scenario.turn("review", "a")
    scenario.when(CompleteTurn(turn_id=turn.turn_id, text="hm", usage=COST))
    assert only(scenario.new, TurnFailed)[0].usage == COST
    assert scenario.state.spent_by_member["critic"] == Spent(turns=1, tokens=110, cost_usd=0.25)
