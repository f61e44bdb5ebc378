"""Agent type `llm`: a member that is played by a model behind an API."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.agents.agent_type import AgentType, Seat
from moot.agents.answer_shapes import SHAPES
from moot.agents.context import build_context, describe_message
from moot.agents.environment import hide_secrets
from moot.agents.llm.models import ModelAddress, open_model
from moot.agents.member_tools import MemberTools
from moot.agents.output_limits import Censor, censor_error
from moot.agents.permits import Permissions, choose_permit
from moot.agents.run_environment import RunEnvironment
from moot.agents.starts import list_addresses, list_tools
from moot.config.agent_specs import AllowRules, Extra, Json, McpServer, check_servers
from moot.config.problem import Problem
from moot.config.quantities import Duration, EnvName, FunctionPath, Text
from moot.config.trust import Start
from moot.core.backoff import Backoff
from moot.core.errors import AgentError
from moot.core.flows.turns import Job, TurnInput
from moot.core.session.state import Message
from moot.core.session.usage import Usage, add_usage
from moot.core.texts import render
from moot.runtime import telemetry
from moot.runtime.ports import Clock, Delivery, Desk, Output, Result, Step

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from moot.agents.llm.model_run import ModelRun

RETRYABLE = ("rate_limit", "network", "agent")
TRIES = 3
RETRY = Backoff(base_s=1.0)
WITHOUT_TOOLS = ("understand", "supervise")  # jobs in which a member only says something
LONGEST_DELAY_S = 60.0  # a provider that wants us to wait longer is not waited for


class LlmAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="llm"):
    """A model behind an API. Keys come from the environment only."""

    model: Annotated[Text, Meta(description="provider:name; just a name with base_url")]
    base_url: Annotated[Text | None, Meta(description="of a server that speaks OpenAI's API, or the provider's")] = None
    key: Annotated[EnvName | None, Meta(description="variable with the key; default: the provider's usual one")] = None
    tools: Annotated[tuple[FunctionPath, ...], Meta(description="Python functions that it may call")] = ()
    mcp: Annotated[tuple[McpServer, ...], Meta(description="servers of tools")] = ()
    permissions: Annotated[
        Permissions,
        Meta(description="for tools of `mcp`: people say yes or no each time (ask), or all are allowed (all)"),
    ] = "ask"
    allow: AllowRules = ()
    settings: Annotated[Json, Meta(description="for the provider, as they are: temperature, max_tokens…")] = {}
    output: Annotated[
        Literal["text", "native", "tool"], Meta(description="how plans and reviews are asked for; text suits any model")
    ] = "text"
    own_tools: Annotated[
        bool, Meta(description="Moot's own tools, to ask people and team-mates; false for a model that calls no tools")
    ] = True
    start_timeout_s: Annotated[Duration, Meta(description="until the first word")] = 300.0
    idle_timeout_s: Annotated[Duration, Meta(description="between two pieces of a stream")] = 60.0

    extra: ClassVar[Extra] = Extra("llm", "pydantic_ai")
    traces_tools: ClassVar[bool] = True

    @property
    def address(self) -> ModelAddress:
        return ModelAddress(name=self.model, base_url=self.base_url, key=self.key)

    def starts(self, member: str) -> Iterator[Start]:
        yield from list_addresses(member, self.address)
        yield from list_tools(member, self.tools, self.mcp)

    def name_model(self) -> tuple[str, str]:
        address = self.address
        return telemetry.name_provider(address.provider), address.model

    @property
    def may_edit(self) -> bool:
        return False  # its tools do not know the tree

    def make(self, seat: Seat) -> "LlmMember":
        return LlmMember(self, seat.clock, seat.instructions, seat.prompts, seat.run_environment)

    @classmethod
    def check(cls, entry: Mapping[str, object]) -> Iterator[Problem]:
        yield from check_servers(entry)


class LlmMember:
    """Plays turns with a model.

    Args:
        prompts: the team's own templates, by phase.
        run_environment: where and how the programs of its tools run.
    """

    def __init__(
        self,
        spec: LlmAgent,
        clock: Clock,
        instructions: str = "",
        prompts: Mapping[str, str] | None = None,
        run_environment: RunEnvironment | None = None,
    ) -> None:
        self._spec = spec
        self._run_environment = run_environment or RunEnvironment()
        self._clock = clock
        self._instructions = instructions
        self._prompts = prompts or {}
        self._address = spec.address
        self._agents: dict[Job, Agent[Any, Any]] = {}
        self._incoming: dict[tuple[str, str], list[str]] = {}  # by session and turn: what people write to it meanwhile

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self._act(turn, None, None)

    def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        has_tools = self._spec.own_tools and turn.job not in WITHOUT_TOOLS
        own = self._run_environment
        tools = MemberTools(turn, desk, own.folder, own.sandbox.hidden) if has_tools else None
        return self._act(turn, tools, desk)

    async def steer(self, turn: TurnInput, message: Message) -> Delivery | None:
        """Keep a message for the next request to the model: after a round of tools, or after its answer."""
        incoming = self._incoming.get((turn.session_id, turn.turn_id))
        if incoming is None or turn.job in SHAPES:
            return None
        incoming.append(describe_message(turn, message))
        return "boundary"

    async def _act(self, turn: TurnInput, tools: MemberTools | None, desk: Desk | None) -> AsyncGenerator[Output, None]:
        """Play a turn. Secrets of this process, its own key among them, are removed from what it says."""
        key, censor = (turn.session_id, turn.turn_id), Censor(os.environ)
        self._incoming[key] = []
        try:
            async with aclosing(self._play(turn, tools, self._incoming[key], desk)) as outputs:
                async for output in outputs:
                    for safe in censor.admit(output):
                        yield safe
        except AgentError as error:
            raise censor_error(error, os.environ) from None
        finally:
            del self._incoming[key]

    async def _play(
        self, turn: TurnInput, tools: MemberTools | None, incoming: list[str], desk: Desk | None
    ) -> AsyncGenerator[Output, None]:
        spend = desk.spend if desk else _ignore
        context = build_context(turn, self._instructions, prompts=self._prompts, sees=self._address.sees)
        spent = Usage()
        for attempt in count(1):
            run = await self._begin(turn, tools, incoming, desk)
            try:
                async with aclosing(run.outputs(context)) as outputs:
                    async for output in outputs:
                        yield _with_usage(output, spent)
            except AgentError as failure:
                spent = failure.usage = add_usage(spent, failure.usage)
                delay_s = self._delay_s(failure, attempt)
                if not turn.is_conversation or run.has_shown_output or delay_s is None:
                    raise
                problem = str(failure)
                spend(spent)
            except (asyncio.CancelledError, GeneratorExit):
                spend(add_usage(spent, run.usage))
                raise
            else:
                return
            yield Step(observation=render("llm.wait", turn.language, problem=problem, delay_s=delay_s))
            await self._clock.sleep(delay_s)

    def _delay_s(self, failure: AgentError, attempt: int) -> float | None:
        """Return the delay before the next attempt, None if there is none. Plans have their own retries."""
        delay_s = max(failure.retry_after_s, RETRY.delay(attempt))
        has_hope = failure.error_type in RETRYABLE and attempt < TRIES and delay_s <= LONGEST_DELAY_S
        return delay_s if has_hope else None

    async def _begin(
        self, turn: TurnInput, tools: MemberTools | None, incoming: list[str], desk: Desk | None
    ) -> "ModelRun":
        if turn.job not in self._agents:
            # In a thread: importing the library takes a second, which would block all sessions.
            self._agents[turn.job] = await asyncio.to_thread(self._make_agent, turn.job)
        from moot.agents.llm.model_run import ModelRun, SilenceLimits

        spec, agent = self._spec, self._agents[turn.job]
        limits = SilenceLimits(spec.start_timeout_s, spec.idle_timeout_s)
        hide = partial(hide_secrets, environment=os.environ)
        permit = choose_permit(spec.permissions, spec.allow, desk, turn.language, turn.grants, hide)
        shape = SHAPES.get(turn.job)
        return ModelRun(agent, self._address, shape, limits, self._clock, turn.language, tools, incoming, permit)

    def _make_agent(self, job: Job) -> "Agent[Any, Any]":
        spec = self._spec
        model = open_model(self._address)  # first: it reports a missing library
        if telemetry.is_on():
            from moot.agents.llm.traced import TracedModel

            model = TracedModel(model)
        from moot.agents.llm.model_run import make_agent
        from moot.agents.llm.model_tools import open_tools
        from moot.agents.llm.no_stream_retry import NoStreamRetry

        longest_s = max(spec.start_timeout_s, spec.idle_timeout_s)
        # The library must not retry: it would do so silently and might repeat text that was already shown.
        settings = {"timeout": longest_s + 10, **spec.settings, "max_retries": 0}
        tools = open_tools(spec.tools, spec.mcp, self._run_environment)
        return make_agent(NoStreamRetry(model), SHAPES.get(job), spec.output, settings, tools)


def _ignore(_: Usage) -> None:
    """Drop the usage of a turn that is stopped: without a desk it cannot be reported."""


def _with_usage(output: Output, spent: Usage) -> Output:
    """Add the usage of earlier attempts to a result."""
    return replace(output, usage=add_usage(spent, output.usage)) if isinstance(output, Result) else output
