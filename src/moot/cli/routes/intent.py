"""`moot route intent`: what the front door would make of an input, always by `rules`."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.errors import MootError
from moot.core.intent import CurrentTask, KnownTask, Said, SemanticInput, SystemState, WorkflowStatus
from moot.core.intent_routing import decide_route
from moot.core.team import Language
from moot.core.text import clean
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.given import read_analysis
from moot.runtime.understanding.rules.understand import analyse
from moot.runtime.understanding.rules.words import is_chinese

# The fields of the contract; what else an analysis holds is for the flows.
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
    lang: Literal["zh", "en"] | None = None


def route(question: Question) -> dict[str, Any]:
    context = question.context
    if question.analysis is not None:
        analysis = read_analysis(question.analysis)
        said = analysis.normalized_intent.goal or analysis.task_relation.reasoning or context.goal
        language = question.lang or _language(said)
    elif question.input is not None:
        language = question.lang or _language(question.input)
        given = _given(question.input, context, language)
        analysis = read_explicit(given) or analyse(given)
    else:
        raise MootError("a line needs input or analysis: {input: text, context: {}} or {analysis: {}, context: {}}")
    decision = decide_route(analysis, context.workflow_status, language)
    shown = msgspec.to_builtins(analysis)
    return {"analysis": {name: shown[name] for name in _SHOWN}, "decision": msgspec.to_builtins(decision)}


def _language(text: str) -> Language:
    return "zh" if is_chinese(text) else "en"


def _given(text: str, context: Context, language: Language) -> SemanticInput:
    return SemanticInput(
        raw_input=clean(text),
        system_state=SystemState(
            workflow_status=context.workflow_status,
            current_task=CurrentTask(goal=context.goal) if context.goal else None,
        ),
        recent_history=tuple(_said(each) for each in context.recent_history),
        tasks=tuple(KnownTask(id=str(task.id), title=task.title, status=task.status) for task in context.tasks),
        language=language,
    )


def _said(message: Message | str) -> Said:
    if isinstance(message, str):
        return Said(role="user", content=message)
    return Said(role="user" if message.role in ("user", "human") else "agent", content=message.content)
