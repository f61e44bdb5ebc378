"""What people do to running work: pause, resume, retry, cancel, end, change the queue; and the limits that pause."""

import pytest

from moot.core.errors import Refused
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.machines.session import Status
from moot.core.session.commands import (
    CancelTurn,
    ChangeQueue,
    CompleteTurn,
    End,
    FailTurn,
    Pause,
    Post,
    ReportStep,
    Resume,
    Retry,
)
from moot.core.session.events import (
    MessagePosted,
    NoticePosted,
    SessionCompleted,
    SessionPaused,
    TurnCancelled,
    TurnCompleted,
    TurnStarted,
)
from moot.core.session.settings import Budget
from moot.core.session.usage import Spent, Usage
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only

TEAM = make_chat_team()


def acting(scenario: Scenario) -> list[str]:
    return [turn.member for turn in scenario.state.running]


def pause_of(scenario: Scenario) -> tuple[str, str]:
    last = scenario.new[-1]
    assert isinstance(last, SessionPaused)
    return last.waiting_for, last.reason


# pause and resume


def test_pause_lets_the_running_turn_finish() -> None:
    """The running turn finishes, then the queue waits for the human who paused."""
    scenario = given(make_chat_team(("alice", "adam"))).says("[NEXT: bob, carol] go", by="alice")
    scenario.when(Pause(by="adam")).then("session.pause_requested")
    assert acting(scenario) == ["bob"]
    scenario.replies("[NEXT: dave] ok")
    assert pause_of(scenario) == ("adam", "user_pause")
    assert scenario.queue == ["carol", "dave"]
    assert [message.text for message in scenario.state.history] == [" go", " ok"]


def test_pause_with_nothing_running_waits_at_once() -> None:
    """/pause holds a session that has the floor with a human already."""
    scenario = given(TEAM).when(Pause()).then("session.pause_requested", "session.paused")
    assert pause_of(scenario) == ("alice", "user_pause")


def test_pausing_twice_is_pausing_once() -> None:
    """A second /pause while the turn runs adds nothing."""
    given(TEAM).says("[NEXT: bob] go").when(Pause()).when(Pause()).then()


def test_resume_goes_on_with_the_queue() -> None:
    """/resume hands the floor to the head of the queue."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").when(Pause()).replies("ok")
    scenario.when(Resume()).then("session.activated", "turn.started", "queue.changed")
    assert acting(scenario) == ["carol"]


def test_resume_before_the_turn_ends_takes_the_pause_back() -> None:
    """A pause that was not yet reached is undone; the queue goes on by itself."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").when(Pause(), Resume()).replies("ok")
    assert acting(scenario) == ["carol"]


def test_resume_with_a_human_at_the_head_waits_for_that_human() -> None:
    """The head of the queue may be a human."""
    team = make_chat_team(("alice", "adam"))
    scenario = (
        given(team).says("[NEXT: bob, carol, adam] go", by="alice").when(CancelTurn(), ChangeQueue(action="skip"))
    )
    assert pause_of(scenario.when(Resume())) == ("adam", "addressed")


def test_nothing_to_resume_is_refused() -> None:
    """With an empty queue there is nothing to go on with."""
    given(TEAM).when(Resume()).refused("nothing_to_resume")


def test_a_message_ends_a_pause() -> None:
    """Paused → active by human input."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").when(Pause()).replies("ok").says("fine, go on")
    assert acting(scenario) == ["carol"]


# retry and cancel


def test_retry_repeats_the_failed_turn_ahead_of_the_queue() -> None:
    """/retry repeats the failed turn; the queue stands behind it."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").fails().when(Retry())
    scenario.then("session.activated", "turn.started", "queue.changed")
    started = only(scenario.new, TurnStarted)[0]
    assert (started.member, started.turn_id, started.retry_of, started.index) == ("bob", "t2", "t1", 1)
    assert (scenario.state.slice.queue[0], scenario.queue) == ("bob", ["carol"])


def test_retry_may_be_repeated_as_often_as_the_turn_fails() -> None:
    """A retried turn that fails can be retried."""
    scenario = given(TEAM).says("[NEXT: bob] go").fails().when(Retry()).fails().when(Retry())
    assert acting(scenario) == ["bob"]


def test_nothing_to_retry_is_refused() -> None:
    """Without a failed turn, or after another turn, there is nothing to retry."""
    given(TEAM).when(Retry()).refused("nothing_to_retry")
    given(TEAM).says("[NEXT: bob] go").fails().says("[NEXT: carol] you").replies("ok").when(Retry()).refused(
        "nothing_to_retry"
    )


def test_retry_while_a_turn_runs_is_refused() -> None:
    """Strictly serial: one member acts at a time."""
    scenario = given(TEAM).says("[NEXT: bob] go").when(Retry()).refused("still_running")
    assert scenario.refusal_text.startswith("Bob is still acting")


def test_cancel_kills_the_turn_and_keeps_the_queue() -> None:
    """The human who cancels gets the floor; nobody loses a place."""
    scenario = given(make_chat_team(("alice", "adam"))).says("[NEXT: bob, carol] go", by="alice")
    scenario.when(CancelTurn(by="adam")).then("turn.cancelled", "queue.changed", "session.paused")
    assert pause_of(scenario) == ("adam", "user_pause")
    assert scenario.queue == ["carol"]
    assert acting(scenario.when(Retry())) == ["bob"]


def test_nothing_to_cancel_is_refused() -> None:
    """Cancelling needs a running turn."""
    given(TEAM).when(CancelTurn()).refused("nothing_running")


@pytest.mark.parametrize(
    "late",
    [
        CompleteTurn(turn_id="t1", text="late"),
        FailTurn(turn_id="t1", error_type="agent", message="late"),
        ReportStep(turn_id="t1", thought="late"),
        CompleteTurn(turn_id="t99", text="never started"),
    ],
)
def test_a_result_of_a_turn_that_is_over_is_ignored(late: CompleteTurn | FailTurn | ReportStep) -> None:
    """Each dispatch ends once; a stale result is refused and changes nothing."""
    given(TEAM).says("[NEXT: bob] go").when(CancelTurn()).when(late).refused("stale_turn")


# the queue


def test_skip_takes_the_head_or_the_named_member() -> None:
    """user.queue: skip without a name is the head, with a name the first entry of that member."""
    scenario = given(TEAM).says("[NEXT: bob, carol, dave, alice] go")
    assert scenario.when(ChangeQueue(action="skip", member="Dave")).queue == ["carol", "alice"]
    assert scenario.when(ChangeQueue(action="skip")).queue == ["alice"]


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (0, ["alice", "carol", "dave"]),
        (1, ["carol", "alice", "dave"]),
        (9, ["carol", "dave", "alice"]),
        (-1, ["alice", "carol", "dave"]),
    ],
)
def test_move_puts_a_member_where_it_is_wanted(to: int, expected: list[str]) -> None:
    """user.queue: move to a position; one beyond an end is that end."""
    scenario = given(TEAM).says("[NEXT: bob, carol, dave, alice] go")
    assert scenario.when(ChangeQueue(action="move", member="alice", to=to)).queue == expected


def test_a_place_chosen_by_hand_beats_priorities() -> None:
    """user.queue: after a move, newcomers go behind, also where a P3 stood."""
    scenario = given(TEAM).says("[NEXT: bob, dave!P3, carol] go")
    scenario.when(ChangeQueue(action="move", member="dave", to=0)).says("[NEXT: alice] too", by="alice")
    assert scenario.queue == ["dave", "carol", "alice"]


@pytest.mark.parametrize("member", ["bob", "zoe", None])
def test_moving_somebody_who_does_not_wait_is_refused(member: str | None) -> None:
    """user.queue: who acts, is unknown or is not named is not in the queue; the refusal says who is."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").when(ChangeQueue(action="move", member=member))
    assert "it holds Carol" in scenario.refused("not_in_queue").refusal_text


def test_drop_takes_out_before_next_is_applied() -> None:
    """`[DROP:]` first, then `[NEXT:]` of the same message."""
    scenario = given(TEAM).says("[NEXT: bob, carol, dave] go").replies("[NEXT: carol] [DROP: carol, dave] hm")
    assert acting(scenario) == ["carol"]
    assert scenario.queue == []


def test_dropping_an_unknown_name_is_told() -> None:
    """Names that lead nowhere are never ignored silently, in DROP either."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").replies("[DROP: zoe] hm")
    assert scenario.notices == ["⚠️ 'zoe' is not in this team, skipped"]


# speaking while an AI acts


def test_a_message_said_meanwhile_does_not_stop_the_ai() -> None:
    """It joins the history and its NEXT the queue; the turn goes on."""
    scenario = given(TEAM).says("[NEXT: bob] go").says("wait, [NEXT: carol] also")
    scenario.then("message.posted", "routing.decided", "queue.changed")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])
    assert scenario.state.status is Status.ACTIVE


def test_a_wrong_name_said_meanwhile_is_told_and_does_not_pause() -> None:
    """The notice appears; the AI goes on acting, the queue is kept."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").says("[NEXT: zoe] also")
    scenario.then("message.posted", "routing.decided", "notice.posted")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])


def test_several_messages_meanwhile_queue_in_the_order_said() -> None:
    """FIFO across messages."""
    scenario = given(TEAM).says("[NEXT: bob] go").says("[NEXT: carol] a").says("[NEXT: dave!P1] b")
    assert scenario.queue == ["dave", "carol"]


# the end


@pytest.mark.parametrize("end", [End(), Post(text="/end"), Post(text="[DONE] [NEXT: bob] thanks")])
def test_the_end_clears_everything_once(end: End | Post) -> None:
    """Ending with five in the queue clears it by event, cancels the running turn and completes once."""
    scenario = given(TEAM).says("[NEXT: bob, carol, dave, carol, dave, alice] go")
    assert len(scenario.queue) == 5
    scenario.when(end)
    tail = [fact.event for fact in scenario.new if not isinstance(fact, MessagePosted)]
    assert tail == ["turn.cancelled", "queue.changed", "session.completed"]
    assert only(scenario.new, TurnCancelled)[0].reason == "session_ended"
    assert (scenario.queue, acting(scenario)) == ([], [])
    scenario.when(end).refused("session_completed")
    assert len(only(scenario.facts, SessionCompleted)) == 1


def test_done_of_a_human_keeps_the_words_around_it() -> None:
    """[DONE] ends the session and leaves the text."""
    scenario = given(TEAM).says("thanks, all [DONE]").then("message.posted", "session.completed")
    assert only(scenario.new, MessagePosted)[0].text == "thanks, all "
    assert only(scenario.new, SessionCompleted)[0].reason == "done"


def test_completed_refuses_everything() -> None:
    """Completed → [*]; it accepts nothing more, late results neither."""
    scenario = given(TEAM).says("[NEXT: bob] go").when(End())
    for command in (Post(text="hi"), Pause(), Resume(), Retry(), End(), CompleteTurn(turn_id="t1", text="late")):
        scenario.when(command).refused("session_completed")


# limits that give the floor back


def test_the_hop_limit_pauses_a_loop() -> None:
    """A and B going round are paused at max_hops AI turns with a notice; the queue is kept."""
    scenario = given(make_chat_team(chat=ChatSettings(max_hops=4))).says("[NEXT: bob] go")
    for _ in range(2):
        scenario.replies("[NEXT: carol] ping").replies("[NEXT: bob] pong")
    assert pause_of(scenario) == ("alice", "hop_limit")
    assert scenario.notices == ["⏸ The AIs took 4 turns in a row. Say something or /resume to go on, /end to stop"]
    assert scenario.queue == ["bob"]
    assert [turn.hop for turn in only(scenario.facts, TurnStarted)] == [1, 2, 3, 4]


@pytest.mark.parametrize("go_on", [Resume(), Post(text="go on")])
def test_after_the_hop_limit_a_human_lets_it_go_on(go_on: Resume | Post) -> None:
    """Continuing starts the count again."""
    scenario = given(make_chat_team(chat=ChatSettings(max_hops=1))).says("[NEXT: bob] go").replies("[NEXT: carol] x")
    scenario.when(go_on)
    assert acting(scenario) == ["carol"]
    assert scenario.state.hops == 1


def test_a_human_who_speaks_starts_the_count_again() -> None:
    """Hops count AI turns since a human last spoke."""
    scenario = given(make_chat_team(chat=ChatSettings(max_hops=2))).says("[NEXT: bob] go").replies("[NEXT: carol] x")
    scenario.says("nice").replies("[NEXT: bob] y")
    assert acting(scenario) == ["bob"]


def test_zero_hops_means_no_limit() -> None:
    """max_hops 0 is off."""
    scenario = given(make_chat_team(chat=ChatSettings(max_hops=0))).says("[NEXT: bob] go")
    for _ in range(120):
        scenario.replies("[NEXT: bob] again")
    assert acting(scenario) == ["bob"]


@pytest.mark.parametrize(
    ("budget", "usage", "detail"),
    [
        (Budget(max_turns=1), Usage(), "1/1 turns"),
        (Budget(max_tokens=100), Usage(input_tokens=60, output_tokens=50), "110/100 tokens"),
        (Budget(max_cost_usd=0.5), Usage(cost_usd=0.75), "0.75/0.50 USD"),
    ],
)
def test_a_used_up_budget_pauses_and_asks(budget: Budget, usage: Usage, detail: str) -> None:
    """At the limit the session pauses before the next turn and says which limit."""
    scenario = given(make_chat_team(budget=budget)).says("[NEXT: bob, carol] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok", usage=usage))
    assert pause_of(scenario) == ("alice", "budget")
    assert only(scenario.new, NoticePosted)[0].detail == detail
    assert scenario.queue == ["carol"]
    assert acting(scenario.when(Resume())) == ["carol"]
    assert scenario.state.spent == Spent(turns=1)  # the granted budget starts with this turn


def test_a_cost_that_is_no_number_is_not_logged() -> None:
    """What is logged can be read again, whatever an agent reports."""
    scenario = given(TEAM).says("[NEXT: bob] go")
    scenario.when(CompleteTurn(turn_id="t1", text="ok", usage=Usage(input_tokens=3, cost_usd=float("nan"))))
    assert only(scenario.new, TurnCompleted)[0].usage == Usage(input_tokens=3)


def test_refusals_carry_a_stable_code() -> None:
    """Code and parameters, never a sentence."""
    refusal = Refused("not_in_queue", who="zoe")
    assert (refusal.code, refusal.params) == ("not_in_queue", {"who": "zoe"})
