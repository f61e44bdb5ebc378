"""`moot route supervisor`: the exact contract of surfaces, and every table of routing through it."""

import json
from typing import Any

import pytest

from tests.cli.command import Moot
from tests.core.studio import APPROVED, BODY, GOOD, REJECTED, scores

KEYS = ["decision", "next", "corrected_from", "quality_fallback", "can_end"]
NO_DECISION: dict[str, Any] = {"decision": None, "corrected_from": None}


def ask(moot: Moot, *questions: dict[str, Any]) -> list[Any]:
    lines = "".join(json.dumps({"team": "content-studio", **each}) + "\n" for each in questions)
    said = moot("route", "supervisor", stdin=lines.encode())
    assert (said.code, said.err) == (0, "")
    return said.objects


def choose(agent: Any, **keys: Any) -> str:
    return json.dumps({"next_agent": agent, **keys}, ensure_ascii=False)


def decided(agent: str, **keys: Any) -> dict[str, Any]:
    return {"next_agent": agent, "guidance": "", "context_from_previous": "", "focus_areas": [], **keys}


def test_every_content_studio_routes_alike(moot: Moot) -> None:
    """The studios for models and the scripted one have the same tables."""
    state = BODY | REJECTED | scores(styleConsistency=0.2)
    asked = {"state": state, "message": choose("image_agent")}
    names = ("content-studio", "content-studio-zh", "content-studio-demo")
    answers = ask(moot, *({**asked, "team": name} for name in names))
    assert answers[0]["next"] == "image_planner_agent"
    assert answers[0]["quality_fallback"] == "reference_intelligence_agent"
    assert answers[1:] == answers[:1] * 2


def test_the_whole_answer(moot: Moot) -> None:
    """The five fields in their order, the decision with all four keys."""
    message = "好的。\n```json\n" + choose("writer_agent", guidance=" 强调重点 ", focus_areas="趋势，卖点") + "\n```"
    (given,) = ask(moot, {"node": "supervisor", "state": {"briefComplete": True}, "message": message})
    assert list(given) == KEYS
    assert given == {
        "decision": decided("writer_agent", guidance="强调重点", focus_areas=["趋势", "卖点"]),
        "next": "writer_agent",
        "corrected_from": None,
        "quality_fallback": None,
        "can_end": False,
    }
    assert list(given["decision"]) == ["next_agent", "guidance", "context_from_previous", "focus_areas"]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no decision": ({"message": "I am not sure."}, {**NO_DECISION, "next": "supervisor"}),
    "an unknown agent": ({"message": choose("painter")}, {**NO_DECISION, "next": "supervisor"}),
    "not a text": ({"message": choose(7)}, {**NO_DECISION, "next": "supervisor"}),
    "no message": ({}, {**NO_DECISION, "next": "supervisor"}),
    "the writer without a brief": (
        {"message": choose("writer_agent")},
        {"decision": decided("writer_agent"), "next": "brief_compiler_agent", "corrected_from": "writer_agent"},
    ),
    "the review without a body": (
        {"message": choose("review_agent"), "state": {"generatedContent": {"body": " "}}},
        {"decision": decided("review_agent"), "next": "writer_agent", "corrected_from": "review_agent"},
    ),
    "pictures without plans": (
        {"message": choose("image_agent"), "state": {"imagePlans": []}},
        {"decision": decided("image_agent"), "next": "image_planner_agent", "corrected_from": "image_agent"},
    ),
    "an agent that needs nothing": (
        {"message": choose("layout_planner_agent")},
        {"decision": decided("layout_planner_agent"), "next": "layout_planner_agent", "corrected_from": None},
    ),
    "END too early": (
        {"message": choose("END")},
        {"decision": decided("END"), "next": "supervisor", "corrected_from": "END", "can_end": False},
    ),
    "END": (
        {"message": choose("END"), "state": BODY},
        {"decision": decided("END"), "next": "END", "corrected_from": None, "can_end": True},
    ),
    "END, partial": (
        {"message": choose("END"), "state": BODY | REJECTED | {"iterationCount": 3, "maxIterations": 3}},
        {"next": "END", "corrected_from": None, "can_end": True},
    ),
    "tools of the supervisor": (
        {"message": choose("writer_agent"), "tool_calls": [{"name": "look"}]},
        {**NO_DECISION, "next": "supervisor_tools"},
    ),
    "research calls tools": (
        {"node": "research_evidence_agent", "tool_calls": [{}], "tool_round": 30},
        {**NO_DECISION, "next": "research_evidence_tools"},
    ),
    "research is done": ({"node": "research_evidence_agent"}, {**NO_DECISION, "next": "supervisor"}),
    "pictures, call 1": ({"node": "image_agent", "tool_calls": [{}]}, {"next": "image_tools"}),
    "pictures, call 9": ({"node": "image_agent", "tool_calls": [{}], "tool_round": 9}, {"next": "image_tools"}),
    "pictures, call 10": ({"node": "image_agent", "tool_calls": [{}], "tool_round": 10}, {"next": "supervisor"}),
    "pictures complete": (
        {"node": "image_agent", "tool_calls": [{}], "state": {"imagesComplete": True}},
        {"next": "supervisor"},
    ),
    "every plan has an asset": (
        {
            "node": "image_agent",
            "tool_calls": [{}],
            "state": {"imagePlans": [{"id": "a"}], "generatedImageAssetIds": ["x"]},
        },
        {"next": "supervisor"},
    ),
    "the review approved": (
        {"node": "review_agent", "state": BODY | APPROVED | GOOD},
        {**NO_DECISION, "next": "END", "can_end": True, "quality_fallback": None},
    ),
    "the review did not": (
        {"node": "review_agent", "state": BODY | REJECTED | scores(readability=40)},
        {"next": "supervisor", "can_end": False, "quality_fallback": "image_planner_agent"},
    ),
    "the writer hands back": ({"node": "writer_agent", "state": BODY}, {"next": "supervisor", "can_end": True}),
    "tools hand back": ({"node": "image_tools"}, {**NO_DECISION, "next": "image_agent"}),
    "hints do not override": (
        {"message": choose("layout_planner_agent"), "state": BODY | REJECTED | scores(platformFit=0.1)},
        {"next": "layout_planner_agent", "corrected_from": None, "quality_fallback": "writer_agent"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_where_the_work_goes(case: str, moot: Moot) -> None:
    """Each row of the tables; fallback and end are computed at every node."""
    question, expected = CASES[case]
    (given,) = ask(moot, question)
    assert list(given) == KEYS
    assert {key: given[key] for key in expected} == expected


def test_undeclared_keys_play_no_part(moot: Moot) -> None:
    """`moot route supervisor` ignores undeclared keys of the state."""
    plain, more = ask(
        moot,
        {"message": choose("END"), "state": BODY},
        {"message": choose("END"), "state": BODY | {"mood": "good", "creative_brief": {}, "approved": False}},
    )
    assert plain == more


def test_a_team_given_as_an_object(moot: Moot) -> None:
    """Any supervisor team without Python; `moot` and `name` may be left out."""
    ai = {"kind": "ai", "agent": {"type": "script"}}
    agents = {"triage": {"writes": ["case"]}, "refund": {"requires_any": [{"key": "case.order"}], "fallback": "triage"}}
    team = {
        "flow": "supervisor",
        "members": [{"id": "m", "kind": "human"}, {"id": "lead", **ai}, {"id": "triage", **ai}, {"id": "refund", **ai}],
        "supervisor": {"member": "lead", "agents": agents},
    }
    early, ready = ask(
        moot,
        {"team": team, "message": choose("refund")},
        {"team": team, "message": choose("refund"), "state": {"case": {"order": 1}}},
    )
    assert (early["next"], early["corrected_from"]) == ("triage", "refund")
    assert (ready["next"], ready["corrected_from"], ready["can_end"]) == ("refund", None, True)


BAD_LINES = {
    "no JSON": b"writer_agent",
    "no team": b'{"message": "x"}',
    "an unknown node": b'{"team": "content-studio", "node": "painter"}',
    "END is no node": b'{"team": "content-studio", "node": "END"}',
    "a team without agents": b'{"team": "chat-demo", "message": "x"}',
    "a state that is a list": b'{"team": "content-studio", "state": []}',
    "a round that is a text": b'{"team": "content-studio", "tool_round": "1"}',
}


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_is_answered_and_the_rest_goes_on(bad: str, moot: Moot) -> None:
    """One line in, one line out; an error is one sentence, the exit code says that there was one."""
    good = b'{"team": "content-studio", "state": null, "message": null, "tool_calls": null}'
    said = moot("route", "supervisor", stdin=BAD_LINES[bad] + b"\n" + good + b"\n")
    assert said.code == 1
    error, answer = said.objects
    assert list(error) == ["error"]
    assert answer["next"] == "supervisor"
