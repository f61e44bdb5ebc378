"""The routing decision of the front door: every rule of plan: routing decision, every boundary."""

from math import inf, nan
from typing import Any, get_args

import pytest
from msgspec import convert
from msgspec.structs import replace

from moot.core.intake.intent import ControlAction, IntentAnalysis, Relation, Route, RoutingDecision, WorkflowStatus
from moot.core.intake.intent_routing import ACTIVE, decide_route, find_control_action
from moot.core.session.settings import RouteThresholds
from moot.testing import control

IDLE: tuple[WorkflowStatus, ...] = ("idle", "completed", "failed")
RELATIONS: tuple[Relation, ...] = get_args(Relation)


def analysis(
    relation: Relation,
    confidence: float = 0.9,
    *,
    confirm: bool = False,
    action: str = "",
    goal: str = "a goal",
    **more: Any,
) -> IntentAnalysis:
    action = action or ("query" if relation == "control_instruction" else "modify")
    return convert(
        {
            "normalized_intent": {"goal": goal, "action": action, "scope": "partial_task", "urgency": "medium"},
            "task_relation": {"type": relation, "confidence": confidence, "reasoning": "because"},
            "context_dependency": {
                "needs_current_task_context": True,
                "needs_execution_history": False,
                "needs_resource_status": False,
            },
            "suggested_route": {"next_phase": "execution", "reason": "r", "requires_user_confirmation": confirm},
            **more,
        },
        IntentAnalysis,
    )


def routed(analysed: IntentAnalysis, status: WorkflowStatus = "execution") -> tuple[Route, bool]:
    decision = decide_route(analysed, status)
    return decision.route, decision.user_confirmation_required


@pytest.mark.parametrize("status", get_args(WorkflowStatus))
@pytest.mark.parametrize(("confidence", "route"), [(0.6, "control_action"), (0.599, "wait_user_decision")])
def test_rule_1_control_comes_first(status: WorkflowStatus, confidence: float, route: Route) -> None:
    """Control acts in every state from 0.6 on, and is asked about below."""
    assert routed(analysis("control_instruction", confidence), status) == (route, route == "wait_user_decision")


@pytest.mark.parametrize("status", IDLE)
@pytest.mark.parametrize("relation", [each for each in RELATIONS if each != "control_instruction"])
@pytest.mark.parametrize("confidence", [0.0, 0.6, 1.0])
def test_rule_2_without_work_everything_is_new(status: WorkflowStatus, relation: Relation, confidence: float) -> None:
    """No active workflow → new_task, never asks, not even when it should be confirmed."""
    assert routed(analysis(relation, confidence, confirm=True), status) == ("new_task", False)


@pytest.mark.parametrize("status", sorted(ACTIVE))
@pytest.mark.parametrize("relation", [each for each in RELATIONS if each != "control_instruction"])
def test_rule_3_who_is_unsure_asks(status: WorkflowStatus, relation: Relation) -> None:
    """Below 0.6 the person decides, in each of the five active states."""
    assert routed(analysis(relation, 0.59), status) == ("wait_user_decision", True)


@pytest.mark.parametrize(
    ("confidence", "route"), [(0.6, "wait_user_decision"), (0.7, "wait_user_decision"), (0.701, "minor_replan")]
)
def test_rule_4_a_minor_change_must_be_certain(confidence: float, route: Route) -> None:
    """A minor change is applied above 0.7; at 0.7 exactly it is asked about."""
    assert routed(analysis("same_task_minor_change", confidence))[0] == route


@pytest.mark.parametrize(
    ("relation", "route"),
    [
        ("same_task_no_change", "wait_user_decision"),
        ("same_task_minor_change", "wait_user_decision"),
        ("same_task_major_change", "full_replan"),
        ("different_task", "new_task"),
        ("control_instruction", "control_action"),
    ],
)
def test_rule_5_a_wish_for_confirmation(relation: Relation, route: Route) -> None:
    """It is asked for, except by routes that ask by themselves and by control, which came first."""
    assert routed(analysis(relation, confirm=True))[0] == route


@pytest.mark.parametrize(
    ("relation", "route", "asks"),
    [
        ("same_task_no_change", "continue_execution", False),
        ("same_task_minor_change", "minor_replan", False),
        ("same_task_major_change", "full_replan", True),
        ("different_task", "new_task", True),
    ],
)
@pytest.mark.parametrize("status", sorted(ACTIVE))
def test_rule_6_the_table(relation: Relation, route: Route, asks: bool, status: WorkflowStatus) -> None:
    """One route for each relation; a full replan and a new task ask by themselves."""
    assert routed(analysis(relation), status) == (route, asks)


@pytest.mark.parametrize("relation", ["same_task_no_change", "same_task_major_change", "different_task"])
def test_at_the_threshold_nobody_is_asked_for_certainty(relation: Relation) -> None:
    """0.6 exactly is certain enough."""
    assert routed(analysis(relation, 0.6))[0] != "wait_user_decision"


@pytest.mark.parametrize(("confidence", "route"), [(0.79, "wait_user_decision"), (0.8, "control_action")])
def test_stopping_all_work_must_be_certain(confidence: float, route: Route) -> None:
    """What cannot be undone is asked about below 0.8, with the cancel as a choice; other controls are not."""
    decision = decide_route(control("cancel", confidence), "execution", "en")
    assert (decision.route, decision.payload.control_action) == (route, "cancel")
    assert routed(control("pause", confidence))[0] == "control_action"
    assert routed(control("cancel", confidence), "idle")[0] == "control_action"


def test_thresholds_are_settings() -> None:
    """Thresholds are settings."""
    strict = RouteThresholds(certain=0.95, minor_change=0.99)
    assert decide_route(analysis("same_task_no_change", 0.9), "execution", "en", strict).route == "wait_user_decision"
    assert decide_route(analysis("same_task_minor_change", 0.97), "execution", "en", strict).user_confirmation_required


@pytest.mark.parametrize("confidence", [1.7, -0.1, nan, inf, -inf])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("status", ["execution", "idle"])
def test_a_confidence_that_is_none(confidence: float, relation: Relation, status: WorkflowStatus) -> None:
    """Out of range means that the reading cannot be trusted; the answer's own confidence is a number."""
    decision = decide_route(analysis(relation, confidence), status)
    assert (decision.route, decision.confidence, decision.user_confirmation_required) == ("wait_user_decision", 0, True)


CONTRADICTIONS: dict[str, IntentAnalysis] = {
    "control without an action": analysis("control_instruction", action="create"),
    "control that goes on and cancels": analysis("control_instruction", action="continue", control_action="cancel"),
    "control whose goal denies its action": analysis("control_instruction", action="cancel", goal="Resume the run"),
    "a change that pauses": analysis("same_task_minor_change", control_action="pause"),
    "no change that ends the run": replace(
        analysis("same_task_no_change"),
        normalized_intent=replace(
            analysis("same_task_no_change").normalized_intent, action="cancel", scope="meta_control"
        ),
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_put_to_the_person(case: str) -> None:
    """Fields that deny each other lead to the person, whatever the confidence."""
    assert routed(CONTRADICTIONS[case]) == ("wait_user_decision", True)


def assessment(relation: str, confidence: float = 0.9, similarity: float = 0.5) -> dict[str, Any]:
    deltas = ("scope_delta", "constraint_delta", "deliverable_delta", "resource_impact", "timeline_impact")
    return {
        "relation_type": relation,
        "reasoning": "r",
        "confidence": confidence,
        "assessment": {"goal_similarity": similarity, **dict.fromkeys(deltas, "none")},
        "recommended_action": "continue",
        "replan_rationale": "another audience",
        "new_task_justification": "nothing in common",
    }


def test_an_assessment_must_agree() -> None:
    """The assessment is part of the analysis; `no_major_change` is its word for no change."""
    agreeing = analysis("same_task_no_change", assessment=assessment("same_task_no_major_change"))
    assert routed(agreeing)[0] == "continue_execution"
    for wrong in (assessment("different_task"), assessment("same_task_no_major_change", 2.0)):
        assert routed(analysis("same_task_no_change", assessment=wrong))[0] == "wait_user_decision"
    odd = assessment("same_task_no_major_change", similarity=7.0)
    assert routed(analysis("same_task_no_change", assessment=odd))[0] == "wait_user_decision"


@pytest.mark.parametrize(
    ("action", "goal", "found"),
    [
        ("cancel", "the report", "cancel"),
        ("continue", "the report", "resume"),
        ("query", "the report", "status_query"),
        ("cancel", "pause the run", "pause"),
        ("modify", "暂停任务", "pause"),
        ("clarify", "进度", "status_query"),
        ("clarify", "the report", "status_query"),
        ("modify", "the report", "pause"),
        ("create", "the report", None),
    ],
)
def test_where_a_control_action_is_found(action: str, goal: str, found: ControlAction | None) -> None:
    """Our field, then the first words of the goal, then the action."""
    assert find_control_action(analysis("control_instruction", action=action, goal=goal)) == found


def test_the_payload_is_that_of_the_route() -> None:
    """Each route has its own field, the others stay empty."""
    patches = [{"op": "remove", "task_id": "t2"}]

    def payload(relation: Relation, **more: Any) -> tuple[object, ...]:
        given = decide_route(analysis(relation, plan_patches=patches, **more), "execution").payload
        return len(given.plan_patches), given.control_action, given.new_task_justification, given.replan_trigger

    assert payload("same_task_no_change") == (0, None, None, None)
    assert payload("same_task_minor_change") == (1, None, None, None)
    assert payload("same_task_major_change") == (0, None, None, "because")
    assert payload("different_task") == (0, None, "because", None)
    assert payload("control_instruction") == (0, "status_query", None, None)
    judged = assessment("same_task_major_change")
    assert payload("same_task_major_change", assessment=judged)[3] == "another audience"
    judged = assessment("different_task")
    assert payload("different_task", assessment=judged)[2] == "nothing in common"


@pytest.mark.parametrize(
    ("control", "confidence", "status", "route"),
    [
        ("cancel", 0.79, "execution", "wait_user_decision"),
        ("cancel", 0.79, "paused", "wait_user_decision"),
        ("cancel", 0.8, "execution", "control_action"),
        ("cancel", 0.79, "idle", "control_action"),
        ("pause", 0.6, "execution", "control_action"),
        ("status_query", 0.6, "execution", "control_action"),
    ],
)
def test_a_cancel_of_running_work_must_be_certain(
    control: ControlAction, confidence: float, status: WorkflowStatus, route: Route
) -> None:
    """What cannot be undone is asked about below 0.8, and the cancel is one of the choices."""
    meant = analysis("control_instruction", confidence, action="modify", control_action=control)
    decision = decide_route(meant, status)
    assert (decision.route, decision.payload.control_action) == (route, control)


def test_a_question_that_must_be_answered_is_what_people_read() -> None:
    """need_clarification asks one step, with its own question."""
    unclear = analysis("same_task_minor_change", 0.5, clarification="What shall be changed?")
    assert decide_route(unclear, "execution").user_message == "What shall be changed?"


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("confidence", [0.1, 0.65, 0.9, nan])
def test_every_decision_speaks_both_languages(relation: Relation, confidence: float) -> None:
    """The person sees a sentence, never a code."""

    def say(language: Any) -> RoutingDecision:
        return decide_route(analysis(relation, confidence), "execution", language)

    zh, en = say("zh").user_message, say("en").user_message
    assert zh != en
    assert any("一" <= letter <= "鿿" for letter in zh)
    assert "[" not in zh + en
