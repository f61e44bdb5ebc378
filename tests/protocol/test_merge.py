"""Views as JSON merge patches: RFC 7386, and that patches add up to the view of the folded log."""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.session.commands import Command
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.view import project
from moot.protocol.merge import Document, diff, merge, to_document, to_view
from tests.core import test_properties as chat
from tests.core import test_supervisor_properties as supervised
from tests.core.plan_moves import Move, histories
from tests.core.test_plan_properties import opening, play, teams

scalars = st.booleans() | st.integers() | st.text(max_size=3)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
)
documents = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_patches_are_applied_as_the_rfc_says(target: Any, patch: Any, expected: Any) -> None:
    """RFC 7386, appendix A."""
    assert merge(target, patch) == expected


@given(documents, documents)
def test_a_patch_leads_from_one_document_to_the_other(before: Document, after: Document) -> None:
    """A difference is always described, and nothing is described that is no difference."""
    assert merge(before, diff(before, after)) == after
    assert diff(after, after) == {}


def check_patches(facts: list[Fact]) -> None:
    """A reader that merges each patch has the view of the log up to there."""
    state: State | None = None
    sent: Document = {}
    merged: Document = {}
    for fact in facts:
        state = evolve(state, fact)
        document = to_document(project(state))
        merged = merge(merged, diff(sent, document))
        sent = document
        assert merged == document
    assert state is not None
    assert to_document(to_view(merged)) == to_document(project(state))


@settings(max_examples=30, derandomize=True, deadline=None, database=None)
@given(chat.teams, chat.histories)
def test_patches_of_a_conversation(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """After every event of a chat."""
    check_patches(chat.play(team, [*parts[0], *parts[1]])[0])


@settings(max_examples=20, phases=[Phase.generate])
@given(teams, histories)
def test_patches_of_a_plan(team: Team, history: list[Move]) -> None:
    """After every event of a plan."""
    check_patches(play(team, [opening[0], *history])[0])


@settings(max_examples=20)
@given(supervised.teams, supervised.histories)
def test_patches_of_a_job(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """After every event of a supervisor's job."""
    check_patches(supervised.play(team, [*supervised.begin, *parts[0], *parts[1]])[0])
