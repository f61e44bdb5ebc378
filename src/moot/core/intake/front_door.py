"""Understand and route human inputs. The flow then carries them out.

Markers and slash commands never reach an understander. With `explicit` understanding no input does: a message is a new
goal if no work is under way; otherwise its author is asked what it means.
"""

from math import isfinite
from typing import TYPE_CHECKING

from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.intake.intent import IntentAnalysis, Payload, RoutingDecision, Said, SemanticInput, SystemState
from moot.core.intake.intent_routing import decide_route
from moot.core.session.attachments import Attachment, HandedFile
from moot.core.session.commands import Answer, ReportUnderstanding
from moot.core.session.events import (
    Input,
    NoticePosted,
    RoutingDecided,
    StepAsked,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.session.state import State
from moot.core.session.usage import safe_usage
from moot.core.texts import render

if TYPE_CHECKING:
    from moot.core.flows.flow import Flow

CLARIFY = "clarify"
ACTIVITY_CHARS = 500  # of what members did last
WITHOUT_MODEL = ("explicit", "rules")  # understanding that repeats what a person said instead of rewording it


def receive(draft: Draft, member: str, text: str) -> tuple[Input, RoutingDecision] | None:
    """Begin to understand an input. Returns its route if that is known at once (`explicit` understanding).

    Raises Refused if too many inputs wait.
    """
    state = draft.state
    asked = sum(step.input is not None for step in state.open_steps.values())
    if len(state.door.inputs) + asked >= limits.INPUTS:
        raise Refused("too_many_inputs", limit=limits.INPUTS)
    new = Input(input_id=f"i{state.door.input_count + 1}", member=member, text=text, attachments=draft.attachments)
    if state.team.understanding != "explicit":
        draft.add(UnderstandingStarted(input=new))
        return None
    decision = _route_explicitly(state)
    log_decision(draft, new.input_id, decision)
    return new, decision


def _route_explicitly(state: State) -> RoutingDecision:
    is_active = state.slice.is_active
    code = "route_unsure" if is_active else "route_new_task"
    return RoutingDecision(
        route="wait_user_decision" if is_active else "new_task",
        confidence=1.0,
        payload=Payload(),
        user_confirmation_required=is_active,
        user_message=render(code, state.language),
        message_code=code,
    )


def complete(draft: Draft, command: ReportUnderstanding, flow: "Flow") -> tuple[Input, RoutingDecision] | None:
    """Log what an input means and decide its route. Returns None if a question must be answered first."""
    state = draft.state
    input_ = next((waiting for waiting in state.door.inputs if waiting.input_id == command.input_id), None)
    if input_ is None:
        raise Refused("stale_turn", detail=command.input_id)
    analysis = _make_finite(command.analysis)
    must_ask = bool(analysis.clarification) and input_.asked < limits.CLARIFICATIONS
    if not must_ask:
        analysis = replace(analysis, clarification="")
    draft.add(
        UnderstandingCompleted(
            input_id=input_.input_id,
            analysis=analysis,
            fallback_reason=command.fallback_reason,
            usage=safe_usage(command.usage),
        )
    )
    if command.fallback_reason:
        draft.add(NoticePosted(code="understood_by_rules", detail=command.fallback_reason))
    if must_ask:
        _ask(draft, input_, analysis.clarification)
        return None
    decision = decide_route(analysis, flow.workflow_status(draft.state), state.language, state.team.thresholds)
    decision = flow.adapt_route(decision, draft.state)
    log_decision(draft, input_.input_id, decision)
    is_reworded = state.team.understanding not in WITHOUT_MODEL and not command.fallback_reason
    goal = text.cut(text.clean(analysis.normalized_intent.goal), limits.STEP_CHARS) if is_reworded else ""
    return replace(input_, goal=goal.strip()), decision


def _make_finite(analysis: IntentAnalysis) -> IntentAnalysis:
    """Replace numbers that JSON cannot hold (NaN, infinity), because a log with them could not be decoded."""
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
            message_code=decision.message_code,
        )
    )


def _ask(draft: Draft, input_: Input, question: str) -> None:
    draft.add(
        StepAsked(
            step_id=f"{CLARIFY}_{draft.state.step_count + 1}",
            kind="ask_user",
            options=(),
            expires_at=None,
            default=None,
            asked_by=input_.member,
            question=text.cut(text.clean(question), limits.HISTORY_CHARS),
            input=input_,
        )
    )


def clarify(draft: Draft, input_: Input, command: Answer) -> None:
    """Append the answer to the input, and have all of it understood again. Raises Refused if the answer is blank."""
    answer = text.clean(command.answer or "")
    if text.is_blank(answer):
        raise Refused("bad_answer", available=())
    longer = replace(input_, text=f"{input_.text}\n{answer}", asked=input_.asked + 1)
    draft.add(UnderstandingStarted(input=longer))


def semantic_input(state: State, text: str, flow: "Flow", attachments: tuple[Attachment, ...] = ()) -> SemanticInput:
    """Return what an understander reads: an input with its pictures, and its context."""
    history = state.history[:-1] if state.history and state.history[-1].text == text else state.history
    return SemanticInput(
        raw_input=text,
        system_state=SystemState(
            workflow_status=flow.workflow_status(state),
            current_task=flow.current_task(state),
            last_activity=(flow.last_activity(state) or (history[-1].text if history else ""))[:ACTIVITY_CHARS],
            available_resources=tuple(member.id for member in state.team.ais),
        ),
        recent_history=tuple(
            Said(role="user" if state.team.member(message.member).is_human else "agent", content=message.text)
            for message in history
        ),
        tasks=flow.known_tasks(state),
        language=state.language,
        images=tuple(
            HandedFile(sha256=file.sha256, name=file.name, media_type=file.media_type, size=file.size)
            for file in attachments
            if file.is_image
        ),
    )
