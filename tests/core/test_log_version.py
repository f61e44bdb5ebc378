"""A kind of fact that is new is not logged before every server on the log can read it."""

from typing import Any

import pytest

from moot.core import evolve
from moot.core.decide import decide
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.facts import LOG_VERSION
from moot.core.flows.registry import FACTS
from moot.core.session.commands import Rename
from moot.core.session.events import NoticePosted, SessionRenamed
from moot.testing.scenario import given
from tests.core.teams import make_chat_team

NEWER = LOG_VERSION + 1


class SessionRetitled(SessionRenamed, frozen=True, kw_only=True):
    """A kind that the next release has."""

    event = "session.retitled"
    since = NEWER


@pytest.fixture
def upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    """This code writes the new kind instead of the old one."""
    monkeypatch.setattr("moot.core.draft.SessionRenamed", SessionRetitled)
    tables: Any = evolve._STEPS
    for folds in tables.values():
        monkeypatch.setitem(folds, SessionRetitled, folds[SessionRenamed])


STATE = given(make_chat_team()).says("hello").state
RENAME = Rename(title="Poster")


@pytest.mark.usefixtures("upgraded")
def test_it_is_logged_when_all_can_read_it() -> None:
    """Then it is a fact like any other."""
    decided = decide(STATE, RENAME, "", log_version=NEWER)
    assert [fact.event for fact in decided.facts] == ["session.retitled", "session.paused"]
    assert decided.state.title == "Poster"


@pytest.mark.usefixtures("upgraded")
def test_a_command_that_leads_to_nothing_else_is_refused() -> None:
    """Whoever sent it is told to try again later; nothing has happened."""
    with pytest.raises(Refused) as raised:
        decide(STATE, RENAME, "", log_version=LOG_VERSION)
    assert raised.value.code == "servers_differ"


@pytest.mark.usefixtures("upgraded")
def test_beside_other_facts_it_is_left_out() -> None:
    """The others are logged, and the state is as if it had not happened."""
    draft = Draft(STATE, log_version=LOG_VERSION)
    draft.add(NoticePosted(code="help"))
    draft.rename("Poster", None)
    assert [fact.event for fact in draft.facts] == ["notice.posted"]
    assert draft.state.title == STATE.title


def test_no_kind_is_newer_than_this_moot() -> None:
    """A release with a new kind raises LOG_VERSION."""
    assert [kind.event for kind in FACTS if not 1 <= kind.since <= LOG_VERSION] == []
