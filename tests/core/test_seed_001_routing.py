"""How messages are routed in a chat: every rule, edge case and regression."""

import pytest

from moot.core.decide import check_team
from moot.core.flows.chat.chat_events import QueueChanged
from moot.core.flows.turns import TurnInput
from moot.core.machines.session import Status
from moot.core.session.commands import ChangeQueue, End, ExpireTurn, Pause
from moot.core.session.events import MessagePosted, NoticePosted, SessionPaused, TurnStarted
from moot.core.session.state import Message
from moot.core.session.team import Language, Team, member
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only, turn_input

TO_ONE_AI = [
    "message.posted",
    "routing.decided",
    "session.activated",
    "turn.started",
    "queue.changed",
]


def acting(scenario: Scenario) -> list[str]:
    return [turn.member for turn in scenario.state.running]


def current_input(scenario: Scenario) -> TurnInput:
    return turn_input("s", scenario.state, scenario.state.running[0])


def last_pause(scenario: Scenario) -> tuple[str, str]:
    paused = only(scenario.facts, SessionPaused)[-1]
    return paused.waiting_for, paused.reason


# what a team needs


def test_a_team_without_a_human_is_refused() -> None:
    """A team without a human is refused, in both languages."""
    members = (member("bob", "ai"), member("carol", "ai"))
    with pytest.raises(ValueError, match="a team needs at least 1 human member"):
        check_team(Team(name="t", members=members))
    with pytest.raises(ValueError, match="团队至少需要 1 个 Human 成员"):
        check_team(Team(name="t", members=members, language="zh"))


def test_a_team_of_one_is_refused() -> None:
    """A team has at least two members."""
    with pytest.raises(ValueError, match="at least 2 members"):
        check_team(Team(name="t", members=(member("alice", "human"),)))


# the matrix


def test_row_1_an_ai_is_named() -> None:
    """An AI that is named is queued and gets the message; the session is active."""
    scenario = given(make_chat_team()).says("[NEXT:bob] hello").then(*TO_ONE_AI)
    assert acting(scenario) == ["bob"]
    assert scenario.state.status is Status.ACTIVE
    assert scenario.queue == []


def test_row_2_a_human_is_named() -> None:
    """A human who is named is waited for; the session is paused."""
    scenario = given(make_chat_team(("alice", "adam"))).says("[NEXT:adam] your turn", by="alice")
    assert acting(scenario) == []
    assert scenario.state.status is Status.PAUSED
    assert last_pause(scenario) == ("adam", "addressed")


@pytest.mark.parametrize(
    ("names", "status"),
    [("bob,adam,carol", Status.ACTIVE), ("adam,bob,carol", Status.PAUSED)],
)
def test_row_3_several_are_named(names: str, status: Status) -> None:
    """All are queued in order; the kind of the first decides the status."""
    scenario = given(make_chat_team(("alice", "adam"))).says(f"[NEXT:{names}] go", by="alice")
    first, *rest = names.split(",")
    assert scenario.state.status is status
    assert scenario.queue == rest
    assert (scenario.state.slice.queue[0] or scenario.state.waiting_for) == first


def test_row_4_some_are_unknown() -> None:
    """Those who resolve are queued, the others are skipped and named."""
    scenario = given(make_chat_team()).says("[NEXT:bob,zoe,carol] go")
    assert acting(scenario) == ["bob"]
    assert scenario.queue == ["carol"]
    assert scenario.notices == ["⚠️ 'zoe' is not in this team, skipped"]


def test_row_5_nobody_is_known() -> None:
    """Pause, and say who is available."""
    scenario = given(make_chat_team()).says("[NEXT:zoe] go")
    scenario.then("message.posted", "routing.decided", "notice.posted", "session.paused")
    assert scenario.state.status is Status.PAUSED
    assert scenario.notices == ["❌ Cannot resolve [NEXT:zoe]. Available members: Alice, Bob, Carol, Dave"]


@pytest.mark.parametrize(
    ("language", "suggestion"),
    [
        ("en", "◦ Nobody here is called bobb. Did you mean [NEXT: Bob]?"),
        ("zh", "◦ 这里没有 bobb。是指 [NEXT: Bob] 吗？"),
    ],
)
def test_row_5_suggests_the_nearest_name(language: Language, suggestion: str) -> None:
    """A misspelt name earns a second notice with the member who was probably meant; the message goes to nobody."""
    scenario = given(make_chat_team(language=language)).says("[NEXT:bobb] go")
    assert scenario.notices[1:] == [suggestion]
    assert last_pause(scenario) == ("alice", "unresolved")


def test_row_5_keeps_the_queue() -> None:
    """A name nobody has does not cost the others their places."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol,dave] go").replies("[NEXT:zoe] over to you")
    assert scenario.queue == ["carol", "dave"]
    assert last_pause(scenario) == ("alice", "unresolved")


def test_row_5_waits_for_the_human_who_made_the_mistake() -> None:
    """The speaker is waited for if human, else the first human."""
    scenario = given(make_chat_team(("alice", "adam"))).says("[NEXT:zoe] go", by="adam")
    assert last_pause(scenario) == ("adam", "unresolved")
    scenario.says("[NEXT:bob] go", by="adam").replies("[NEXT:zoe] go")
    assert last_pause(scenario) == ("alice", "unresolved")


def test_row_6_without_a_marker_the_queue_goes_on() -> None:
    """A message without NEXT hands the floor to the head of the queue."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").replies("done")
    assert acting(scenario) == ["carol"]
    assert scenario.state.status is Status.ACTIVE


def test_row_7_without_a_marker_and_a_queue_the_first_human_is_next() -> None:
    """Fall back to the first human by order, however the team is written down."""
    late = member("alice", "human", order=5)
    early = member("adam", "human", order=1)
    team = Team(name="t", members=(late, member("bob", "ai", order=0), early))
    scenario = given(team).says("[NEXT:bob] hi", by="alice").replies("hello")
    assert last_pause(scenario) == ("adam", "fallback")
    assert scenario.state.status is Status.PAUSED


# what people are told


@pytest.mark.parametrize(
    ("language", "skipped", "lost"),
    [
        ("zh", "⚠️ 'unknown' 不在当前团队中，已跳过", "❌ 无法解析任何目标。可用成员：Alice, Bob"),
        (
            "en",
            "⚠️ 'unknown' is not in this team, skipped",
            "❌ Cannot resolve [NEXT:unknown]. Available members: Alice, Bob",
        ),
    ],
)
def test_names_that_lead_nowhere_are_told(language: Language, skipped: str, lost: str) -> None:
    """Never silently; these are the exact sentences."""
    team = make_chat_team(ais=("bob",), language=language)
    assert given(team).says("[NEXT:bob,unknown] go").notices == [skipped]
    assert given(team).says("[NEXT:unknown] go").notices == [lost]


def test_several_skipped_names_make_one_notice() -> None:
    """One notice names everybody who was skipped."""
    scenario = given(make_chat_team()).says("[NEXT:x,bob,y] go")
    assert scenario.notices == ["⚠️ 'x', 'y' is not in this team, skipped"]


def test_a_timeout_is_told_and_waits_for_the_first_human() -> None:
    """A turn that takes too long is reported in minutes, then a human decides."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").when(ExpireTurn(turn_id="t1"))
    scenario.then("turn.failed", "queue.changed", "notice.posted", "session.paused")
    assert scenario.notices == ["Agent Bob timed out after 30 minutes"]
    assert last_pause(scenario) == ("alice", "agent_timeout")
    assert scenario.queue == ["carol"]


def test_an_agent_error_is_told_and_waits_for_the_first_human() -> None:
    """A failing agent is reported with its error, then a human decides."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").fails(message="no key")
    assert scenario.notices == ["Agent Bob encountered an error: no key"]
    assert last_pause(scenario) == ("alice", "agent_error")
    assert scenario.queue == ["carol"]


def test_after_an_error_a_plain_message_resumes_the_queue() -> None:
    """The queue is kept, so that a message without NEXT goes on with it."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").fails().says("never mind")
    assert acting(scenario) == ["carol"]


# edge cases


def test_an_empty_next_is_no_marker() -> None:
    """`[NEXT:]` routes as no marker, and is taken out of the text all the same."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").replies("fine [NEXT: ]")
    assert acting(scenario) == ["carol"]
    assert only(scenario.new, MessagePosted)[0].text == "fine "


def test_a_member_may_name_itself() -> None:
    """Naming oneself is allowed."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go").replies("again [NEXT:bob]")
    assert acting(scenario) == ["bob"]
    assert scenario.state.running[0].index == 1


@pytest.mark.parametrize("names", ["bob,bob,bob", "bob, BOB, @Bob", "bob,**Bob**,b-o_b."])
def test_adjacent_duplicates_count_once(names: str) -> None:
    """`[NEXT:a,a,a]` queues a once; members are compared, not spellings."""
    scenario = given(make_chat_team()).says(f"[NEXT:{names}] go")
    assert acting(scenario) == ["bob"]
    assert scenario.queue == []


def test_duplicates_apart_from_each_other_stay() -> None:
    """Only adjacent duplicates are dropped."""
    assert given(make_chat_team()).says("[NEXT:bob,carol,bob] go").queue == ["carol", "bob"]


def test_a_duplicate_of_the_tail_is_dropped() -> None:
    """The current tail counts as a neighbour."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").says("[NEXT:carol,dave] too", by="alice")
    assert scenario.queue == ["carol", "dave"]


def test_several_markers_count_in_order() -> None:
    """`[NEXT:a] … [NEXT:b]` queues a, then b."""
    scenario = given(make_chat_team()).says("[NEXT:bob] first, then [NEXT:carol]")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])


def test_ais_may_go_round_until_a_human_ends_it() -> None:
    """A→B→A→B… is allowed, and `/end` stops it."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go")
    for _ in range(5):
        scenario.replies("[NEXT:carol] ping").replies("[NEXT:bob] pong")
    assert acting(scenario) == ["bob"]
    scenario.says("/end", by="alice")
    assert scenario.state.status is Status.COMPLETED


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\ufeff", "\x00", "[NEXT:]", "[FROM: alice]"])
def test_an_empty_message_is_refused(text: str) -> None:
    """An empty message of a human is refused with a hint."""
    scenario = given(make_chat_team()).says(text).refused("empty_message")
    assert scenario.refusal_text.startswith("Message content cannot be empty")


# the scenarios that must be covered


def test_scenario_1_a_single_next() -> None:
    """`[NEXT:bob]` goes to Bob."""
    assert acting(given(make_chat_team()).says("[NEXT:bob]")) == ["bob"]


def test_scenario_2_several_names_are_served_one_after_the_other() -> None:
    """`[NEXT:bob,carol]` is served in order, one at a time."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go")
    assert acting(scenario) == ["bob"]
    assert acting(scenario.replies("one")) == ["carol"]
    assert acting(scenario.replies("two")) == []


def test_scenario_3_several_markers() -> None:
    """`[NEXT:bob][NEXT:carol]` queues in order."""
    scenario = given(make_chat_team()).says("[NEXT:bob][NEXT:carol] go")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])


def test_scenario_4_nobody_resolves() -> None:
    """`[NEXT:unknown]` pauses and tells who is available."""
    scenario = given(make_chat_team()).says("[NEXT:unknown] go")
    notice = only(scenario.new, NoticePosted)[0]
    assert (notice.code, notice.available) == ("unresolved", ("Alice", "Bob", "Carol", "Dave"))
    assert scenario.state.waiting_for == "alice"


def test_scenario_5_some_resolve() -> None:
    """Bob and Carol are queued, `unknown` is named as skipped."""
    scenario = given(make_chat_team()).says("[NEXT:bob,unknown,carol] go")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])
    assert only(scenario.new, NoticePosted)[0].names == ("unknown",)


def test_scenario_6_nothing_named_nothing_queued() -> None:
    """Without NEXT and queue the first human is waited for."""
    scenario = given(make_chat_team()).says("just thinking aloud")
    assert last_pause(scenario) == ("alice", "fallback")


def test_scenario_7_nothing_named_but_a_queue() -> None:
    """Without NEXT the queue is worked on."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol,dave] go").replies("ok")
    assert (acting(scenario), scenario.queue) == (["carol"], ["dave"])


def test_scenario_8_adjacent_duplicates() -> None:
    """`[NEXT:bob,bob,carol]` queues bob and carol."""
    scenario = given(make_chat_team()).says("[NEXT:bob,bob,carol] go")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])


def test_scenario_9_a_chain() -> None:
    """A→B→C→human is served one by one."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go").replies("[NEXT:carol] a").replies("[NEXT:dave] b")
    scenario.replies("[NEXT:alice] c")
    assert [turn.member for turn in only(scenario.facts, TurnStarted)] == ["bob", "carol", "dave"]
    assert last_pause(scenario) == ("alice", "addressed")


def test_scenario_10_a_human_in_the_middle() -> None:
    """The queue stops at the human and keeps who stands behind."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol,alice,dave] go").replies("1").replies("2")
    assert last_pause(scenario) == ("alice", "addressed")
    assert scenario.queue == ["dave"]
    assert acting(scenario.says("go on")) == ["dave"]


# the queue is visible


def changes(scenario: Scenario) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(fact.executing, fact.pending) for fact in only(scenario.new, QueueChanged)]


def test_the_queue_is_told_when_it_grows_and_when_a_turn_starts() -> None:
    """Enqueueing and starting are each told; who executes is marked."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go")
    assert changes(scenario) == [(None, ("bob", "carol")), ("bob", ("carol",))]


def test_the_queue_is_told_when_a_turn_finishes() -> None:
    """One event says that a turn has finished and who has the floor now; the last finish empties the queue."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").replies("1")
    assert changes(scenario) == [("carol", ())]
    assert changes(scenario.replies("2")) == [(None, ())]


def test_the_queue_is_told_when_a_member_goes_on_by_itself() -> None:
    """Every start of a turn is told, also if the queue is as before."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go").replies("[NEXT:self] 1")
    assert changes(scenario) == [("bob", ())]


def test_the_queue_is_kept_when_the_next_turn_is_held_back() -> None:
    """A requested pause keeps who was to speak next in the queue, and nobody is marked."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go").when(Pause()).replies("[NEXT:carol] 1")
    assert changes(scenario) == [(None, ("carol",))]
    assert last_pause(scenario) == ("alice", "user_pause")


def test_the_queue_is_told_when_somebody_is_skipped_or_all_are() -> None:
    """Skipping and clearing are told and leave the running turn marked."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol,dave,carol] go")
    assert changes(scenario.when(ChangeQueue(action="skip"))) == [("bob", ("dave", "carol"))]
    assert changes(scenario.when(ChangeQueue(action="clear"))) == [("bob", ())]


def test_the_queue_is_told_when_a_message_joins_while_an_ai_acts() -> None:
    """A NEXT said meanwhile shows up at once behind the one who acts."""
    scenario = given(make_chat_team()).says("[NEXT:bob] go").says("[NEXT:dave] later", by="alice")
    assert changes(scenario) == [("bob", ("dave",))]


def test_an_ended_session_shows_no_queue() -> None:
    """Ending empties the queue by an event."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] go").when(End())
    assert changes(scenario) == [(None, ())]


# regressions


def test_bug_7_the_next_ai_gets_the_newest_message() -> None:
    """The second AI gets the first AI's output, not the original message."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] what is 6 x 7?").replies("it is 42")
    given_to_carol = current_input(scenario)
    assert given_to_carol.member.id == "carol"
    assert given_to_carol.message == Message("bob", "it is 42")
    assert given_to_carol.history == (Message("alice", " what is 6 x 7?"), Message("bob", "it is 42"))


def test_an_empty_output_hands_on_the_message_before_it() -> None:
    """A turn that says nothing adds no message, and routing goes on."""
    scenario = given(make_chat_team()).says("[NEXT:bob,carol] hello").replies(" [NEXT:dave]")
    assert only(scenario.new, MessagePosted) == []
    assert current_input(scenario).message == Message("alice", " hello")
    assert scenario.queue == ["dave"]


def test_every_pause_is_an_event() -> None:
    """Each time the floor goes to a human `session.paused` is logged, so saving cannot be forgotten."""
    scenario = given(make_chat_team(("alice", "adam")))
    for text, by, expected in [
        ("hello", "alice", ("alice", "fallback")),
        ("[NEXT:adam] you", "alice", ("adam", "addressed")),
        ("[NEXT:nobody]", "adam", ("adam", "unresolved")),
        ("again", "adam", ("alice", "fallback")),
    ]:
        scenario.says(text, by=by)
        assert [(fact.waiting_for, fact.reason) for fact in only(scenario.new, SessionPaused)] == [expected]
        assert scenario.new[-1].event == "session.paused"
