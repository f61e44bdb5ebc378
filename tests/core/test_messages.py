"""What people and AIs may say, and how it is stored."""

import pytest

from moot.core.limits import MESSAGE_CHARS
from moot.core.machines.session import Status
from moot.core.session.events import MessagePosted, TeamTaskSet
from moot.testing.scenario import given
from tests.core.teams import make_chat_team, only

TEAM = make_chat_team()


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("a\x00b", "ab"),
        ("abc\u202edef", "abcdef"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("line\r\nline", "line\nline"),
        ("  indented\n\n\tcode  ", "  indented\n\n\tcode  "),
    ],
)
def test_what_a_person_says_is_stored_safely(said: str, stored: str) -> None:
    """NUL, overrides and escapes are taken out; the rest is stored as it was typed."""
    assert only(given(TEAM).says(said).new, MessagePosted) == [MessagePosted(member="alice", text=stored)]


def test_a_message_that_is_too_long_is_refused_with_the_limit() -> None:
    """The limit is told; exactly the limit is accepted."""
    scenario = given(TEAM).says("x" * (MESSAGE_CHARS + 1)).refused("message_too_long")
    assert f"{MESSAGE_CHARS}" in scenario.refusal_text
    scenario.says("x" * MESSAGE_CHARS).then("message.posted", "routing.decided", "notice.posted", "session.paused")


def test_markers_alone_are_a_message_if_they_name_somebody() -> None:
    """`[NEXT: bob]` without words is accepted; it may also drop, end or set the goal."""
    assert given(TEAM).says("[NEXT: bob]").state.slice.queue[0] == "bob"
    assert given(TEAM).says("[DROP: bob]").state.status is Status.PAUSED
    assert given(TEAM).says("[TEAM_TASK: win]").state.team_task == "win"
    assert given(TEAM).says("[DONE]").state.status is Status.COMPLETED


def test_both_the_shown_and_the_said_text_are_kept() -> None:
    """`text` is shown and handed on; `raw` keeps what was said where they differ."""
    posted = only(given(TEAM).says("hi [NEXT: bob]").new, MessagePosted)[0]
    assert (posted.text, posted.raw, posted.turn_id) == ("hi ", "hi [NEXT: bob]", None)
    assert only(given(TEAM).says("hi").new, MessagePosted)[0].raw is None


def test_a_message_of_an_ai_names_its_turn() -> None:
    """What an AI said belongs to the turn it said it in."""
    posted = only(given(TEAM).says("[NEXT: bob] go").replies("hello").new, MessagePosted)[0]
    assert (posted.member, posted.turn_id) == ("bob", "t1")


def test_a_goal_is_shared_until_the_next_one() -> None:
    """`[TEAM_TASK:]` sets the goal for everybody; an AI may set it too."""
    scenario = given(TEAM).says("[TEAM_TASK: draft it] [NEXT: bob] go")
    assert only(scenario.new, TeamTaskSet) == [TeamTaskSet(member="alice", team_task="draft it")]
    assert scenario.replies("[TEAM_TASK: polish it] done").state.team_task == "polish it"


@pytest.mark.parametrize("text", ["thanks [DONE]", "[DONE]", "[FROM: alice] [DONE]"])
def test_done_of_an_ai_means_nothing(text: str) -> None:
    """`[DONE]` from an AI is removed and ends nothing, whoever it claims to be."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go").replies(text)
    assert scenario.state.slice.queue[0] == "carol"
    assert "[DONE]" not in scenario.state.history[-1].text


def test_markers_that_an_ai_quotes_do_not_route() -> None:
    """Code blocks and quoted lines of an AI's answer are handed on and route nothing."""
    said = "> [NEXT: carol]\n```\n[NEXT: dave]\n```\nthat is how it works"
    scenario = given(TEAM).says("[NEXT: bob] explain").replies(said)
    assert scenario.state.waiting_for == "alice"
    assert scenario.state.history[-1].text == said


def test_ten_thousand_targets_do_no_harm() -> None:
    """Ten count, the rest are skipped with one notice."""
    scenario = given(TEAM).says("[NEXT: " + "bob, carol, " * 5_000 + "]")
    assert [scenario.state.slice.queue[0], *scenario.queue] == ["bob", "carol"] * 5
    assert len(scenario.notices) == 1
