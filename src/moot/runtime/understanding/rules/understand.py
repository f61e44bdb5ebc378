"""`rules`: understands Chinese and English messages without a model; deterministic (see docs/plan.md)."""

import re

from moot.core.intake.intent import (
    ContextDependency,
    IntentAnalysis,
    KnownTask,
    NextPhase,
    NormalizedIntent,
    PlanPatch,
    Relation,
    Scope,
    SemanticInput,
    SuggestedRoute,
    TaskRelation,
    Urgency,
)
from moot.core.intake.intent_routing import ACTIVE
from moot.core.texts import render
from moot.runtime.ports import Understood
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.rules.assessment import assess
from moot.runtime.understanding.rules.clauses import read_clauses
from moot.runtime.understanding.rules.patches import find_patches, find_tasks
from moot.runtime.understanding.rules.reading import (
    CONTROL,
    DIFFERENT,
    MAJOR,
    MINOR,
    NO_CHANGE,
    Message,
    Reading,
)
from moot.runtime.understanding.rules.relation import relate
from moot.runtime.understanding.rules.similarity import Overlap, measure_overlap, read_context
from moot.runtime.understanding.rules.tokens import normalise, read_prose

GOAL_CHARS, ENTITIES = 200, 20
_URGENT = re.compile(
    r"\b(?:now|immediately|asap|urgent(?:ly)?|right away|at once|quick(?:ly)?|hurry)\b|!{2,}"
    r"|马上|立刻|立即|赶紧|尽快|紧急|急|快"
)
_UNHURRIED = re.compile(
    r"\b(?:later|eventually|no rush|when you(?:'re| are) done|some ?day|whenever|low priority)\b"
    r"|不急|有空|以后|回头|慢慢|晚点"
)
_QUOTED = re.compile(r"[\"“「『`]([^\"”」』`\n]{1,60})[\"”」』`]|(?<!\w)'([^'\n]{2,60})'(?!\w)")
_FILE = re.compile(r"(?<![\w/])(?:[\w.-]+/)*[\w-]+\.[a-z][a-z0-9]{0,4}\b(?!\()", re.IGNORECASE | re.ASCII)
_MEMBER = re.compile(r"(?<![\w.])@([\w.-]{1,40})")
_PHASES: dict[Relation, NextPhase] = {
    NO_CHANGE: "execution",
    MINOR: "execution",
    MAJOR: "replan",
    DIFFERENT: "new_task",
    CONTROL: "control",
}


def analyse(request: SemanticInput) -> IntentAnalysis:
    """Say what a message means for the work that is under way."""
    text = normalise(request.raw_input)
    prose = read_prose(text)
    context = read_context(request)
    status = request.system_state.workflow_status
    patches = find_patches(prose.text, request.tasks, context) if status in ACTIVE else ()
    overlap = measure_overlap(prose.text, context)
    reading = relate(Message(prose, read_clauses(prose, context), context, overlap, status, bool(patches)))
    return _assemble(request, text, reading, overlap, patches)


class RulesUnderstander:
    """`analyse` as an Understander. Markers and slash commands are read first."""

    async def understand(self, request: SemanticInput) -> Understood:
        return Understood(analysis=read_explicit(request) or analyse(request))


def find_entities(text: str, tasks: tuple[KnownTask, ...]) -> tuple[str, ...]:
    """Find what a text refers to: ids of tasks, files, quoted words, members."""
    quoted = [first or second for first, second in _QUOTED.findall(text)]
    entities = [*(task.id for task in find_tasks(text, tasks)), *_FILE.findall(text), *quoted, *_MEMBER.findall(text)]
    return tuple(dict.fromkeys(entities))[:ENTITIES]


def _assemble(
    request: SemanticInput, text: str, reading: Reading, overlap: Overlap, patches: tuple[PlanPatch, ...]
) -> IntentAnalysis:
    relation, language = reading.relation, request.language
    reason = render(f"intent.{reading.reason}", language)
    goal = " ".join(text.split())[:GOAL_CHARS]
    is_active = request.system_state.workflow_status in ACTIVE
    leaves_task = relation in (MAJOR, DIFFERENT) and is_active
    scope: Scope = (
        "meta_control" if relation == CONTROL else "full_task" if relation in (MAJOR, DIFFERENT) else "partial_task"
    )
    return IntentAnalysis(
        normalized_intent=NormalizedIntent(
            goal=f"{reading.control}: {goal}" if reading.control else goal,
            action=reading.action,
            scope=scope,
            urgency=_urgency(text, reading),
        ),
        task_relation=TaskRelation(type=relation, confidence=reading.confidence, reasoning=reason),
        context_dependency=ContextDependency(
            needs_current_task_context=relation != DIFFERENT and (is_active or relation != CONTROL),
            needs_execution_history=reading.reason in ("answer", "retry", "question", "status_query", "resume"),
            needs_resource_status=reading.control is not None,
            referenced_entities=find_entities(text, request.tasks),
        ),
        suggested_route=SuggestedRoute(
            next_phase="wait_user" if reading.is_vague else _PHASES[relation],
            reason=reason,
            requires_user_confirmation=leaves_task or reading.is_vague,
        ),
        assessment=assess(relation, reading.confidence, reason, overlap, reading.reason) if is_active else None,
        control_action=reading.control,
        plan_patches=patches if relation == MINOR else (),
        clarification=render("intent.clarification", language) if reading.is_vague else "",
    )


def _urgency(text: str, reading: Reading) -> Urgency:
    lowered = text.lower()
    if _UNHURRIED.search(lowered):
        return "low"
    return "high" if reading.control in ("cancel", "pause") or _URGENT.search(lowered) else "medium"
