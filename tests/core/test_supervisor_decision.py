"""The supervisor's decision: read from prose, trimmed, cut; or a reason why there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.flows.supervisor.decision import Decision, Unusable, extract_decision

AGENTS = ("writer_agent", "review_agent")
WRITER = Decision(next_agent="writer_agent")
EXAMPLE = """
{
  "next_agent": "writer_agent",
  "guidance": "基于 brief 生成正文，强调重点信息",
  "context_from_previous": "research_evidence_agent 提炼了 3 条趋势",
  "focus_areas": ["趋势", "卖点", "可操作建议"]
}

当前状态：
- brief: ✅ 已完成

分析：需要生成文案内容

决策输出：见上方 JSON
"""


def extract(**keys: Any) -> Decision | Unusable:
    return extract_decision(json.dumps({"next_agent": "writer_agent", **keys}), AGENTS)


def test_a_whole_example() -> None:
    """The object first, the analysis behind it."""
    assert extract_decision(EXAMPLE, AGENTS) == Decision(
        next_agent="writer_agent",
        guidance="基于 brief 生成正文，强调重点信息",
        context_from_previous="research_evidence_agent 提炼了 3 条趋势",
        focus_areas=("趋势", "卖点", "可操作建议"),
    )


TOLERATED = {
    "prose": 'I choose {"next_agent": "writer_agent"} for now.',
    "a fence": '```json\n{"next_agent": "writer_agent"}\n```',
    "two objects: the last": '{"next_agent": "review_agent"} no: {"next_agent": "writer_agent"}',
    "a trailing brace": '{"next_agent": "writer_agent"}}',
    "spaces around the name": '{"next_agent": "  writer_agent\\n"}',
    "other keys": '{"thought": "hm", "next_agent": "writer_agent", "confidence": 0.9}',
    "inside an object": '{"decision": {"next_agent": "writer_agent"}}',
}


@pytest.mark.parametrize("case", TOLERATED)
def test_tolerant_of_what_stands_around_it(case: str) -> None:
    """Prose and fences do not matter, names are trimmed, missing keys get their defaults."""
    assert extract_decision(TOLERATED[case], AGENTS) == WRITER


UNUSABLE = {
    "nothing": ("", Unusable(fault="no_json")),
    "a refusal": ("I am sorry, I cannot help with that.", Unusable(fault="no_json")),
    "broken JSON": ('{"next_agent": "writer_agent"', Unusable(fault="no_json")),
    "200,000 tokens": ("word " * 200_000, Unusable(fault="no_json")),
    "missing": ('{"guidance": "go"}', Unusable(fault="no_json")),
    "empty": ('{"next_agent": ""}', Unusable(fault="empty")),
    "blank": ('{"next_agent": "  "}', Unusable(fault="empty")),
    "null": ('{"next_agent": null}', Unusable(fault="empty")),
    "a number": ('{"next_agent": 5}', Unusable(fault="not_text", given="5")),
    "a list": ('{"next_agent": ["writer_agent"]}', Unusable(fault="not_text", given='["writer_agent"]')),
    "true": ('{"next_agent": true}', Unusable(fault="not_text", given="true")),
    "unknown": ('{"next_agent": "painter"}', Unusable(fault="unknown", given="painter")),
    "another case": ('{"next_agent": "Writer_Agent"}', Unusable(fault="unknown", given="Writer_Agent")),
    "end in small letters": ('{"next_agent": "end"}', Unusable(fault="unknown", given="end")),
    "the supervisor itself": ('{"next_agent": "supervisor"}', Unusable(fault="unknown", given="supervisor")),
    "the last one is unusable": (
        '{"next_agent": "writer_agent"} {"next_agent": "x"}',
        Unusable(fault="unknown", given="x"),
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_why_there_is_no_decision(case: str) -> None:
    """Missing, empty, null, non-string, unknown, broken → asked again, told what was wrong."""
    said, expected = UNUSABLE[case]
    assert extract_decision(said, AGENTS) == expected


def test_end_is_a_decision() -> None:
    """END ends; whether it may is routing's question."""
    assert extract_decision('{"next_agent": " END "}', AGENTS) == Decision(next_agent="END")


@pytest.mark.parametrize("key", ["guidance", "context_from_previous"])
def test_texts_are_trimmed_and_cut(key: str) -> None:
    """Trimmed first; more than 200 characters → the first 200 and `...`."""
    cases: dict[Any, str] = {
        "  go \n": "go",
        "x" * 200: "x" * 200,
        "x" * 201: "x" * 200 + "...",
        " " + "字" * 200 + " ": "字" * 200,
        None: "",
        5: "",
    }
    assert {given: getattr(extract(**{key: given}), key) for given in cases} == cases
    assert getattr(extract(**{key: ["a"]}), key) == ""


FOCUS_AREAS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a list": (["a", " b "], ("a", "b")),
    "a list of anything": (["a", 5, 1.5, True, None, {"b": 1}, ""], ("a", "5", "1.5", "true", '{"b":1}')),
    "a text": ("a,b，c;d；e", ("a", "b", "c", "d", "e")),
    "a text with gaps": (" a ,, b; ", ("a", "b")),
    "at most five": (list("abcdefg"), ("a", "b", "c", "d", "e")),
    "at most five of a text": ("a,b,c,d,e,f", ("a", "b", "c", "d", "e")),
    "missing": (None, ()),
    "a number": (7, ()),
    "an object": ({"a": 1}, ()),
}


@pytest.mark.parametrize("case", FOCUS_AREAS)
def test_focus_areas(case: str) -> None:
    """A list, stringified, or a text split on `,，;；`; at most 5; missing → []."""
    given, expected = FOCUS_AREAS[case]
    assert extract(focus_areas=given) == Decision(next_agent="writer_agent", focus_areas=expected)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(chosen=JSON, guidance=JSON, context=JSON, areas=JSON)
def test_a_decision_is_always_within_its_bounds(chosen: Any, guidance: Any, context: Any, areas: Any) -> None:
    """Whatever the four keys hold, the decision has all four within bounds, or a reason is given."""
    said = {"next_agent": chosen, "guidance": guidance, "context_from_previous": context, "focus_areas": areas}
    read = extract_decision(json.dumps(said), AGENTS)
    assert isinstance(read, Unusable) or read.next_agent in (*AGENTS, "END")
    decision = extract_decision(json.dumps({**said, "next_agent": "writer_agent"}), AGENTS)
    assert isinstance(decision, Decision)
    assert max(len(decision.guidance), len(decision.context_from_previous)) <= 203
    assert len(decision.focus_areas) <= 5
    assert all(area and len(area) <= 203 for area in decision.focus_areas)


@given(st.text(alphabet='{}[]":,\\ aEND_next_agent', max_size=200))
def test_no_text_breaks_it(said: str) -> None:
    """Any text is a decision for a known name, or unusable."""
    decision = extract_decision(said, AGENTS)
    assert isinstance(decision, Unusable) or decision.next_agent in (*AGENTS, "END")
