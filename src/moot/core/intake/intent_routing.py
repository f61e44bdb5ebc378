"""Decide the route of an input from its analysis: the first rule that matches counts (docs/plan.md).

An analysis may come from a model or over the wire, so it is checked first. If it contradicts itself, a human is asked.
"""

from math import isfinite

from msgspec.structs import replace

from moot.core.intake.intent import (
    ControlAction,
    IntentAnalysis,
    Payload,
    Relation,
    Route,
    RoutingDecision,
    WorkflowStatus,
)
from moot.core.session.settings import RouteThresholds
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.texts import render

ACTIVE: frozenset[WorkflowStatus] = frozenset(
    {"plan_loop", "execution", "paused", "replan_evaluation", "wait_user_decision"}
)


THRESHOLDS = RouteThresholds()
# the texts of new tasks about the work that is complete: one continues it, the other answers a question about it
FOLLOW_UP, ASKS_BACK = "route_follow_up", "route_asks_back"


# A control action may be named by the field, by the first words of the goal, or by the intent's action.
_NAMED: dict[str, ControlAction] = {
    **dict.fromkeys(("pause", "suspend", "hold", "wait", "暂停", "停一下", "先停", "等一下"), "pause"),
    **dict.fromkeys(("resume", "continue", "unpause", "继续", "恢复"), "resume"),
    **dict.fromkeys(("cancel", "abort", "stop", "terminate", "quit", "取消", "终止", "中止", "停止"), "cancel"),
    **dict.fromkeys(("status", "progress", "状态", "进度", "查询进度", "查询状态"), "status_query"),
}
# What a control instruction means if only its action is known. "modify" pauses, because a pause can be undone.
_MEANT: dict[str, ControlAction] = {
    "cancel": "cancel",
    "continue": "resume",
    "query": "status_query",
    "clarify": "status_query",
    "modify": "pause",
}
# Pairs of goal and action that contradict each other. Pausing has no action of its own, so "cancel" is allowed for it.
_CONTRADICTIONS: frozenset[tuple[ControlAction, str]] = frozenset(
    {
        ("pause", "continue"),
        ("resume", "cancel"),
        ("cancel", "continue"),
        ("cancel", "query"),
        ("status_query", "cancel"),
    }
)
_ROUTES: dict[Relation, Route] = {
    "same_task_no_change": "continue_execution",
    "same_task_minor_change": "minor_replan",
    "same_task_major_change": "full_replan",
    "different_task": "new_task",
    "control_instruction": "control_action",
}


def find_control_action(analysis: IntentAnalysis) -> ControlAction | None:
    """Return what a control instruction asks for; None if no field says it, or two fields contradict each other."""
    action = analysis.normalized_intent.action
    goal = analysis.normalized_intent.goal.strip().lower()
    starts = [named for word, named in _NAMED.items() if goal.startswith(word)]
    named = analysis.control_action or (starts[0] if starts else None)
    if named is None:
        return _MEANT.get(action)
    return None if (named, action) in _CONTRADICTIONS else named


def is_sound(analysis: IntentAnalysis) -> bool:
    """Whether all numbers are in range and no field contradicts another."""
    relation, intent, judged = analysis.task_relation, analysis.normalized_intent, analysis.assessment
    confidences = [relation.confidence, *([judged.confidence, judged.assessment.goal_similarity] if judged else [])]
    if not all(isfinite(number) and 0 <= number <= 1 for number in confidences):
        return False
    if relation.type == "control_instruction":
        return find_control_action(analysis) is not None
    if judged and judged.relation_type.replace("no_major_change", "no_change") != relation.type:
        return False
    ends_run = intent.action == "cancel" and intent.scope == "meta_control" and relation.type != "different_task"
    return analysis.control_action is None and not ends_run


def decide_route(
    analysis: IntentAnalysis,
    status: WorkflowStatus,
    language: Language = DEFAULT_LANGUAGE,
    settings: RouteThresholds = THRESHOLDS,
) -> RoutingDecision:
    """Return the route of an input while the work has this status."""
    relation, confidence = analysis.task_relation.type, analysis.task_relation.confidence
    if not is_sound(analysis):
        return _ask(0.0, "route_contradiction", language)
    is_unsure = confidence < settings.certain
    question = analysis.clarification
    if relation == "control_instruction":
        action = find_control_action(analysis)
        if is_unsure:
            return _ask(confidence, "route_unsure", language, question, action)
        if action == "cancel" and status in ACTIVE and confidence < settings.cancel:
            return _ask(confidence, "route_cancel_unsure", language, question, action)
        return _go(analysis, "control_action", language)
    if status not in ACTIVE:  # no work that the input could interrupt
        new_task = _go(analysis, "new_task", language)
        code = _find_follow_up(analysis) if status == "completed" else ""
        return tell_route(new_task, code, language) if code else new_task
    if is_unsure:
        return _ask(confidence, "route_unsure", language, question)
    if relation == "same_task_minor_change" and confidence <= settings.minor_change:
        return _ask(confidence, "route_minor_unsure", language, question)
    asks_by_itself = relation in ("same_task_major_change", "different_task")
    if analysis.suggested_route.requires_user_confirmation and not asks_by_itself:
        return _ask(confidence, "route_confirm", language, question)
    return _go(analysis, _ROUTES[relation], language, asks=asks_by_itself)


def _find_follow_up(analysis: IntentAnalysis) -> str:
    """Return the text of an input about complete work: it changes the result, or asks something about it."""
    relation = analysis.task_relation.type
    if relation in ("same_task_minor_change", "same_task_major_change"):
        return FOLLOW_UP
    is_question = relation == "same_task_no_change" and analysis.normalized_intent.action == "query"
    return ASKS_BACK if is_question else ""


def tell_route(decision: RoutingDecision, code: str, language: Language) -> RoutingDecision:
    """Return a decision that asks nobody, with another text for people."""
    message = render(code, language)
    return replace(decision, user_confirmation_required=False, user_message=message, message_code=code)


def _ask(
    confidence: float, code: str, language: Language, question: str = "", guess: ControlAction | None = None
) -> RoutingDecision:
    """Ask the author of the input.

    Args:
        code: of the text to ask with, unless the model that understood the input gave a `question` of its own.
        guess: the control action that may be meant; it becomes one of the choices.
    """
    return RoutingDecision(
        route="wait_user_decision",
        confidence=confidence,
        payload=Payload(control_action=guess),
        user_confirmation_required=True,
        user_message=question or render(code, language),
        message_code="" if question else code,
    )


def _go(analysis: IntentAnalysis, route: Route, language: Language, *, asks: bool = False) -> RoutingDecision:
    judged, reasoning = analysis.assessment, analysis.task_relation.reasoning
    control = find_control_action(analysis) if route == "control_action" else None
    code = f"route_{control or route}" + ("_asks" if asks and route == "new_task" else "")
    return RoutingDecision(
        route=route,
        confidence=analysis.task_relation.confidence,
        payload=Payload(
            plan_patches=analysis.plan_patches if route == "minor_replan" else (),
            control_action=control,
            new_task_justification=((judged and judged.new_task_justification) or reasoning or "different_task")
            if route == "new_task"
            else None,
            replan_trigger=((judged and judged.replan_rationale) or reasoning or "major_change")
            if route == "full_replan"
            else None,
        ),
        user_confirmation_required=asks,
        user_message=render(code, language),
        message_code=code,
    )
