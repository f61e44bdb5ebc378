"""One run of a model: from what it is told to its answer, with its tools, its pauses and what it cost.

Imported when a model is first used.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, Literal, TypeVar, cast

from msgspec import Struct
from pydantic_ai import Agent, AgentRetries, NativeOutput, StructuredDict, TextOutput, ToolOutput
from pydantic_ai.agent import AgentRunEvents
from pydantic_ai.exceptions import ModelRetry, UserError
from pydantic_ai.messages import AgentStreamEvent, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResult, AgentRunResultEvent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage

from moot.agents.context import Context
from moot.agents.llm.answers import Json, Shape
from moot.agents.llm.failures import explain
from moot.agents.llm.models import ModelAddress
from moot.agents.llm.scribe import Scribe
from moot.agents.llm.words import say
from moot.core.errors import AgentError
from moot.core.team import Language
from moot.core.usage import Usage
from moot.runtime.ports import Clock, Output, Result, Step

ASK_AGAIN = 2
OutputMode = Literal["text", "native", "tool"]
T = TypeVar("T")


class Patience(Struct, frozen=True):
    """How long a model may say nothing: before its first word, and after it."""

    start_s: float
    idle_s: float


def make_agent(
    model: "Model[Any]", shape: Shape | None, mode: OutputMode, settings: Json, tools: Sequence[AbstractToolset[None]]
) -> Agent[None, Any]:
    """`shape` is what the answer must look like, where it is no free text."""
    agent: Agent[None, Any] = Agent(
        model,
        output_type=str if shape is None else _output_of(shape, mode),
        model_settings=cast("ModelSettings", settings),  # who takes them checks them
        retries=AgentRetries(tools=ASK_AGAIN, output=ASK_AGAIN),
        toolsets=tools,
        name="moot",
    )
    if shape is not None and mode != "text":

        @agent.output_validator
        def check(found: Json) -> Json:
            return _or_again(shape.check, found)

    return agent


def _output_of(shape: Shape, mode: OutputMode) -> Any:
    def read(said: str) -> Json:
        return _or_again(shape.read, said)

    match mode:
        case "text":
            return TextOutput(read)
        case "native":
            return NativeOutput(StructuredDict(shape.schema, name=shape.result))
        case "tool":
            return ToolOutput(StructuredDict(shape.schema), name=shape.result)


def _or_again(check: Callable[[T], Json], said: T) -> Json:
    try:
        found = check(said)
    except ValueError as error:
        raise ModelRetry(f"The answer cannot be used: {error}. Answer again with the JSON object only.") from None
    return found


class Talk:
    """Yields what the model says, last its result. AgentError when there is none; what it cost is in both."""

    def __init__(
        self,
        agent: Agent[None, Any],
        address: ModelAddress,
        shape: Shape | None,
        patience: Patience,
        clock: Clock,
        language: Language,
    ) -> None:
        self._agent = agent
        self._address = address
        self._shape = shape
        self._patience = patience
        self._clock = clock
        self._language = language
        self._scribe = Scribe(language)
        self._events: AgentRunEvents[Any] | None = None

    @property
    def has_said(self) -> bool:
        """Anything that others have seen: then it cannot be begun again as if nothing had happened."""
        return self._scribe.has_said

    @property
    def usage(self) -> Usage:
        """So far; cost where the library knows the model's price."""
        try:
            spent = self._events.usage if self._events else RunUsage()
        except UserError:  # not begun
            return Usage()
        cost_usd = float(spent.cost or 0)
        return Usage(input_tokens=spent.input_tokens, output_tokens=spent.output_tokens, cost_usd=cost_usd)

    async def outputs(self, context: Context) -> AsyncGenerator[Output, None]:
        scribe = self._scribe
        try:
            async with self._open(context) as events, aclosing(self._wait_for_each(events)) as coming:
                async for event in coming:
                    if isinstance(event, AgentRunResultEvent):
                        yield self._result(event.result)
                        return
                    for output in scribe.read(event):
                        yield output
                    if scribe.is_too_long:
                        yield Result(text=scribe.text, usage=self.usage)  # who logs it cuts it, and says so
                        return
        except Exception as error:
            failure = explain(error, self._address)
            failure.usage = self.usage
            if scribe.text:
                yield Step(observation=say("incomplete", self._language, text=scribe.text))
            raise failure from None

    @asynccontextmanager
    async def _open(self, context: Context) -> AsyncIterator[AgentRunEvents[Any]]:
        """Leaving it ends the request, the connection and the tools' servers."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._agent)
            run = self._agent.run_stream_events(context.prompt, instructions=context.system)
            self._events = await stack.enter_async_context(run)
            yield self._events

    async def _wait_for_each(
        self, events: AgentRunEvents[Any]
    ) -> AsyncGenerator[AgentStreamEvent | AgentRunResultEvent[Any], None]:
        """Each event as it comes. While tools are at work the model may be silent."""
        scribe = self._scribe
        while True:
            limit_s = self._patience.idle_s if scribe.has_said else self._patience.start_s
            try:
                async with self._limit(None if scribe.waits_for_tools else limit_s):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise AgentError("timeout", f"{self._address.name} said nothing for {limit_s:g} s") from None
            yield event

    @asynccontextmanager
    async def _limit(self, limit_s: float | None) -> AsyncIterator[None]:
        """Like asyncio.timeout, by the clock that tests move."""
        async with asyncio.timeout(None) as scope:
            loop = asyncio.get_running_loop()
            timer = None
            if limit_s is not None:
                timer = self._clock.call_later(limit_s, lambda: scope.reschedule(loop.time()))
            try:
                yield
            finally:
                if timer:
                    timer.cancel()

    def _result(self, result: AgentRunResult[Any]) -> Result:
        end = _end_of(result.response)
        if end == "content_filter":
            raise AgentError("refused", f"{self._address.name} refused to go on")
        if end is None:
            raise AgentError("network", f"{self._address.name}: the stream ended before the answer did")
        if self._shape is not None:
            return Result(usage=self.usage, **{self._shape.result: self._shape.pick(result.output)})
        said: str = result.output
        text = f"{said}\n\n{say('cut', self._language)}" if end == "length" else said
        return Result(text=text, usage=self.usage)


def _end_of(last: ModelResponse) -> str | None:
    """Why the model stopped; None when its stream ended without a word about it.

    Of OpenAI's chat the library takes a missing reason for a stop: then only what else is missing tells.
    """
    is_told = "finish_reason" in (last.provider_details or {}) or last.usage.has_values()
    return last.finish_reason if is_told else None
