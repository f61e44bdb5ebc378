"""`moot route intent`: the exact contract of surfaces, both forms, and what hostile lines get."""

import json
from typing import Any

import pytest

from tests.cli.command import Moot, Said

RUNNING = {
    "goal": "Create a landing page for a coffee subscription in React",
    "workflow_status": "execution",
    "recent_history": [{"role": "agent", "content": "Hero and pricing are done."}],
    "tasks": [{"id": "t1", "title": "Hero"}, {"id": "t2", "title": "FAQ", "objective": "ten questions"}],
}
DELTAS = [
    "goal_similarity",
    "scope_delta",
    "constraint_delta",
    "deliverable_delta",
    "resource_impact",
    "timeline_impact",
]


def ask(moot: Moot, *lines: dict[str, Any] | str) -> Said:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return moot("route", "intent", stdin="\n".join(texts).encode())


def understand(moot: Moot, text: str, **context: Any) -> Any:
    said = ask(moot, {"input": text, "context": {**RUNNING, **context}})
    assert (said.code, said.err) == (0, "")
    return said.objects[0]


def decide(moot: Moot, analysis: Any, status: str = "execution") -> Any:
    said = ask(moot, {"analysis": analysis, "context": {"workflow_status": status}})
    assert (said.code, said.err) == (0, ""), said.out
    return said.objects[0]


def test_every_field_is_there(moot: Moot) -> None:
    """The whole object, in the order of the contract."""
    given = understand(moot, "also make it blue")
    assert list(given) == ["analysis", "decision"]
    analysis, decision = given["analysis"], given["decision"]
    assert {name: list(part) for name, part in analysis.items()} == {
        "normalized_intent": ["goal", "action", "scope", "urgency"],
        "task_relation": ["type", "confidence", "reasoning"],
        "context_dependency": [
            "needs_current_task_context",
            "needs_execution_history",
            "needs_resource_status",
            "referenced_entities",
        ],
        "suggested_route": ["next_phase", "reason", "requires_user_confirmation"],
        "assessment": [
            "relation_type",
            "reasoning",
            "confidence",
            "assessment",
            "recommended_action",
            "replan_rationale",
            "new_task_justification",
        ],
    }
    assert list(analysis["assessment"]["assessment"]) == DELTAS
    assert list(decision) == ["route", "confidence", "payload", "user_confirmation_required", "user_message"]
    assert list(decision["payload"]) == ["plan_patches", "control_action", "new_task_justification", "replan_trigger"]
    assert decision["route"] == "minor_replan"


@pytest.mark.parametrize("status", ["plan_loop", "execution", "paused", "replan_evaluation", "wait_user_decision"])
def test_active_states(moot: Moot, status: str) -> None:
    """Five states are an active workflow; a change changes it and has an assessment."""
    given = understand(moot, "add a footer", workflow_status=status)
    assert given["decision"]["route"] == "minor_replan"
    assert given["analysis"]["assessment"] is not None


@pytest.mark.parametrize("status", ["idle", "completed", "failed"])
def test_without_work_an_input_is_a_new_goal(moot: Moot, status: str) -> None:
    """No active workflow → new_task, never asks."""
    given = understand(moot, "add a footer", workflow_status=status)
    assert given["analysis"]["task_relation"]["type"] == "different_task"
    assert (given["decision"]["route"], given["decision"]["user_confirmation_required"]) == ("new_task", False)
    assert given["analysis"]["assessment"] is None


def test_control_has_no_assessment(moot: Moot) -> None:
    """The assessment is about work; pausing is about the run."""
    given = understand(moot, "hold on a second")
    assert given["analysis"]["assessment"] is None
    assert given["decision"]["payload"]["control_action"] == "pause"


def test_a_task_by_its_place(moot: Moot) -> None:
    """ "cancel the second task" needs no planner. Ids may be numbers."""
    patches = understand(moot, "cancel the second task")["decision"]["payload"]["plan_patches"]
    assert patches == [{"op": "remove", "task_id": "t2", "changes": {}}]
    numbered = understand(moot, "取消第二个任务", tasks=[{"id": 1, "title": "甲"}, {"id": 2, "title": "乙"}])
    assert numbered["decision"]["payload"]["plan_patches"] == [{"op": "remove", "task_id": "2", "changes": {}}]


def test_chinese_is_answered_in_chinese(moot: Moot) -> None:
    """Reasons and sentences follow the input's language."""
    given = understand(moot, "算了，给我写首诗吧")
    sentence = given["decision"]["user_message"] + given["analysis"]["task_relation"]["reasoning"]
    assert all(not ("a" <= letter <= "z") for letter in sentence)
    assert given["decision"]["route"] == "new_task"


def test_a_question_when_nothing_is_named(moot: Moot) -> None:
    """need_clarification asks."""
    given = understand(moot, "改一下")
    assert given["decision"]["route"] == "wait_user_decision"
    assert given["decision"]["user_message"].endswith("？")


def analysed(relation: str, confidence: object = 0.9, **more: Any) -> dict[str, Any]:
    return {
        "normalized_intent": {"goal": "g", "action": "query", "scope": "full_task", "urgency": "low"},
        "task_relation": {"type": relation, "confidence": confidence, "reasoning": "because"},
        "context_dependency": {
            "needs_current_task_context": False,
            "needs_execution_history": False,
            "needs_resource_status": False,
            "referenced_entities": [],
        },
        "suggested_route": {"next_phase": "execution", "reason": "r", "requires_user_confirmation": False},
        **more,
    }


def test_an_analysis_is_taken_as_it_is(moot: Moot) -> None:
    """Given an analysis, understanding is skipped; the alias is read as no change."""
    given = decide(moot, analysed("same_task_no_major_change"))
    assert given["analysis"] == {**analysed("same_task_no_change"), "assessment": None}
    assert given["decision"]["route"] == "continue_execution"
    assert decide(moot, analysed("control_instruction"))["decision"]["payload"]["control_action"] == "status_query"


def test_what_was_answered_can_be_asked_again(moot: Moot) -> None:
    """An analysis of ours, given back, leads to the same route, also where the protocol has no field for it."""
    for text in ("hold on a second", "卡住了吗", "stop", "also make it blue", "start over", "write a haiku"):
        first = understand(moot, text)
        again = decide(moot, first["analysis"])
        assert again["decision"]["route"] == first["decision"]["route"], text
        assert again["decision"]["payload"]["control_action"] == first["decision"]["payload"]["control_action"]


@pytest.mark.parametrize("missing", ["normalized_intent", "context_dependency", "suggested_route", "assessment"])
def test_optional_parts_may_be_missing(moot: Moot, missing: str) -> None:
    """An analysis needs a relation; the rest is filled in, every field of the answer is there."""
    whole = {**analysed("same_task_major_change"), "assessment": None}
    del whole[missing]
    given = decide(moot, whole)
    assert given["decision"]["route"] == "full_replan"
    assert missing in given["analysis"]


@pytest.mark.parametrize("confidence", [1.7, -1, 1e300])
def test_a_confidence_out_of_range_is_put_to_the_person(moot: Moot, confidence: float) -> None:
    """Validated; wait_user_decision."""
    decision = decide(moot, analysed("same_task_no_change", confidence))["decision"]
    assert (decision["route"], decision["user_confirmation_required"]) == ("wait_user_decision", True)


BAD = [
    "nonsense",
    "[]",
    "{}",
    '{"input": 7}',
    '{"analysis": []}',
    '{"analysis": {}}',
    '{"analysis": {"task_relation": {"type": "same_task", "confidence": 0.5}}}',
    '{"analysis": {"task_relation": {"type": "different_task", "confidence": NaN}}}',
    '{"analysis": {"task_relation": {"type": "different_task", "confidence": "0.9"}}}',
    '{"analysis": {"task_relation": {"type": "different_task", "confidence": 0.9}, "suggested_route": 1}}',
    '{"input": "x", "context": {"workflow_status": "asleep"}}',
    '{"input": "x", "context": {"recent_history": [7]}}',
    '{"analysis": ' + '{"assessment": ' * 3000 + "1" + "}" * 3000 + "}",
]


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_one_bad_line(moot: Moot, line: str) -> None:
    """Bad lines give an error, the good ones after them their answer, and the exit code says so."""
    said = ask(moot, line, {"input": "ok", "context": RUNNING})
    first, second = said.objects
    assert said.code == 1
    assert (list(first), first["error"] != "") == (["error"], True)
    assert second["decision"]["route"] == "continue_execution"


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\u200b", "🙂", "?", "a" * 200_000, "不" * 50_000, "[" * 5_000, "\x1b[31mstop\x1b[0m", "{{input}}"],
)
def test_any_input_has_an_answer(moot: Moot, text: str) -> None:
    """The front door never fails, whatever is said."""
    assert understand(moot, text)["decision"]["route"]
