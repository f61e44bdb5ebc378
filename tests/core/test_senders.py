"""Who speaks."""

import pytest

from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only

TWO_HUMANS = make_chat_team(("alice", "adam"))


def speaker(scenario: Scenario) -> str:
    return only(scenario.new, MessagePosted)[0].member


def test_from_beats_the_connection() -> None:
    """`[FROM:]` comes first."""
    assert speaker(given(TWO_HUMANS).says("[FROM: adam] hi", by="alice")) == "adam"


def test_the_connection_beats_the_human_waited_for() -> None:
    """A human may speak although another is waited for."""
    scenario = given(TWO_HUMANS).says("[NEXT: adam] you", by="alice")
    assert scenario.state.waiting_for == "adam"
    assert speaker(scenario.says("one more thing", by="alice")) == "alice"


def test_the_human_waited_for_beats_the_rest() -> None:
    """Without FROM and connection, the human waited for speaks."""
    scenario = given(TWO_HUMANS).says("[NEXT: adam] you", by="alice")
    assert speaker(scenario.says("thanks")) == "adam"


def test_the_only_human_needs_no_name() -> None:
    """A single human is meant, also before anything was said and while an AI acts."""
    scenario = given(make_chat_team())
    assert speaker(scenario.says("[NEXT: bob] hi")) == "alice"
    assert speaker(scenario.says("and another thing")) == "alice"


@pytest.mark.parametrize("running", [False, True])
def test_several_humans_and_no_hint_are_refused(running: bool) -> None:
    """Refused with a hint to use `[FROM: name]` and who there is."""
    scenario = given(TWO_HUMANS)
    if running:
        scenario.says("[FROM: alice] [NEXT: bob] go")
    scenario.says("hello").refused("sender_ambiguous")
    assert "[FROM: name]" in scenario.refusal_text
    assert "Alice, Adam" in scenario.refusal_text


def test_an_ai_cannot_be_impersonated() -> None:
    """`[FROM:]` naming an AI is refused and says so."""
    scenario = given(TWO_HUMANS).says("[FROM: bob] I am Bob").refused("sender_is_ai")
    assert "[FROM:bob] is an AI" in scenario.refusal_text


def test_nobody_cannot_speak() -> None:
    """`[FROM:]` naming nobody is refused and says so."""
    scenario = given(TWO_HUMANS).says("[FROM: zoe] hi").refused("sender_not_found")
    assert "[FROM:zoe] not found" in scenario.refusal_text


def test_a_connection_that_speaks_for_an_ai_or_nobody_is_refused() -> None:
    """Only humans create messages of humans, whatever a connection claims."""
    given(TWO_HUMANS).when(Post(text="hi", by="bob")).refused("sender_is_ai")
    given(TWO_HUMANS).when(Post(text="/end", by="bob")).refused("sender_is_ai")
    given(TWO_HUMANS).when(Post(text="hi", by="zoe")).refused("sender_not_found")


def test_names_of_speakers_resolve_like_all_names() -> None:
    """Id, name, display name, any case."""
    assert speaker(given(TWO_HUMANS).says("[FROM: @A-D-A-M.] hi")) == "adam"


def test_the_marker_of_the_speaker_stays_in_the_text() -> None:
    """Only NEXT, DONE and DROP are taken out."""
    posted = only(given(TWO_HUMANS).says("[FROM: adam] hi [NEXT: bob]").new, MessagePosted)[0]
    assert (posted.text, posted.raw) == ("[FROM: adam] hi ", "[FROM: adam] hi [NEXT: bob]")
