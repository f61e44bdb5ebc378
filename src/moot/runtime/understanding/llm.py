"""`llm`: asks a model for an analysis. If it gives no valid one, `rules` answers and `fallback_reason` says why."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from moot.core.errors import AgentError
from moot.core.intake.intent import IntentAnalysis, SemanticInput
from moot.core.intake.intent_routing import ACTIVE, is_sound
from moot.core.json_text import find_object
from moot.core.template import fill
from moot.core.texts import render
from moot.runtime.ports import Understood
from moot.runtime.understanding.analysis_reader import read_analysis
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.rules.understand import analyse

CompleteJson = Callable[[str, dict[str, Any]], Awaitable[str]]  # prompt and JSON Schema in, text out; raises AgentError

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
        try:
            async with asyncio.timeout(self._timeout_s):
                return Understood(analysis=await self._ask(request))
        except TimeoutError:
            reason = f"timeout: no answer in {self._timeout_s:g} s"
        except AgentError as error:
            reason = f"{error.error_type}: {error}"
        except ValueError as error:
            reason = f"invalid twice: {str(error)[:PROBLEM_CHARS]}"
        return Understood(analysis=analyse(request), fallback_reason=reason)

    async def _ask(self, request: SemanticInput) -> IntentAnalysis:
        prompt = build_prompt(self._template, request)
        try:
            return read_answer(await self._complete(prompt, SCHEMA), request)
        except ValueError as error:
            again = prompt + _AGAIN.format(problem=str(error)[:PROBLEM_CHARS])
        return read_answer(await self._complete(again, SCHEMA), request)


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
    is_active = request.system_state.workflow_status in ACTIVE
    return msgspec.structs.replace(
        analysis, plan_patches=patches, assessment=analysis.assessment if is_active else None
    )


def build_prompt(template: str, request: SemanticInput) -> str:
    """Fill the template. Text by people and agents is inserted as JSON strings: it cannot end its own quotes."""
    state = request.system_state
    values = {
        "input": _quote(request.raw_input[:INPUT_CHARS]),
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
        "language": render("language.english_name", request.language),
    }
    return fill(template, values.get)


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()
