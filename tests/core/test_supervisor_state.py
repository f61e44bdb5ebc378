"""The shared state: conditions on it, who may write it, what becomes true by itself."""

import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.flows.supervisor import state_update
from moot.core.flows.supervisor.conditions import holds, is_covered, look_up
from moot.core.flows.supervisor.ending import can_end
from moot.core.flows.supervisor.quality import quality_approved, quality_fallback
from moot.core.flows.supervisor.shapes import find_shape
from moot.core.flows.supervisor.state_update import check_update, complete, start_state
from moot.core.flows.supervisor.supervisor_routing import check_basic_preconditions, should_continue
from moot.core.flows.supervisor.supervisor_settings import Condition, Coverage
from tests.core.studio import BODY, STUDIO

NON_BLANK: list[Any] = ["x", " 字 "]
NON_EMPTY: list[Any] = ["x", " 字 ", " ", [1], {"a": 1}]
VALUES: list[Any] = [None, 0, 1, True, False, "", " ", "\u200b\n", "x", " 字 ", [], {}, [1], {"a": 1}, 1.5]


@pytest.mark.parametrize(
    ("expected", "holding"),
    [
        ("present", [value for value in VALUES if value is not None]),
        ("non_blank", NON_BLANK),
        ("non_empty", [*NON_EMPTY, "\u200b\n"]),
        (True, [True]),
        (False, [False]),
    ],
)
def test_what_a_condition_means(expected: Any, holding: list[Any]) -> None:
    """Present = not null; non_blank = text to see; non_empty = something in it; true, false: that."""
    for value in VALUES:
        for key, state in (("k", {"k": value}), ("a.b", {"a": {"b": value}})):
            wanted = any(value == each and type(value) is type(each) for each in holding)
            assert holds(Condition(key=key, expected=expected), state) is wanted, (expected, value)


def test_a_way_that_ends_early_leads_to_nothing() -> None:
    """`a.b` reaches into the state; any shape may stand there."""
    state = {"a": {"b": {"c": 1}}, "text": "abc", "list": [{"b": 1}], "null": None}
    assert look_up(state, "a.b.c") == 1
    for key in ("a.b.c.d", "a.x.y", "text.b", "list.b", "list.0", "null.b", "x", "", "a.", ".a"):
        assert look_up(state, key) is None


OWNERS = {
    "creativeBrief": "brief_compiler_agent",
    "briefComplete": "brief_compiler_agent",
    "evidencePack": "research_evidence_agent",
    "bodyBlocks": "research_evidence_agent",
    "referenceAnalyses": "reference_intelligence_agent",
    "layoutSpec": "layout_planner_agent",
    "imagePlans": "image_planner_agent",
    "generatedContent": "writer_agent",
    "generatedImageAssetIds": "image_agent",
    "imagesComplete": "image_agent",
    "reviewFeedback": "review_agent",
    "qualityScores": "review_agent",
}
STUDIO_KEYS = {
    *("messages", "creativeBrief", "evidencePack", "bodyBlocks", "referenceAnalyses", "layoutSpec", "imagePlans"),
    *("generatedContent", "generatedImageAssetIds", "reviewFeedback", "qualityScores", "referenceImages"),
    *("layoutPreference", "imageGenProvider", "iterationCount", "maxIterations", "clarificationRounds", "threadId"),
    *("agentClarificationKeys", "creativeId"),
}


@pytest.mark.parametrize("key", OWNERS)
def test_an_agent_writes_what_it_owns(key: str) -> None:
    """Each output has its agent; what others write is refused."""
    value = find_shape(STUDIO, key) or {"x": 1}
    for agent in STUDIO.agents:
        update = check_update(STUDIO, agent, {key: value})
        if agent == OWNERS[key]:
            assert (update.changes, update.refused) == ({key: value}, {})
        else:
            assert (update.changes, update.refused) == ({}, {key: "not_owned"})


def test_the_state_of_the_studio() -> None:
    """Twenty keys, and the two booleans; all are there from the start."""
    assert len(STUDIO_KEYS) == 20
    assert set(start_state(STUDIO)) == STUDIO_KEYS | {"briefComplete", "imagesComplete"}
    assert STUDIO.inputs == ("referenceImages", "layoutPreference", "imageGenProvider")
    assert start_state(STUDIO)["maxIterations"] == 3


@pytest.mark.parametrize("key", sorted(STUDIO_KEYS - OWNERS.keys()))
def test_nobody_writes_what_is_moots_or_the_peoples(key: str) -> None:
    """Counters, inputs and undeclared keys are no agent's; good keys beside them still count."""
    update = check_update(STUDIO, "writer_agent", {key: 99, "nonsense": 1, **BODY})
    assert update.changes == BODY
    assert update.refused == {key: "not_owned", "nonsense": "not_owned"}


def test_what_cannot_be_stored_is_refused() -> None:
    """No objects, no endless numbers or lists, a bound on size; text is cleaned."""
    endless: list[Any] = []
    endless += [endless, endless]
    deep: Any = 1
    for _ in range(state_update.VALUE_DEPTH + 1):
        deep = [deep]
    for bad in (object(), {1: 2}, float("nan"), 2**70, endless, deep, {"a": {1}}, [0] * state_update.VALUE_NODES):
        assert check_update(STUDIO, "writer_agent", {"generatedContent": bad}).refused == {
            "generatedContent": "not_plain"
        }
    large = check_update(STUDIO, "writer_agent", {"generatedContent": "x" * state_update.VALUE_BYTES})
    assert large.refused == {"generatedContent": "too_large"}
    given = {"title": "", "body\x1b[31m": "a\ud800\x07b", "tags": ("c\x07",)}
    assert check_update(STUDIO, "writer_agent", {"generatedContent": given}).changes == {
        "generatedContent": {"title": "", "body": "ab", "tags": ["c"]}
    }


def test_an_unknown_agent_owns_nothing() -> None:
    """The supervisor itself writes no key either."""
    assert check_update(STUDIO, "supervisor", {"creativeBrief": 1}).changes == {}


PLANS = [{"id": "cover"}, {"id": "end"}]
COVERED: list[tuple[Any, Any, bool]] = [
    (PLANS, ["a1", "a2"], True),
    (PLANS, ["a1", "a2", "a3"], True),
    (PLANS, ["a1"], False),
    (PLANS, ["a1", ""], False),
    (PLANS, ["a1", None], False),
    (PLANS, {"cover": "a1", "end": "a2"}, True),
    (PLANS, {"cover": "a1"}, False),
    ([{}, {}], {"0": "a1", "1": "a2"}, True),
    (["cover"], {"cover": "a1"}, True),
    ([], [], False),
    ([], ["a1"], False),
    (None, ["a1"], False),
    (PLANS, "a1a2", False),
    ("ab", ["a1", "a2"], False),
]


@pytest.mark.parametrize(("plans", "assets", "expected"), COVERED)
def test_images_are_complete_when_every_plan_has_an_asset(plans: Any, assets: Any, expected: bool) -> None:
    """imagesComplete is also set when every image plan has an asset."""
    state = {"imagePlans": plans, "generatedImageAssetIds": assets, "imagesComplete": False}
    assert is_covered(Coverage(items="imagePlans", by="generatedImageAssetIds"), state) is expected
    assert complete(STUDIO, state) == ({"imagesComplete": True} if expected else {})
    assert complete(STUDIO, state | {"imagesComplete": True}) == {}


KEYS = st.sampled_from(
    [*OWNERS, *sorted(STUDIO_KEYS), "body", "approved", "scores", "overall", "infoDensity", "id", "x"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
HOSTILE = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
STATES = st.dictionaries(KEYS, HOSTILE, max_size=8)


@given(STATES, st.booleans(), st.integers(-1, sys.maxsize))
def test_no_state_breaks_routing(state: dict[str, Any], calls: bool, number: int) -> None:
    """Property: whatever the state holds, every function answers, with a node of the team."""
    nodes = {"END", "supervisor", "route", *STUDIO.agents, "supervisor_tools", "image_tools", "research_evidence_tools"}
    for agent in STUDIO.agents:
        assert (check_basic_preconditions(STUDIO, agent, state) or agent) in nodes
        assert should_continue(STUDIO, agent, state, has_tool_calls=calls, tool_round=number) in nodes
    assert (quality_fallback(STUDIO.quality, state) or "END") in nodes
    assert isinstance(can_end(STUDIO, state), bool)
    assert not quality_approved(STUDIO.quality, state) or quality_fallback(STUDIO.quality, state) is None
    complete(STUDIO, state)


@given(st.sampled_from(sorted(STUDIO.agents)), st.dictionaries(KEYS, HOSTILE, max_size=5))
def test_what_is_accepted_can_be_stored(agent: str, update: dict[str, Any]) -> None:
    """Property: each key is either taken, as the same JSON when read again, or refused with a reason."""
    checked = check_update(STUDIO, agent, update)
    assert checked.changes.keys() | checked.refused.keys() == update.keys()
    assert set(checked.changes) <= set(STUDIO.agents[agent].writes)
    assert msgspec.json.decode(msgspec.json.encode(checked.changes)) == checked.changes
