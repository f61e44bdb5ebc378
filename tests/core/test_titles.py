"""What a session is called can be changed by everybody who may speak in it."""

import pytest

from moot.core import limits
from moot.core.intake.slash import COMMANDS
from moot.core.session.commands import End, Rename
from moot.core.session.events import SessionRenamed
from moot.core.session.notices import explain
from moot.core.view import project
from moot.runtime.summaries import summarise
from moot.testing import task
from moot.testing.scenario import given
from tests.core.plan_teams import TEAM as PLAN_TEAM
from tests.core.plan_teams import solving
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


def test_a_session_without_a_title_is_called_by_its_goal() -> None:
    """A title that a person gave stays; otherwise the current goal is shown, else what was said first."""
    scenario = given(TEAM).says("[NEXT: bob] Draft a\nposter")
    assert scenario.state.shown_title == "Draft a poster"
    assert scenario.replies("Here. [NEXT: alice]").says("thanks").state.shown_title == "Draft a poster"
    assert scenario.says("[TEAM_TASK: A poster for May] go on").state.shown_title == "A poster for May"
    assert scenario.when(Rename(title="Poster")).says("[TEAM_TASK: Another one] x").state.shown_title == "Poster"
    assert project(scenario.state).title == summarise(scenario.state).title == "Poster"
    assert given(TEAM).state.shown_title == ""
    assert len(given(TEAM).says("long " * 900).state.shown_title) == limits.SHOWN_TITLE_CHARS


def test_a_title_follows_the_goal_of_the_work() -> None:
    """A change that replaces the goal changes what the session is called, and so does the next piece of work."""
    work = solving()
    assert work.state.shown_title == "write a report"
    work.says("a film instead").understands("same_task_major_change").evaluates("replan")
    assert project(work.state).title == "write a report Change: a film instead"
    done = solving(PLAN_TEAM, task("a")).completes("a").aggregates()
    done.says("plan a trip").understands("different_task")
    assert done.state.shown_title == "plan a trip"


def test_the_longest_title() -> None:
    """The bound is a length that works."""
    assert given(TEAM).when(Rename(title="长" * limits.TITLE_CHARS)).then("session.renamed", "session.paused")
