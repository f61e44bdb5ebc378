"""The routing functions, row by row, for the content studio."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.flows.supervisor.decision import Decision
from moot.core.flows.supervisor.supervisor_routing import (
    NextNode,
    check_basic_preconditions,
    owner_of_tools,
    route_from_supervisor,
    should_continue,
)
from moot.core.flows.supervisor.supervisor_settings import Condition, SupervisedAgent, SupervisorSettings
from tests.core.studio import APPROVED, BODY, GOOD, REJECTED, STUDIO, scores

State = dict[str, Any]

# target, state, who acts instead (None: the target itself)
PRECONDITIONS: list[tuple[str, State, str | None]] = [
    ("writer_agent", {}, "brief_compiler_agent"),
    ("writer_agent", {"creativeBrief": None, "briefComplete": False}, "brief_compiler_agent"),
    ("writer_agent", {"creativeBrief": {"aim": "x"}}, None),
    ("writer_agent", {"briefComplete": True}, None),
    ("writer_agent", {"briefComplete": "yes"}, "brief_compiler_agent"),
    ("review_agent", {}, "writer_agent"),
    ("review_agent", {"generatedContent": {"body": ""}}, "writer_agent"),
    ("review_agent", {"generatedContent": {"body": " \n\u200b"}}, "writer_agent"),
    ("review_agent", {"generatedContent": {"body": 5}}, "writer_agent"),
    ("review_agent", {"generatedContent": "words"}, "writer_agent"),
    ("review_agent", BODY, None),
    ("image_agent", {}, "image_planner_agent"),
    ("image_agent", {"imagePlans": []}, "image_planner_agent"),
    ("image_agent", {"imagePlans": 3}, "image_planner_agent"),
    ("image_agent", {"imagePlans": [{"id": "cover"}]}, None),
    ("brief_compiler_agent", {}, None),
    ("research_evidence_agent", {}, None),
    ("reference_intelligence_agent", {}, None),
    ("layout_planner_agent", {}, None),
    ("image_planner_agent", {}, None),
]


@pytest.mark.parametrize(("agent", "state", "expected"), PRECONDITIONS)
def test_check_basic_preconditions(agent: str, state: State, expected: str | None) -> None:
    """Three obvious needs, each with its fallback; no other agent needs anything."""
    assert check_basic_preconditions(STUDIO, agent, state) == expected
    followed = NextNode(agent) if expected is None else NextNode(expected, corrected_from=agent)
    assert route_from_supervisor(STUDIO, Decision(next_agent=agent), state) == followed


def test_only_three_agents_of_the_studio_need_anything() -> None:
    """Only three basic checks are kept."""
    needy = {name for name, agent in STUDIO.agents.items() if agent.requires_any}
    assert needy == {"writer_agent", "review_agent", "image_agent"}


def test_corrections_are_not_chained() -> None:
    """Review without a body goes to the writer, though the writer lacks a brief too."""
    assert route_from_supervisor(STUDIO, Decision(next_agent="review_agent"), {}).name == "writer_agent"


def test_no_decision_is_decided_again() -> None:
    """No decision → supervisor."""
    assert route_from_supervisor(STUDIO, None, BODY) == NextNode("supervisor")


def test_end_when_it_may() -> None:
    """END only if the work can end, else back to the supervisor."""
    end = Decision(next_agent="END")
    assert route_from_supervisor(STUDIO, end, BODY) == NextNode("END")
    assert route_from_supervisor(STUDIO, end, {}) == NextNode("supervisor", corrected_from="END")
    assert route_from_supervisor(STUDIO, end, BODY | REJECTED) == NextNode("supervisor", corrected_from="END")


def test_quality_never_overrides_a_valid_decision() -> None:
    """route_from_supervisor knows nothing of it."""
    state = BODY | REJECTED | scores(platformFit=0.1)
    assert route_from_supervisor(STUDIO, Decision(next_agent="layout_planner_agent"), state).name == (
        "layout_planner_agent"
    )


@pytest.mark.parametrize(("calls", "expected"), [(True, "supervisor_tools"), (False, "route")])
def test_should_continue_supervisor(calls: bool, expected: str) -> None:
    """Tool calls → supervisor_tools, else route."""
    assert should_continue(STUDIO, "supervisor", {}, has_tool_calls=calls) == expected


@pytest.mark.parametrize(("calls", "expected"), [(True, "research_evidence_tools"), (False, "supervisor")])
def test_should_continue_research(calls: bool, expected: str) -> None:
    """Tool calls → research_evidence_tools, else supervisor; rounds do not count."""
    assert should_continue(STUDIO, "research_evidence_agent", {}, has_tool_calls=calls) == expected
    assert should_continue(STUDIO, "research_evidence_agent", {}, has_tool_calls=calls, tool_round=50) == expected


IMAGE: list[tuple[State, bool, int, str]] = [
    ({"imagesComplete": True}, False, 1, "supervisor"),
    ({"imagesComplete": True}, True, 1, "supervisor"),
    ({"imagesComplete": "true"}, True, 1, "image_tools"),
    *[({}, True, call, "image_tools") for call in range(1, 10)],
    ({}, True, 10, "supervisor"),
    ({}, True, 11, "supervisor"),
    ({}, False, 1, "supervisor"),
]


@pytest.mark.parametrize(("state", "calls", "number", "expected"), IMAGE)
def test_should_continue_image(state: State, calls: bool, number: int, expected: str) -> None:
    """imagesComplete → supervisor; calls 1–9 → image_tools; call 10 → supervisor."""
    assert should_continue(STUDIO, "image_agent", state, has_tool_calls=calls, tool_round=number) == expected


REVIEW: list[tuple[State, str]] = [
    (APPROVED | GOOD, "END"),
    (REJECTED | GOOD, "supervisor"),
    (APPROVED | scores(readability=0.59), "supervisor"),
    (APPROVED | scores(overall=0.59), "supervisor"),
    (APPROVED, "supervisor"),
    (GOOD, "supervisor"),
    ({"reviewFeedback": {"approved": "true"}} | GOOD, "supervisor"),
    ({}, "supervisor"),
]


@pytest.mark.parametrize(("state", "expected"), REVIEW)
def test_should_continue_review(state: State, expected: str) -> None:
    """Approved and quality approved → END, else supervisor."""
    assert should_continue(STUDIO, "review_agent", state, has_tool_calls=False) == expected


@pytest.mark.parametrize("agent", ["writer_agent", "layout_planner_agent", "brief_compiler_agent"])
def test_every_other_agent_hands_back(agent: str) -> None:
    """An agent that is done goes back to the supervisor, with tool calls nobody asked for too."""
    assert should_continue(STUDIO, agent, BODY, has_tool_calls=False) == "supervisor"
    assert should_continue(STUDIO, agent, BODY, has_tool_calls=True) == "supervisor"


def test_tools_go_back_to_who_called_them() -> None:
    """The engine runs tools between an agent's turns."""
    nodes = {"supervisor_tools": "supervisor", "research_evidence_tools": "research_evidence_agent"}
    nodes |= {"image_tools": "image_agent"}
    assert {node: owner_of_tools(STUDIO, node) for node in nodes} == nodes
    assert owner_of_tools(STUDIO, "writer_agent") is None


def test_a_need_without_a_fallback_goes_back_to_the_supervisor() -> None:
    """A team may leave the choice of whom to send instead to the supervisor."""
    agent = SupervisedAgent(requires_any=(Condition(key="case"),))
    settings = SupervisorSettings(agents={"refund": agent})
    assert route_from_supervisor(settings, Decision(next_agent="refund"), {}) == NextNode("supervisor", "refund")


def test_an_agent_that_ends_without_a_rule_for_reviews() -> None:
    """Where a team has no review, `ends` ends as soon as the work may."""
    done = replace(STUDIO.end, review=None)
    settings = replace(STUDIO, end=done)
    assert should_continue(settings, "review_agent", BODY, has_tool_calls=False) == "END"
    assert should_continue(settings, "review_agent", {}, has_tool_calls=False) == "supervisor"
