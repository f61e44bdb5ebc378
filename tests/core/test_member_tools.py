"""What members do with Moot's own tools in the middle of a turn: ask people and team-mates, hand over, be blocked."""

import pytest
from msgspec.structs import replace

from moot.config.loading import load_team
from moot.core.effects import DeliverAnswer, RunTask, RunTurn, Wake
from moot.core.flows.plan.plan_events import RecoveryStarted
from moot.core.flows.registry import flow_of
from moot.core.flows.supervisor.cast import find_leader
from moot.core.flows.turns import aside_input
from moot.core.outstanding import outstanding
from moot.core.session.commands import (
    Answer,
    AskMember,
    AskPeople,
    AwaitAnswer,
    CompleteTurn,
    FailTurn,
    HandOver,
    ReportBlocked,
    Resume,
    Stop,
    WakeTurn,
)
from moot.core.session.desk_events import MemberAnswered, TurnParked
from moot.core.session.events import MessagePosted, Option, StepAsked, TurnFailed, TurnStarted
from moot.core.session.inquiries import name_question
from moot.core.session.team import member
from moot.core.session.usage import Usage
from moot.testing import PlanScenario, plan_given, task
from moot.testing.scenario import Scenario, given
from moot.testing.supervisor_scenario import supervisor_given
from tests.core.plan_teams import REVIEWER, TEAM, make_plan_team, solving, worker
from tests.core.teams import make_chat_team, only, task_input

ASKED = name_question("t1", "db")
THREE_HOURS_S = 3 * 3600.0


def asking(**fields: object) -> Scenario:
    """Bob is in a turn and has asked people which database to use."""
    question = AskPeople(turn_id="t1", key="db", question="Which database?", **fields)  # type: ignore[arg-type]
    return given(make_chat_team(("alice", "adam"))).says("[NEXT: bob] go", by="alice").when(question)


def test_a_question_to_people_goes_to_the_turn_that_waits() -> None:
    """The answer in words is delivered to the worker; the turn runs on and nothing else happens."""
    scenario = asking().then("agent.user_confirm")
    step = only(scenario.new, StepAsked)[0]
    assert (step.kind, step.member, step.who, step.expires_at) == ("ask_user", "bob", "Bob", None)
    scenario.says("postgres", by="adam").then("agent.user_confirm_closed")
    assert DeliverAnswer("t1", ASKED, None, "postgres") in outstanding(scenario.state)


def test_a_named_human_is_asked() -> None:
    """Only the human whom the member named is taken at their word."""
    scenario = asking(to="Adam", options=(Option(id="sqlite", label="SQLite"),))
    assert only(scenario.new, StepAsked)[0].asked_by == "adam"
    scenario.says("hello", by="alice")
    assert ASKED in scenario.state.open_steps
    scenario.says("SQLite", by="adam")
    assert DeliverAnswer("t1", ASKED, "sqlite", None) in outstanding(scenario.state)


def test_the_answer_after_the_turn_starts_the_next_one() -> None:
    """The question stays open when the turn is completed; its answer is a message to the member and its next turn."""
    scenario = asking().when(AwaitAnswer(turn_id="t1", question_id=ASKED)).replies("I asked.")
    assert ASKED in scenario.state.open_steps
    scenario.says("postgres", by="adam")
    message = only(scenario.new, MessagePosted)[0]
    assert (message.member, message.text, message.to) == ("adam", "postgres", ("bob",))
    assert [fact.member for fact in only(scenario.new, TurnStarted)] == ["bob"]


def test_an_answer_that_comes_late_in_the_turn_is_the_next_message() -> None:
    """A member that was told to wait is not interrupted: it gets the answer with its next turn."""
    scenario = asking().when(AwaitAnswer(turn_id="t1", question_id=ASKED)).says("postgres", by="adam")
    assert scenario.queue == ["bob"]
    scenario.replies("done")
    assert [turn.member for turn in scenario.state.running] == ["bob"]


@pytest.mark.parametrize("end", [Stop(by="alice"), FailTurn(turn_id="t1", error_type="agent", message="boom")])
def test_a_turn_that_does_not_complete_withdraws_its_questions(end: Stop | FailTurn) -> None:
    """Nobody is asked for a turn that was stopped or failed."""
    assert asking().when(end).state.open_steps == {}


def test_no_tool_works_between_turns() -> None:
    """What is said about a turn that is over, or never was, is refused and changes nothing."""
    scenario = asking().says("postgres", by="adam").replies("done")
    for turn_id in ("t1", "t9"):
        for call in (
            AskPeople(turn_id=turn_id, key="k", question="?"),
            AskMember(turn_id=turn_id, key="k", to="carol", question="?"),
            HandOver(turn_id=turn_id, to="carol"),
            ReportBlocked(turn_id=turn_id, reason="x"),
        ):
            scenario.when(call).refused("stale_turn")


def test_a_team_mate_answers_in_an_aside() -> None:
    """The team-mate's turn runs beside the one that asks; its answer is delivered, routes nobody and is counted."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(AskMember(turn_id="t1", key="v", to="@Carol", question="Which version?"))
    scenario.then("member.asked", "turn.started")
    assert [turn.member for turn in scenario.state.running] == ["bob"]
    (aside,) = scenario.state.asides
    asked = aside_input("s1", scenario.state, aside).asked
    assert asked is not None
    assert (asked.member, asked.question, aside.member) == ("bob", "Which version?", "carol")
    usage = Usage(input_tokens=3, output_tokens=4)
    scenario.when(CompleteTurn(turn_id="t2", text="3.11 [NEXT: dave]", usage=usage))
    scenario.then("turn.completed", "member.answered")
    assert DeliverAnswer("t1", name_question("t1", "v"), None, "3.11 ") not in outstanding(scenario.state)
    assert DeliverAnswer("t1", name_question("t1", "v"), None, "3.11") in outstanding(scenario.state)
    assert (scenario.queue, scenario.state.spent_by_member["carol"].tokens) == ([], 7)


def test_an_aside_that_fails_tells_why() -> None:
    """The member that asked is told, and its turn goes on."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(AskMember(turn_id="t1", key="v", to="carol", question="?"))
    scenario.when(FailTurn(turn_id="t2", error_type="auth", message="no key")).then("turn.failed", "member.answered")
    assert only(scenario.new, MemberAnswered)[0].error_type == "auth"
    assert [turn.member for turn in scenario.state.running] == ["bob"]


def test_a_team_mates_answer_after_the_turn_starts_the_next_one() -> None:
    """As with people: the answer is a message to the member that asked."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(AskMember(turn_id="t1", key="v", to="carol", question="?")).replies("later")
    assert not scenario.state.is_settled
    scenario.when(CompleteTurn(turn_id="t2", text="3.11"))
    assert [turn.member for turn in scenario.state.running] == ["bob"]
    assert only(scenario.new, MessagePosted)[0].to == ("bob",)


def test_nobody_is_asked_in_circles() -> None:
    """A member that answers may ask people, not team-mates; nobody asks itself or a stranger."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(AskMember(turn_id="t1", key="v", to="bob", question="?")).refused("asks_itself")
    scenario.when(AskMember(turn_id="t1", key="v", to="zoe", question="?")).refused("unknown_team_mate")
    assert "Alice, Bob, Carol, Dave" in scenario.refusal_text
    scenario.when(AskMember(turn_id="t1", key="v", to="carol", question="?"))
    scenario.when(AskMember(turn_id="t2", key="v", to="dave", question="?")).refused("aside_asks")
    scenario.when(AskPeople(turn_id="t2", key="v", question="?")).then("agent.user_confirm")


def test_stopping_stops_asides() -> None:
    """Stop ends what members ask each other, also when no other turn runs."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(AskMember(turn_id="t1", key="v", to="carol", question="?")).replies("later").when(Stop(by="alice"))
    assert scenario.refusal is None
    assert (scenario.state.asides, scenario.state.inquiries) == ((), {})


def test_a_hand_over_counts_like_next() -> None:
    """It is checked against the team when it is said and routes when the turn is completed, once for each name."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    scenario.when(HandOver(turn_id="t1", to="zoe")).refused("unknown_team_mate")
    scenario.when(HandOver(turn_id="t1", to="Carol", reason="tests"), HandOver(turn_id="t1", to="dave"))
    scenario.replies("please [NEXT: dave]")
    assert [turn.member for turn in scenario.state.running] == ["dave"]
    assert scenario.queue == ["carol"]


def test_a_hand_over_of_a_failed_turn_routes_nobody() -> None:
    """Only a completed turn hands over."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go").when(HandOver(turn_id="t1", to="carol")).fails()
    assert (scenario.state.running, scenario.queue) == ((), [])


@pytest.mark.parametrize("said", ["BLOCKED: no access", "I cannot."])
def test_blocked_is_a_failure_of_its_own_kind(said: str) -> None:
    """`BLOCKED:` as the first line, or the tool, fails the turn in a chat too; what was written is kept."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go")
    if not said.startswith("BLOCKED"):
        scenario.when(ReportBlocked(turn_id="t1", reason="no access"))
    scenario.replies(said)
    failed = only(scenario.new, TurnFailed)[0]
    assert (failed.error_type, failed.message, failed.partial) == ("blocked", "no access", said)


# usage limits


def limited() -> FailTurn:
    return FailTurn(turn_id="t1", error_type="rate_limit", message="limit", retry_after_s=THREE_HOURS_S)


def test_a_usage_limit_parks_the_turn() -> None:
    """The turn has not ended: it waits for the wall clock and goes on under the same id."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go").when(limited()).then("turn.parked")
    assert only(scenario.new, TurnParked)[0].until == "2026-01-01T03:00:00.000Z"
    assert outstanding(scenario.state) == [Wake("t1", "2026-01-01T03:00:00.000Z")]
    scenario.when(WakeTurn(turn_id="t1"), at="2026-01-01T02:59:59.999Z").refused("stale_turn")
    scenario.when(WakeTurn(turn_id="t1"), at="2026-01-01T03:00:00.000Z").then("turn.unparked")
    run = outstanding(scenario.state)[0]
    assert isinstance(run, RunTurn)
    assert (run.turn.turn_id, run.key) == ("t1", "t1#1")
    scenario.replies("done")
    assert scenario.state.runs == {}


def test_a_person_lets_a_parked_turn_go_on() -> None:
    """`/resume` does not wait for the limit to end."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go").when(limited(), Resume(by="alice")).then("turn.unparked")
    assert scenario.state.parked == {}


def test_a_stopped_turn_is_no_longer_parked() -> None:
    """Stop ends a parked turn like any other."""
    scenario = given(make_chat_team()).says("[NEXT: bob] go").when(limited(), Stop(by="alice"))
    assert (scenario.state.parked, scenario.state.running, outstanding(scenario.state)) == ({}, (), [])


def test_fallbacks_act_instead() -> None:
    """Each fallback is tried in turn; when none is left, the last one's turn is parked."""
    team = make_chat_team(fallback={"bob": ("carol", "dave")})
    scenario = given(team).says("[NEXT: bob] go").when(limited())
    assert only(scenario.new, TurnFailed)[0].error_type == "rate_limit"
    assert [turn.member for turn in scenario.state.running] == ["carol"]
    scenario.when(FailTurn(turn_id="t2", error_type="rate_limit", message="", retry_after_s=THREE_HOURS_S))
    assert [turn.member for turn in scenario.state.running] == ["dave"]
    scenario.when(FailTurn(turn_id="t3", error_type="rate_limit", message="", retry_after_s=THREE_HOURS_S))
    assert list(scenario.state.parked) == ["t3"]


def test_a_short_or_endless_limit_parks_nothing() -> None:
    """A limit without a known end, or one beyond eight days, is a failure."""
    for seconds in (0.0, 30.0, 30 * 86_400.0):
        scenario = given(make_chat_team()).says("[NEXT: bob] go")
        scenario.when(FailTurn(turn_id="t1", error_type="rate_limit", message="", retry_after_s=seconds))
        assert only(scenario.new, TurnFailed)


# flows without a queue


def running_task() -> PlanScenario:
    """The task `a` runs."""
    return solving(TEAM, task("a")).acks("a").starts("a")


def test_a_task_that_ends_with_an_open_question_goes_on_with_the_answer() -> None:
    """In a plan the same task is parked until somebody answers, and its worker is told what it had asked."""
    scenario = running_task()
    dispatch_id = scenario.dispatch_id("a")
    scenario.when(AskPeople(turn_id=dispatch_id, key="db", question="Which database?"))
    question_id = name_question(dispatch_id, "db")
    scenario.when(AwaitAnswer(turn_id=dispatch_id, question_id=question_id)).completes("a", "I asked.")
    assert only(scenario.new, TurnParked)[0].reason == "question"
    assert not [effect for effect in outstanding(scenario.state) if isinstance(effect, RunTask)]
    scenario.when(Answer(step_id=question_id, answer="postgres", by="alice"))
    (run,) = [effect for effect in outstanding(scenario.state) if isinstance(effect, RunTask)]
    assert run == RunTask(dispatch_id, f"{dispatch_id}#1", is_taken=True)
    told = task_input("s1", scenario.state, scenario.run("a")).answers
    assert [(each.question, each.answer) for each in told] == [("Which database?", "postgres")]
    scenario.completes("a", "done")
    assert scenario.run("a").is_finished


def test_a_task_is_parked_by_a_usage_limit_and_survives_a_restart() -> None:
    """Other tasks' leases end with the process; a parked task has no worker and waits for its time."""
    scenario = running_task()
    dispatch_id = scenario.dispatch_id("a")
    scenario.when(FailTurn(turn_id=dispatch_id, error_type="rate_limit", message="", retry_after_s=THREE_HOURS_S))
    scenario.then("turn.parked")
    assert flow_of(scenario.state).recover(scenario.state) is None
    assert Wake(dispatch_id, "2026-01-01T03:00:00.000Z") in outstanding(scenario.state)
    scenario.when(WakeTurn(turn_id=dispatch_id), at="2026-01-01T03:00:00.000Z").completes("a")
    assert scenario.run("a").is_finished


def limit(turn_id: str) -> FailTurn:
    return FailTurn(turn_id=turn_id, error_type="rate_limit", message="", retry_after_s=THREE_HOURS_S)


def test_a_fallback_takes_over_a_task() -> None:
    """The task fails with its limit and is offered at once to each fallback in turn; the last one's is parked."""
    team = make_plan_team(worker("w1", fallback=("w2", "w3")), worker("w2", 21), worker("w3", 22))
    scenario = solving(team, task("a")).acks("a").starts("a").when(limit("d1"))
    scenario.then(
        "task.failed", "error.execution", "error.recovery_started", "notice.posted", "task.dispatch_requested"
    )
    assert only(scenario.new, RecoveryStarted)[0].recovery_strategy == "fallback"
    assert scenario.run("a").member == "w2"
    scenario.starts("a").when(limit("d2"))
    assert scenario.run("a").member == "w3"
    scenario.starts("a").when(limit("d3")).then("turn.parked")
    scenario.when(WakeTurn(turn_id="d3"), at="2026-01-01T03:00:00.000Z").completes("a")
    assert scenario.run("a").is_finished


def test_the_only_reviewer_takes_over_no_task() -> None:
    """Nobody else could review the result."""
    team = make_plan_team(worker("w1", fallback=("critic",)), REVIEWER)
    solving(team, task("a")).acks("a").starts("a").when(limit("d1")).then("turn.parked")


def test_a_fallback_takes_over_a_job_but_never_the_review_of_its_own_work() -> None:
    """The planner's job goes to the fallback; a review does not go to who did the task."""
    planner = member("planner", "ai", role="planner", position=10, fallback=("w1",))
    critic = member("critic", "ai", role="reviewer", position=11, fallback=("w1", "planner"))
    team = replace(make_plan_team(), members=(*make_plan_team().humans, planner, critic, worker("w1")))
    scenario = plan_given(team).says("write a report", by="alice").understands("different_task").when(limit("t1"))
    assert (scenario.turn("plan").member, scenario.turn("plan").stands_in_for) == ("w1", "planner")
    scenario.plans(task("a")).approves(by="alice").completes("a").when(limit("t3"))
    assert scenario.turn("review", "a").member == "planner"
    scenario.reviews("a", passes=True)
    assert scenario.run("a").is_finished
    assert not scenario.work.episodes


def test_a_fallback_plays_the_agent_of_a_supervisor() -> None:
    """It acts as the same agent, and the job goes on as if nothing had happened."""
    studio = load_team("content-studio-demo").team()
    lead = find_leader(studio.supervisor, studio.members)
    assert lead
    other = next(each for each in studio.ais if each != lead)
    members = tuple(replace(each, fallback=(other.id,)) if each == lead else each for each in studio.members)
    scenario = supervisor_given(replace(studio, members=members)).starts("a post about herbs").when(limit("t1"))
    scenario.then("turn.failed", "notice.posted", "turn.started")
    assert [(turn.member, turn.job) for turn in scenario.state.running] == [(other.id, "supervisor")]
    scenario.decides("brief_compiler_agent")
    assert scenario.acting == "brief_compiler_agent"


def test_nobody_hands_over_in_a_plan() -> None:
    """Moot decides who acts there; the member is told so."""
    scenario = running_task()
    scenario.when(HandOver(turn_id=scenario.dispatch_id("a"), to="alice")).refused("no_hand_over_here")
