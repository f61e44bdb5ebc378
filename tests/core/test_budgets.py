"""Budgets of members: whose turns cost what, the pause at the limit, and what going on grants."""

import pytest
from msgspec.structs import replace

from moot.core.decide import decide
from moot.core.effects import RunTurn
from moot.core.flows.plan.plan_events import PipelineCompleted, TaskFailed
from moot.core.outstanding import outstanding
from moot.core.session.budgets import name_period
from moot.core.session.commands import (
    CancelTurn,
    CompleteTurn,
    End,
    FailTurn,
    Post,
    ReportSpending,
    ReportUnderstanding,
    Resume,
)
from moot.core.session.events import BudgetCounted, NoticePosted, SessionPaused, TurnFailed, TurnSpent
from moot.core.session.settings import Budget
from moot.core.session.team import Team
from moot.core.session.usage import NO_USAGE, Spent, Usage
from moot.testing import analyse, plan_given, task
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
        "bob": Spent(turns=2, tokens=110, cost_usd=0.25, output_tokens=50),
        "carol": Spent(turns=1),
    }
    assert scenario.state.spent == Spent(turns=3, tokens=110, cost_usd=0.25, output_tokens=50)


@pytest.mark.parametrize("end", [CancelTurn(), End()])
def test_a_turn_that_was_stopped_is_counted_afterwards(end: CancelTurn | End) -> None:
    """Its cost is known when its agent has stopped: by then the turn is over, and the session may be."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go").when(end)
    scenario.when(ReportSpending(turn_id="t1", member="bob", usage=COST))
    assert only(scenario.new, TurnSpent) == [TurnSpent(turn_id="t1", member="bob", usage=COST)]
    assert scenario.state.spent_by_member == {"bob": Spent(turns=1, tokens=110, cost_usd=0.25, output_tokens=50)}
    assert not scenario.state.running


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
    assert scenario.state.spent_by_member["w1"] == Spent(turns=1, tokens=110, cost_usd=0.25, output_tokens=50)
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
    assert scenario.state.spent_by_member["critic"] == Spent(turns=1, tokens=110, cost_usd=0.25, output_tokens=50)


# periods and other sessions


def test_a_budget_of_a_day_begins_anew_the_next_day() -> None:
    """The session pauses at the limit of the day; on the next day the whole budget is there again."""
    team = replace(make_chat_team(), budget=Budget(max_tokens=100, per="day"))
    scenario = given(team).says("[NEXT: bob, carol] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok", usage=COST), at="2026-01-01T09:00:00.000Z")
    assert pauses(scenario) == ["budget"]
    scenario = given(team).says("[NEXT: bob, carol] go")
    scenario.when(CompleteTurn(turn_id="t1", text="[NEXT: carol]", usage=NO_USAGE), at="2026-01-01T09:00:00.000Z")
    scenario.when(CompleteTurn(turn_id="t2", text="[NEXT: bob]", usage=COST), at="2026-01-02T00:00:00.000Z")
    assert [fact.day for fact in only(scenario.facts, BudgetCounted)] == ["2026-01-01", "2026-01-02"]
    assert pauses(scenario) == ["budget"]  # what a turn costs counts when it ends
    scenario.when(Resume(by="alice"), at="2026-01-03T00:00:00.000Z")
    assert scenario.state.spent == Spent(turns=1)


def test_a_week_begins_on_monday() -> None:
    """A member's budget of a week is whole again on Monday; other days change nothing."""
    assert name_period("week", "2026-01-04T23:59:59.000Z") == "2026-W01"
    assert name_period("week", "2026-01-05") == "2026-W02"
    team = with_budget(make_chat_team(), "bob", Budget(max_turns=1, per="week"))
    scenario = given(team).says("[NEXT: bob, carol, bob] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok"), at="2026-01-02T00:00:00.000Z")
    scenario.when(CompleteTurn(turn_id="t2", text="ok"), at="2026-01-05T00:00:00.000Z")
    assert [turn.member for turn in scenario.state.running] == ["bob"]


def test_other_sessions_of_the_team_count() -> None:
    """What they spent counts before a turn starts; going on grants the same amount again."""
    team = replace(make_chat_team(), budget=Budget(max_tokens=200, per="day", scope="team"))
    state, at, spent = given(team).state, "2026-01-01T00:00:00.000Z", Spent(tokens=150)
    state = decide(state, Post(text="[NEXT: bob, carol] go", by="alice"), at, elsewhere=spent).state
    state = decide(state, CompleteTurn(turn_id="t1", text="ok", usage=COST), at, elsewhere=spent).state
    assert (state.pause_reason, state.budget_used_up) == ("budget", "260/200 tokens")
    state = decide(state, Resume(by="alice"), at, elsewhere=spent).state
    assert (state.running[0].member, state.budget_used_up) == ("carol", "")
    state = decide(state, CompleteTurn(turn_id="t2", text="[NEXT: bob]", usage=COST), at, elsewhere=spent).state
    assert state.pause_reason is None
    assert state.spent_in_period.tokens == 220


def test_what_understanding_costs_counts_for_the_session() -> None:
    """It is no member's, and at the limit the work pauses before the first turn."""
    team = replace(PLAN_TEAM, budget=Budget(max_tokens=100))
    scenario = plan_given(team).says("write a report", by="alice")
    (input_,) = scenario.state.door.inputs
    scenario.when(ReportUnderstanding(input_id=input_.input_id, analysis=analyse("different_task"), usage=COST))
    assert (scenario.state.spent.tokens, scenario.state.spent_by_member.get("planner")) == (110, Spent(turns=1))
    assert [fact.code for fact in only(scenario.new, NoticePosted)] == ["budget"]
