"""`moot route intent`: how an input would be understood, always by the understander `rules`, and routed."""

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.errors import MootError
from moot.core.intake.intent import CurrentTask, KnownTask, Said, SemanticInput, SystemState, WorkflowStatus
from moot.core.intake.intent_routing import decide_route
from moot.core.session.team import Language
from moot.core.text import clean
from moot.runtime.understanding.analysis_reader import read_analysis
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.rules.lexicon import detect_language
from moot.runtime.understanding.rules.understand import analyse

# The documented fields; the others of an analysis are for the flows only.
_SHOWN = ("normalized_intent", "task_relation", "context_dependency", "suggested_route", "assessment")


class Message(Struct, frozen=True, kw_only=True):
    content: str
    role: str = "user"  # `assistant` and the like are agents
    timestamp: str = ""


class Task(Struct, frozen=True, kw_only=True):
    """As a plan holds it; only what people may refer to is read. A number as id counts as its decimal string."""

    id: str | int
    title: str = ""
    status: str = ""


class Context(Struct, frozen=True, kw_only=True):
    goal: str = ""
    workflow_status: WorkflowStatus = "idle"
    recent_history: tuple[Message | str, ...] = ()
    tasks: tuple[Task, ...] = ()


class Question(Struct, frozen=True, kw_only=True):
    """`input` is understood; `analysis` is taken as it is, and understanding is skipped."""

    input: str | None = None
    analysis: Any = None
    context: Context = Context()
    lang: Language | None = None


def route(question: Question) -> dict[str, Any]:
    context = question.context
    if question.analysis is not None:
        analysis = read_analysis(question.analysis)
        text = analysis.normalized_intent.goal or analysis.task_relation.reasoning or context.goal
        language = question.lang or detect_language(text)
    elif question.input is not None:
        language = question.lang or detect_language(question.input)
        semantic_input = _read_input(question.input, context, language)
        analysis = read_explicit(semantic_input) or analyse(semantic_input)
    else:
        raise MootError("a line needs input or analysis: {input: text, context: {}} or {analysis: {}, context: {}}")
    decision = decide_route(analysis, context.workflow_status, language)
    analysis_fields, decision_fields = msgspec.to_builtins(analysis), msgspec.to_builtins(decision)
    del decision_fields["message_code"]  # not part of the documented answer
    return {"analysis": {name: analysis_fields[name] for name in _SHOWN}, "decision": decision_fields}


def _read_input(text: str, context: Context, language: Language) -> SemanticInput:
    return SemanticInput(
        raw_input=clean(text),
        system_state=SystemState(
            workflow_status=context.workflow_status,
            current_task=CurrentTask(goal=context.goal) if context.goal else None,
        ),
        recent_history=tuple(_read_message(message) for message in context.recent_history),
        tasks=tuple(KnownTask(id=str(task.id), title=task.title, status=task.status) for task in context.tasks),
        language=language,
    )


def _read_message(message: Message | str) -> Said:
    if isinstance(message, str):
        return Said(role="user", content=message)
    return Said(role="user" if message.role in ("user", "human") else "agent", content=message.content)
