"""What a session is called can be changed by everybody who may speak in it."""

import pytest

from moot.core import limits
from moot.core.intake.slash import COMMANDS
from moot.core.session.commands import End, Rename
from moot.core.session.events import SessionRenamed
from moot.core.session.notices import explain
from moot.testing.scenario import given
from tests.core.teams import make_chat_team, only

TEAM = make_chat_team()


def test_a_session_is_renamed() -> None:
    """A fact that names who did it; whoever had the floor still has it."""
    scenario = given(TEAM).says("hello").when(Rename(title="  Poster 海报 ", by="alice"))
    scenario.then("session.renamed", "session.paused")
    assert only(scenario.new, SessionRenamed) == [SessionRenamed(title="Poster 海报", member="alice")]
    assert (scenario.state.title, scenario.state.waiting_for) == ("Poster 海报", "alice")


def test_the_name_that_it_has_is_no_news() -> None:
    """One fact a change: nothing is logged when nothing changes."""
    scenario = given(TEAM).when(Rename(title="Poster")).when(Rename(title="Poster")).then()
    assert [fact.title for fact in only(scenario.facts, SessionRenamed)] == ["Poster"]


def test_a_slash_command_keeps_the_letters_as_they_were_typed() -> None:
    """The other arguments are words of ours, a title is the person's own."""
    scenario = given(TEAM).says("/RENAME  The Big Poster ").then("session.renamed", "session.paused")
    assert scenario.state.title == "The Big Poster"
    given(TEAM).says("/rename").refused("title_empty")
    assert "/rename" in COMMANDS
    assert "/rename" in given(TEAM).says("/help").notices[0]


def test_while_an_ai_acts() -> None:
    """Nothing that runs is disturbed by it."""
    scenario = given(TEAM).says("[NEXT: bob] go").when(Rename(title="Poster", by="alice")).then("session.renamed")
    assert scenario.state.slice.queue[0] == "bob"
    assert scenario.replies("done").state.title == "Poster"


def test_a_session_that_is_over() -> None:
    """It is still in the list: its name is the one thing that can be changed, and it stays over."""
    scenario = given(TEAM).when(End()).when(Rename(title="Poster")).then("session.renamed")
    assert (scenario.state.title, scenario.state.status) == ("Poster", "completed")
    scenario.says("/rename again").refused("session_completed")


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("", "title_empty"),
        (" \u200b\u3164 ", "title_empty"),
        ("x" * (limits.TITLE_CHARS + 1), "title_too_long"),
        ("two\nlines", "title_not_plain"),
        ("a\ttab", "title_not_plain"),
        ("\x1b[31mred", "title_not_plain"),
        ("back\u202ewards", "title_not_plain"),
        ("half \ud800", "title_not_plain"),
    ],
)
def test_what_is_no_title(title: str, code: str) -> None:
    """Refused with a sentence in both languages, and nothing is logged."""
    scenario = given(TEAM).when(Rename(title=title)).refused(code)
    assert len(scenario.facts) == 1
    assert scenario.refusal
    assert all(explain(scenario.refusal, language) for language in ("zh", "en"))


def test_the_longest_title() -> None:
    """The bound is a length that works."""
    assert given(TEAM).when(Rename(title="长" * limits.TITLE_CHARS)).then("session.renamed", "session.paused")
