"""One run of a model: from the prompt to the answer, with tool calls, timeouts and usage.

Imports pydantic_ai; to be imported when a model is first used.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from math import inf
from typing import Any, Literal, TypeVar, cast

from msgspec import Struct
from pydantic_ai import Agent, AgentRetries, BinaryContent, NativeOutput, StructuredDict, TextOutput, ToolOutput
from pydantic_ai.agent import AgentRunEvents
from pydantic_ai.exceptions import ModelRetry, UserError
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResult, AgentRunResultEvent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage

from moot.agents.answer_shapes import Json, Shape
from moot.agents.context import Context
from moot.agents.live.link import add_results
from moot.agents.live.live_member import SIGN_S
from moot.agents.llm.model_failures import explain
from moot.agents.llm.model_files import attach
from moot.agents.llm.models import ModelAddress
from moot.agents.llm.stream_reader import StreamReader
from moot.agents.llm.toolsets import Turn, member_toolset, take_incoming
from moot.agents.member_tools import MemberTools
from moot.agents.permits import PermissionRequest, Permit, number_questions, permit_by_level
from moot.core.errors import AgentError
from moot.core.session.team import Language
from moot.core.session.usage import Usage, add_usage
from moot.core.texts import render
from moot.runtime.ports import Clock, Output, Result, Step

ASK_AGAIN = 2
OutputMode = Literal["text", "native", "tool"]
T = TypeVar("T")


class SilenceLimits(Struct, frozen=True):
    """How long a model may be silent: before its first output, and after it."""

    start_s: float
    idle_s: float


def make_agent(
    model: "Model[Any]", shape: Shape | None, mode: OutputMode, settings: Json, tools: Sequence[AbstractToolset[Any]]
) -> Agent[Any, Any]:
    """Make the library's agent. `shape` is the form of the answer, None for free text."""
    agent: Agent[Any, Any] = Agent(
        model,
        output_type=str if shape is None else _output_of(shape, mode),
        model_settings=cast("ModelSettings", settings),  # checked by the provider
        retries=AgentRetries(tools=ASK_AGAIN, output=ASK_AGAIN),
        toolsets=tools,
        name="moot",
    )
    if shape is not None and mode != "text":

        @agent.output_validator
        def check(answer: Json) -> Json:
            return _check_or_retry(shape.check, answer)

    return agent


def _output_of(shape: Shape, mode: OutputMode) -> Any:
    def read(text: str) -> Json:
        return _check_or_retry(shape.read, text)

    match mode:
        case "text":
            return TextOutput(read)
        case "native":
            return NativeOutput(StructuredDict(shape.schema, name=shape.result))
        case "tool":
            return ToolOutput(StructuredDict(shape.schema), name=shape.result)


def _check_or_retry(check: Callable[[T], Json], answer: T) -> Json:
    """Check an answer; have the model answer again if it is wrong."""
    try:
        return check(answer)
    except ValueError as error:
        raise ModelRetry(f"The answer cannot be used: {error}. Answer again with the JSON object only.") from None


def make_prompt(context: Context, address: ModelAddress) -> str | list[str | BinaryContent]:
    """Return what a model is asked: the text, then the files that it can look at."""
    parts = attach(context.files, address)
    return [context.prompt, *parts] if parts else context.prompt


class ModelRun:
    """Asks a model once. Result and AgentError both carry the usage."""

    def __init__(
        self,
        agent: Agent[Any, Any],
        address: ModelAddress,
        shape: Shape | None,
        limits: SilenceLimits,
        clock: Clock,
        language: Language,
        tools: MemberTools | None = None,
        incoming: list[str] | None = None,
        permit: Permit | None = None,
    ) -> None:
        self._incoming = incoming if incoming is not None else []  # what people write to the member meanwhile
        self._permit = number_questions(permit or permit_by_level("read"))
        self._asking = 0  # questions to people that are open
        self._spent = Usage()  # by the runs before this one
        self._said: Sequence[ModelMessage] = ()
        self._agent = agent
        self._tools = tools
        self._address = address
        self._shape = shape
        self._limits = limits
        self._clock = clock
        self._language = language
        self._reader = StreamReader(language)
        self._events: AgentRunEvents[Any] | None = None

    @property
    def has_shown_output(self) -> bool:
        """Whether others have seen output: then the run cannot be repeated unnoticed."""
        return self._reader.has_shown_output

    @property
    def usage(self) -> Usage:
        """The usage so far."""
        return add_usage(self._spent, self._usage)

    @property
    def _usage(self) -> Usage:
        """Return the usage of the run under way, with the cost if the library knows the model's price."""
        try:
            spent = self._events.usage if self._events else RunUsage()
        except UserError:  # it has not started
            return Usage()
        cost_usd = float(spent.cost or 0)
        return Usage(
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=cost_usd,
            cached_tokens=spent.cache_read_tokens,
            thinking_tokens=spent.output_reasoning_tokens or 0,
        )

    async def outputs(self, context: Context) -> AsyncGenerator[Output, None]:
        """Yield the outputs of the model, the last one a Result. Raises AgentError."""
        prompt: str | list[str | BinaryContent] = make_prompt(context, self._address)
        answer: Result | None = None
        history: Sequence[ModelMessage] = ()
        try:
            while True:
                async with aclosing(self._play(context.system, prompt, history)) as outputs:
                    async for output in outputs:
                        if isinstance(output, Result):
                            answer = add_results(answer, output)
                        else:
                            yield output
                if not self._incoming or self._reader.is_too_long:
                    break
                # what people wrote after the last tool is told after the answer, in the same turn
                prompt, history, self._spent = take_incoming(self._incoming), self._said, self.usage
                self._reader = StreamReader(self._language, has_shown_output=True)
            if answer:
                yield answer
        except Exception as error:  # `explain` knows the library's errors and what a server may provoke in it
            failure = explain(error, self._address)
            failure.usage = self.usage
            if self._reader.text:
                yield Step(observation=render("llm.incomplete", self._language, text=self._reader.text))
            raise failure from None

    async def _play(
        self, instructions: str, prompt: str | list[str | BinaryContent], history: Sequence[ModelMessage]
    ) -> AsyncGenerator[Output, None]:
        """Yield the outputs of one run, the last one a Result with the usage of this run alone."""
        self._events = None
        reader = self._reader
        async with self._open(instructions, prompt, history) as events, aclosing(self._with_timeouts(events)) as timed:
            async for event in timed:
                if isinstance(event, Step):
                    yield event
                    continue
                if isinstance(event, AgentRunResultEvent):
                    self._said = event.result.all_messages()
                    yield self._result(event.result)
                    return
                for output in reader.read(event):
                    yield output
                if reader.is_too_long:
                    yield Result(text=reader.text, usage=self._usage)  # it is cut when it is logged
                    return

    @asynccontextmanager
    async def _open(
        self, instructions: str, prompt: str | list[str | BinaryContent], history: Sequence[ModelMessage]
    ) -> AsyncIterator[AgentRunEvents[Any]]:
        """Start the run. Leaving the block ends the request, the connection and the servers of tools."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._agent)
            own = [member_toolset(self._tools, self._language)] if self._tools else None
            run = self._agent.run_stream_events(
                prompt,
                instructions=instructions,
                toolsets=own,
                message_history=history,
                deps=Turn(self._incoming, self._ask),
            )
            self._events = await stack.enter_async_context(run)
            yield self._events

    async def _ask(self, request: PermissionRequest) -> bool:
        self._asking += 1
        try:
            return await self._permit(request)
        finally:
            self._asking -= 1

    async def _with_timeouts(
        self, events: AgentRunEvents[Any]
    ) -> AsyncGenerator[AgentStreamEvent | AgentRunResultEvent[Any] | Step, None]:
        """Yield the events, and a step for each minute of silence.

        Raises AgentError if the model is silent for too long while no tool runs.
        """
        reader, silent_s = self._reader, 0.0
        while True:
            answering_s = self._limits.idle_s if reader.has_shown_output else self._limits.start_s
            limit_s = inf if reader.waits_for_tools else answering_s
            wait_s = min(SIGN_S, limit_s - silent_s)
            try:
                async with self._limit(wait_s):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:  # the next event is not lost: it waits in a queue of the library
                silent_s += wait_s
                if silent_s >= limit_s:
                    raise AgentError("timeout", f"{self._address.name} said nothing for {limit_s:g} s") from None
                if not self._asking:
                    yield Step(observation=render("agent_silent", self._language, detail=f"{silent_s:.0f}"))
            else:
                silent_s = 0.0
                yield event

    @asynccontextmanager
    async def _limit(self, limit_s: float) -> AsyncIterator[None]:
        """Like asyncio.timeout, but on our clock, which tests control."""
        async with asyncio.timeout(None) as scope:
            loop = asyncio.get_running_loop()
            timer = self._clock.call_later(limit_s, lambda: scope.reschedule(loop.time()))
            try:
                yield
            finally:
                timer.cancel()

    def _result(self, result: AgentRunResult[Any]) -> Result:
        end = _end_of(result.response)
        if end == "content_filter":
            raise AgentError("refused", f"{self._address.name} refused to go on")
        if end is None:
            raise AgentError("network", f"{self._address.name}: the stream ended before the answer did")
        if self._shape is not None:
            return Result(usage=self._usage, **{self._shape.result: self._shape.pick(result.output)})
        text: str = result.output
        if end == "length":
            text = f"{text}\n\n{render('llm.cut', self._language)}"
        return Result(text=text, usage=self._usage)


def _end_of(last: ModelResponse) -> str | None:
    """Return why the model stopped, None if its stream broke off.

    For OpenAI's chat API the library reports a missing reason as "stop"; then missing usage reveals the break.
    """
    is_complete = "finish_reason" in (last.provider_details or {}) or last.usage.has_values()
    return last.finish_reason if is_complete else None
