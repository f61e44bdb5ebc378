"""Every human input passes here (seed 002 §2): understood, then routed, then carried out by its flow.

Markers and slash commands never reach an understander. Under `explicit` understanding nothing else does either: with
no work under way a message is a new goal, otherwise the person says what it means.
"""

from math import isfinite

from msgspec.structs import replace

from moot.core import limits, text
from moot.core.commands import Answer, ReportUnderstanding
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import (
    Input,
    NoticePosted,
    RoutingDecided,
    StepAsked,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.intent import IntentAnalysis, Payload, RoutingDecision
from moot.core.intent_routing import decide_route
from moot.core.notices import render
from moot.core.plan.status import workflow_status
from moot.core.state import State

CLARIFY = "clarify"
_ABOUT_THE_JOB = ("continue_execution", "minor_replan", "full_replan")  # a supervisor hears it, nobody is asked


def receive(draft: Draft, member: str, said: str) -> tuple[Input, RoutingDecision] | None:
    """Begin to understand an input; under `explicit` understanding its route is known at once."""
    state = draft.state
    asked = sum(step.input is not None for step in state.open_steps.values())
    if len(state.door.inputs) + asked >= limits.INPUTS:
        raise Refused("too_many_inputs", limit=limits.INPUTS)
    new = Input(input_id=f"i{state.door.input_count + 1}", member=member, text=said)
    if state.team.understanding != "explicit":
        draft.add(UnderstandingStarted(input=new))
        return None
    decision = _route_explicitly(state)
    log_decision(draft, new.input_id, decision)
    return new, decision


def _route_explicitly(state: State) -> RoutingDecision:
    is_active = state.is_at_work
    code = "route_unsure" if is_active else "route_new_task"
    return RoutingDecision(
        route="wait_user_decision" if is_active else "new_task",
        confidence=1.0,
        payload=Payload(),
        user_confirmation_required=is_active,
        user_message=render(code, state.language),
    )


def complete(draft: Draft, command: ReportUnderstanding) -> tuple[Input, RoutingDecision] | None:
    """An input is understood: its route, or a question first."""
    state = draft.state
    said = next((each for each in state.door.inputs if each.input_id == command.input_id), None)
    if said is None:
        raise Refused("stale_turn", detail=command.input_id)
    analysis = _make_finite(command.analysis)
    must_ask = bool(analysis.clarification) and said.asked < limits.CLARIFICATIONS
    if not must_ask:
        analysis = replace(analysis, clarification="")
    draft.add(
        UnderstandingCompleted(input_id=said.input_id, analysis=analysis, fallback_reason=command.fallback_reason)
    )
    if command.fallback_reason:
        draft.add(NoticePosted(code="understood_by_rules", detail=command.fallback_reason))
    if must_ask:
        _ask(draft, said, analysis.clarification)
        return None
    decision = decide_route(analysis, workflow_status(draft.state), state.language, state.team.thresholds)
    if state.supervision is not None and decision.route in _ABOUT_THE_JOB:
        heard = render("route_to_supervisor", state.language)
        decision = replace(decision, user_confirmation_required=False, user_message=heard)
    log_decision(draft, said.input_id, decision)
    return said, decision


def _make_finite(analysis: IntentAnalysis) -> IntentAnalysis:
    """JSON has no infinity: logged, it could not be read again. What is no number is no confidence."""
    relation, judged = analysis.task_relation, analysis.assessment
    if not isfinite(relation.confidence):
        analysis = replace(analysis, task_relation=replace(relation, confidence=0.0))
    if judged and not (isfinite(judged.confidence) and isfinite(judged.assessment.goal_similarity)):
        analysis = replace(analysis, assessment=None)
    return analysis


def log_decision(draft: Draft, input_id: str, decision: RoutingDecision) -> None:
    draft.add(
        RoutingDecided(
            confidence=decision.confidence,
            input_id=input_id,
            route=decision.route,
            payload=decision.payload,
            user_confirmation_required=decision.user_confirmation_required,
            user_message=decision.user_message,
        )
    )


def _ask(draft: Draft, said: Input, question: str) -> None:
    draft.add(
        StepAsked(
            step_id=f"{CLARIFY}_{draft.state.step_count + 1}",
            kind="ask_user",
            options=(),
            expires_at=None,
            default=None,
            asked_by=said.member,
            question=text.cut(text.clean(question), limits.HISTORY_CHARS),
            input=said,
        )
    )


def clarify(draft: Draft, step: StepAsked, command: Answer) -> None:
    """The answer joins what was said, and all of it is understood again."""
    said = step.input
    assert said is not None  # noqa: S101 - such a question is about an input
    answer = text.clean(command.answer or "")
    if text.is_blank(answer):
        raise Refused("bad_answer", available=())
    draft.add(UnderstandingStarted(input=replace(said, text=f"{said.text}\n{answer}", asked=said.asked + 1)))
