"""Converts the library's stream events to outputs of a turn."""

from collections.abc import Iterator
from typing import Any

from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelResponsePart,
    ModelResponsePartDelta,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    RetryPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
)

from moot.agents.tool_steps import ToolSteps, find_tool
from moot.core import limits
from moot.core.session.team import Language
from moot.core.texts import render
from moot.runtime.ports import Delta, Step, Thinking

CALL_CHARS = 2_000


class StreamReader:
    """Collects the text of the current response. Text before a tool call becomes a step."""

    def __init__(self, language: Language, *, has_shown_output: bool = False) -> None:
        self._language = language
        self._written: list[str] = []
        self._length = 0
        self._calls: set[str] = set()
        self._has_called = False
        self._steps = ToolSteps()
        self.has_shown_output = has_shown_output

    @property
    def text(self) -> str:
        """The text of the newest response so far."""
        return "".join(self._written)

    @property
    def is_too_long(self) -> bool:
        return self._length > limits.OUTPUT_CHARS

    @property
    def waits_for_tools(self) -> bool:
        return bool(self._calls)

    def read(self, event: AgentStreamEvent) -> Iterator[Delta | Thinking | Step]:
        """Return the outputs of an event. Pieces of thoughts do not count as shown: they are not logged."""
        for output in self._read(event):
            self.has_shown_output = self.has_shown_output or not isinstance(output, Thinking)
            yield output

    def _read(self, event: AgentStreamEvent) -> Iterator[Delta | Thinking | Step]:
        match event:
            case PartStartEvent(index=index, part=part):
                if index == 0:
                    yield from self._begin_response()
                yield from self._write(part)
            case PartDeltaEvent(delta=delta):
                yield from self._write(delta)
            case PartEndEvent(part=ThinkingPart(content=thought)) if thought:
                yield Step(thought=thought)
            case FunctionToolCallEvent(part=part):
                yield from self._begin_call(part)
            case FunctionToolResultEvent(part=part):
                self._calls.discard(part.tool_call_id)
                yield self._end_call(part)
            case _:
                pass

    def _begin_response(self) -> Iterator[Step]:
        """Start a new response. If no tool was called, the last one was rejected and the model answers again."""
        if self._written and not self._has_called:
            yield Step(observation=render("llm.again", self._language))
        self._written, self._length, self._has_called = [], 0, False

    def _begin_call(self, part: ToolCallPart) -> Iterator[Step]:
        if self._written and not self._has_called:
            yield Step(thought=self.text)
        self._has_called = True
        self._calls.add(part.tool_call_id)
        found = find_tool(part.tool_call_id, part.tool_name, part.args_as_dict() if part.args else {})
        yield self._steps.begin(found, Step(action=f"{part.tool_name}({_show(part.args)})"))

    def _end_call(self, part: ToolReturnPart | RetryPromptPart) -> Step:
        if isinstance(part, RetryPromptPart):
            result, failed = part.model_response(), True
        else:
            result, failed = part.model_response_str(), part.outcome != "success"
        said = Step(observation=f"{part.tool_name} → {result}")
        return self._steps.end(part.tool_call_id, said, failed=failed)

    def _write(self, piece: ModelResponsePart | ModelResponsePartDelta) -> Iterator[Delta | Thinking]:
        match piece:
            case TextPart(content=text) | TextPartDelta(content_delta=text) if text:
                self._written.append(text)
                self._length += len(text)
                yield Delta(text)
            case ThinkingPart(content=thought) | ThinkingPartDelta(content_delta=thought) if thought:
                yield Thinking(thought)
            case _:
                pass


def _show(arguments: Any) -> str:
    match arguments:
        case None:
            return ""
        case str():
            return arguments[:CALL_CHARS]
        case dict():
            return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:CALL_CHARS]
        case _:
            return repr(arguments)[:CALL_CHARS]
