"""`llm`: asks a model for an analysis. If it gives no valid one, `rules` answers and `fallback_reason` says why."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any

import msgspec

from moot.core.errors import AgentError
from moot.core.intake.intent import IntentAnalysis, SemanticInput, TaskRelationAssessment
from moot.core.intake.intent_routing import ACTIVE, is_sound
from moot.core.json_text import find_object
from moot.core.session.attachments import HandedFile
from moot.core.session.usage import NO_USAGE, Usage, add_usage
from moot.core.template import fill
from moot.core.texts import render
from moot.runtime.ports import Result, Understood
from moot.runtime.understanding.analysis_reader import read_analysis
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.rules.assessment import assess
from moot.runtime.understanding.rules.similarity import measure_overlap, read_context
from moot.runtime.understanding.rules.understand import analyse

# prompt, JSON Schema and pictures in, text and what it cost out; raises AgentError
CompleteJson = Callable[[str, dict[str, Any], tuple[HandedFile, ...]], Awaitable[Result]]

TIMEOUT_S = 20.0  # a person is waiting
HISTORY_MESSAGES, MESSAGE_CHARS, INPUT_CHARS = 12, 1_000, 12_000
PROBLEM_CHARS = 300
SCHEMA: dict[str, Any] = msgspec.json.schema(IntentAnalysis)
_AGAIN = "\n\nYour last answer could not be used: {problem}\nAnswer again with the JSON object only.\n"


class LlmUnderstander:
    """Asks a model, twice if its first answer is invalid.

    Args:
        complete: asks the model for text that fits a JSON Schema.
        template: the prompt of the understanding phase (see docs/agents.md#prompts).
        timeout_s: for both attempts together.
    """

    def __init__(self, complete: CompleteJson, template: str, timeout_s: float = TIMEOUT_S) -> None:
        self._complete = complete
        self._template = template
        self._timeout_s = timeout_s

    async def understand(self, request: SemanticInput) -> Understood:
        explicit = read_explicit(request)
        if explicit:
            return Understood(analysis=explicit)
        spent: list[Usage] = []  # by each attempt
        analysis, reason = None, None
        try:
            async with asyncio.timeout(self._timeout_s):
                analysis = await self._ask(request, spent)
        except TimeoutError:
            reason = f"timeout: no answer in {self._timeout_s:g} s"
        except AgentError as error:
            spent.append(error.usage)
            reason = f"{error.error_type}: {error}"
        except ValueError as error:
            reason = f"invalid twice: {str(error)[:PROBLEM_CHARS]}"
        usage = reduce(add_usage, spent, NO_USAGE)
        return Understood(analysis=analysis or analyse(request), fallback_reason=reason, usage=usage)

    async def _ask(self, request: SemanticInput, spent: list[Usage]) -> IntentAnalysis:
        prompt = build_prompt(self._template, request)
        try:
            return await self._ask_once(prompt, request, spent)
        except ValueError as error:
            again = prompt + _AGAIN.format(problem=str(error)[:PROBLEM_CHARS])
        return await self._ask_once(again, request, spent)

    async def _ask_once(self, prompt: str, request: SemanticInput, spent: list[Usage]) -> IntentAnalysis:
        completed = await self._complete(prompt, SCHEMA, request.images)
        spent.append(completed.usage)
        return read_answer(completed.text, request)


def read_answer(text: str, request: SemanticInput) -> IntentAnalysis:
    """Find and check the analysis in a model's answer. Text around the JSON object is ignored.

    Raises:
        ValueError: with what is wrong, to be shown to the model.
    """
    raw = find_object(text, "task_relation")
    if raw is None:
        raise ValueError("no JSON object with task_relation found")
    analysis = read_analysis(raw)
    if not is_sound(analysis):
        raise ValueError("confidence must be a number from 0 to 1, and no field may contradict another")
    known = {task.id for task in request.tasks}
    patches = tuple(patch for patch in analysis.plan_patches if patch.op == "add" or patch.task_id in known)
    return msgspec.structs.replace(analysis, plan_patches=patches, assessment=_assess(analysis, request))


def _assess(analysis: IntentAnalysis, request: SemanticInput) -> TaskRelationAssessment | None:
    """Return what the model says about the work under way, or what its relation implies; None without work."""
    if request.system_state.workflow_status not in ACTIVE:
        return None
    relation = analysis.task_relation
    overlap = measure_overlap(request.raw_input, read_context(request))
    return analysis.assessment or assess(relation.type, relation.confidence, relation.reasoning, overlap)


def build_prompt(template: str, request: SemanticInput) -> str:
    """Fill the template. Text by people and agents is inserted as JSON strings: it cannot end its own quotes."""
    state = request.system_state
    values = {
        "input": _quote(request.raw_input[:INPUT_CHARS]) + _tell_images(request),
        "workflow_status": state.workflow_status,
        "goal": _quote(state.current_task.goal[:MESSAGE_CHARS] if state.current_task else ""),
        "progress": f"{state.current_task.progress:.0%}" if state.current_task else "-",
        "tasks": "\n".join(
            f"- {_quote(task.id)} {_quote(task.title[:200])} {task.status}".rstrip() for task in request.tasks[:100]
        )
        or "-",
        "history": "\n".join(
            f"{message.role}: {_quote(message.content[:MESSAGE_CHARS])}"
            for message in request.recent_history[-HISTORY_MESSAGES:]
        )
        or "-",
        "last_activity": _quote(state.last_activity) if state.last_activity else "-",
        "resources": ", ".join(_quote(name) for name in state.available_resources) or "-",
        "schema": msgspec.json.encode(SCHEMA).decode(),
        "language": render("language.name", request.language),
    }
    return fill(template, values.get)


def _tell_images(request: SemanticInput) -> str:
    names = ", ".join(_quote(image.name) for image in request.images)
    return f" ({render('understanding.images', request.language, detail=names)})" if names else ""


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()
