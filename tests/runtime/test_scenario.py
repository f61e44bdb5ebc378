"""`moot.testing`: teams in a line, given / when / then."""

import pytest

from moot.agents.script import ScriptAgent
from moot.core.session.commands import Post
from moot.testing import Scenario, given, human, make_team, scripted

TEAM = make_team(human("alice"), scripted("bob", "hi", when_exhausted="empty", name="Bob")).team()


def test_a_scenario_begins_with_the_session() -> None:
    """`given` a team there is a session with one fact, and nobody has been refused."""
    scenario = given(TEAM).then("agent.session_created")
    assert isinstance(scenario, Scenario)
    assert (scenario.queue, scenario.notices, scenario.refusal_text) == ([], [], "")


def test_a_conversation_reads_as_one() -> None:
    """Says, replies and fails are commands; `facts` is the whole log, `new` what came last."""
    scenario = given(TEAM).says("[NEXT: bob, alice, bob] hello")
    assert scenario.queue == ["alice", "bob"]
    scenario.replies("hi")
    assert scenario.queue == ["bob"]
    scenario.says("go on").fails(message="no luck")
    scenario.then("turn.failed", "queue.changed", "notice.posted", "session.paused")
    assert scenario.notices == ["Agent Bob encountered an error: no luck"]
    assert [fact.event for fact in scenario.facts[-4:]] == [fact.event for fact in scenario.new]


def test_a_refusal_is_kept_and_changes_nothing() -> None:
    """A refused command adds no fact; its code is asserted, its sentence can be read."""
    scenario = given(TEAM)
    before = scenario.state
    scenario.when(Post(text="  ")).refused("empty_message")
    assert scenario.state is before
    assert scenario.refusal_text.startswith("Message content cannot be empty")


def test_what_is_not_so_fails_the_test() -> None:
    """`then` fails on other events and on a refusal, `refused` on another code and on acceptance; each says why."""
    with pytest.raises(AssertionError, match=r"expected \['x'\], got \['agent.session_created'\]"):
        given(TEAM).then("x")
    with pytest.raises(AssertionError, match="refused: Message content"):
        given(TEAM).says("").then()
    with pytest.raises(AssertionError, match="refused with empty_message, not forbidden"):
        given(TEAM).says("").refused("forbidden")
    with pytest.raises(AssertionError, match="accepted"):
        given(TEAM).says("hello").refused("empty_message")


def test_teams_in_a_line() -> None:
    """`make_team` gives a valid team file whose AIs are scripts."""
    file = make_team(human("alice", name="Alice"), scripted("bob", "a", "b", when_exhausted="error"), name="pair")
    assert file.agents() == {"bob": ScriptAgent(replies=("a", "b"), when_exhausted="error")}
    assert (file.team().name, file.team().first_human.name) == ("pair", "Alice")
