"""`llm`: structured output from a model; what it cannot say, `rules` says, and `fallback_reason` tells why."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from moot.core.errors import AgentError
from moot.core.intent import IntentAnalysis, SemanticInput
from moot.core.intent_routing import ACTIVE, is_sound
from moot.core.json_text import find_object
from moot.runtime.ports import Understood
from moot.runtime.understanding.explicit import read_explicit
from moot.runtime.understanding.given import read_analysis
from moot.runtime.understanding.rules.understand import analyse

CompleteJson = Callable[[str, dict[str, Any]], Awaitable[str]]  # prompt and JSON Schema in, text out; raises AgentError

TIMEOUT_S = 20.0  # for both attempts together: a person waits
HISTORY_MESSAGES, MESSAGE_CHARS, INPUT_CHARS = 12, 1_000, 12_000
PROBLEM_CHARS = 300
SCHEMA: dict[str, Any] = msgspec.json.schema(IntentAnalysis)
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_AGAIN = "\n\nYour last answer could not be used: {problem}\nAnswer again with the JSON object only.\n"


class LlmUnderstander:
    """`template` is the prompt of the understanding phase; `complete` asks the model."""

    def __init__(self, complete: CompleteJson, template: str, timeout_s: float = TIMEOUT_S) -> None:
        self._complete = complete
        self._template = template
        self._timeout_s = timeout_s

    async def understand(self, given: SemanticInput) -> Understood:
        found = read_explicit(given)
        if found:
            return Understood(analysis=found)
        try:
            async with asyncio.timeout(self._timeout_s):
                return Understood(analysis=await self._ask(given))
        except TimeoutError:
            reason = f"timeout: no answer in {self._timeout_s:g} s"
        except AgentError as error:
            reason = f"{error.error_type}: {error}"
        except ValueError as error:
            reason = f"invalid twice: {str(error)[:PROBLEM_CHARS]}"
        return Understood(analysis=analyse(given), fallback_reason=reason)

    async def _ask(self, given: SemanticInput) -> IntentAnalysis:
        prompt = build_prompt(self._template, given)
        try:
            return read_answer(await self._complete(prompt, SCHEMA), given)
        except ValueError as error:
            again = prompt + _AGAIN.format(problem=str(error)[:PROBLEM_CHARS])
        return read_answer(await self._complete(again, SCHEMA), given)


def read_answer(text: str, given: SemanticInput) -> IntentAnalysis:
    """A model's answer, checked; ValueError says what is wrong with it. Prose around the object is forgiven."""
    raw = find_object(text, "task_relation")
    if raw is None:
        raise ValueError("no JSON object with task_relation found")
    analysis = read_analysis(raw)
    if not is_sound(analysis):
        raise ValueError("confidence must be a number from 0 to 1, and no field may contradict another")
    known = {task.id for task in given.tasks}
    patches = tuple(each for each in analysis.plan_patches if each.op == "add" or each.task_id in known)
    is_active = given.system_state.workflow_status in ACTIVE
    return msgspec.structs.replace(
        analysis, plan_patches=patches, assessment=analysis.assessment if is_active else None
    )


def build_prompt(template: str, given: SemanticInput) -> str:
    """What people and agents wrote goes in as JSON strings: it cannot end its own quotes."""
    state = given.system_state
    values = {
        "input": _quote(given.raw_input[:INPUT_CHARS]),
        "workflow_status": state.workflow_status,
        "goal": _quote(state.current_task.goal[:MESSAGE_CHARS] if state.current_task else ""),
        "progress": f"{state.current_task.progress:.0%}" if state.current_task else "-",
        "tasks": "\n".join(
            f"- {_quote(task.id)} {_quote(task.title[:200])} {task.status}".rstrip() for task in given.tasks[:100]
        )
        or "-",
        "history": "\n".join(
            f"{said.role}: {_quote(said.content[:MESSAGE_CHARS])}" for said in given.recent_history[-HISTORY_MESSAGES:]
        )
        or "-",
        "schema": msgspec.json.encode(SCHEMA).decode(),
        "language": {"zh": "Chinese", "en": "English"}[given.language],
    }
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()
