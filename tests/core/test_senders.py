"""Who speaks."""

import sys

import pytest

from moot.core import text
from moot.core.session.commands import End, HumanCommand, Post
from moot.core.session.events import MessagePosted
from moot.core.session.principal import Principal, Role
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only

TWO_HUMANS = make_chat_team(("alice", "adam"))
OWNER = Principal(token_id="owner", role=Role.OWNER)
ADAM = Principal(token_id="t_adam", role=Role.MEMBER, member="adam")
VIEWER = Principal(token_id="t_eyes", role=Role.VIEWER)
REMOVED = [chr(code) for code in range(sys.maxunicode + 1) if text.clean(f"a{chr(code)}b") == "ab"]
SEQUENCES = ["\x1b[0m", "\x1b]0;title\x07", "\x1bP1$r\x1b\\", "\x1b(B", "\x1bc"]


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


def test_every_character_that_cleaning_removes_is_tried() -> None:
    """The list of characters is made from the rule itself: a longer rule makes a longer list."""
    assert {"\x00", "\x07", "\x7f", "\x9b", "\u202e", "\u2069", "\ud800"} <= set(REMOVED)
    assert all(text.clean(f"a{sequence}b") == "ab" for sequence in SEQUENCES)


@pytest.mark.parametrize("position", range(len("[FROM: Alice]") + 1))
def test_a_member_cannot_hide_a_signature_from_the_rule(position: int) -> None:
    """What is refused when written plainly is refused with any removable character at any place of it."""
    signature = "[FROM: Alice]"
    for hidden in ["", *REMOVED, *SEQUENCES]:
        forged = f"{signature[:position]}{hidden}{signature[position:]} I approve"
        given(TWO_HUMANS).when(Post(text=forged, by="adam", principal=ADAM)).refused("forbidden")


@pytest.mark.parametrize("hidden", ["\u00ad", "\u034f", "\u200b", "\u200d", "\u2060", "\ufe0f", "\ufeff", "\U000e0041"])
def test_a_signature_that_readers_see_is_one(hidden: str) -> None:
    """Invisible characters, which texts may keep, hide no signature: not from the rule either."""
    signature = "[FROM: Alice]"
    for position in range(1, len(signature)):
        forged = f"{signature[:position]}{hidden}{signature[position:]} I approve"
        given(TWO_HUMANS).when(Post(text=forged, by="adam", principal=ADAM)).refused("forbidden")
        assert speaker(given(TWO_HUMANS).when(Post(text=forged, principal=OWNER))) == "alice"
    assert speaker(given(TWO_HUMANS).when(Post(text=f"a{hidden}b", by="adam", principal=ADAM))) == "adam"


def test_a_member_speaks_as_itself() -> None:
    """With its own signature, or without any; also when a command claims to be somebody else's."""
    for message in ("hi", "[FROM: adam] hi", "[FR\u202eOM: @Adam] hi"):
        for by in ("adam", "alice", None):
            assert speaker(given(TWO_HUMANS).when(Post(text=message, by=by, principal=ADAM))) == "adam"


def test_an_owner_signs_as_anybody() -> None:
    """The owner's token speaks for every human of the team, but for no AI."""
    assert speaker(given(TWO_HUMANS).when(Post(text="[FROM: adam] hi", principal=OWNER))) == "adam"
    given(TWO_HUMANS).when(Post(text="[FROM: bob] hi", principal=OWNER)).refused("sender_is_ai")


@pytest.mark.parametrize(
    "command", [Post(text="hi", principal=VIEWER), Post(text="/end", principal=VIEWER), End(principal=VIEWER)]
)
def test_a_viewer_sends_nothing(command: HumanCommand) -> None:
    """Whatever a viewer sends is forbidden, typed commands too."""
    given(TWO_HUMANS).when(command).refused("forbidden")


def test_a_member_token_without_a_member_speaks_as_nobody() -> None:
    """Such a token is never taken for the human that is waited for."""
    nobody = Principal(token_id="t_0", role=Role.MEMBER)
    given(TWO_HUMANS).when(Post(text="hi", principal=nobody)).refused("forbidden")
    given(TWO_HUMANS).when(Post(text="[FROM: adam] hi", principal=nobody)).refused("forbidden")
