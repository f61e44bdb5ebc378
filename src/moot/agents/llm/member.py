"""`llm`: a member that is played by a model behind an API."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from moot.agents.context import build_context
from moot.agents.llm.answers import SHAPES
from moot.agents.llm.models import ModelAddress, open_model
from moot.agents.llm.words import say
from moot.config.agent_specs import LlmAgent
from moot.core.errors import AgentError
from moot.core.turns import Job, TurnInput
from moot.core.usage import Usage, add_usage
from moot.runtime import telemetry
from moot.runtime.ports import Clock, Output, Result, Step

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from moot.agents.llm.talk import Talk

RETRYABLE = ("rate_limit", "network", "agent")
TRIES = 3
BASE_DELAY_S, CAP_S = 1.0, 60.0


class LlmMember:
    """Makes the library's agent when it is first needed, one for each kind of job.

    `prompts` are the team's own, by phase; `folder` is where the programs of its tools run.
    """

    def __init__(
        self,
        spec: LlmAgent,
        clock: Clock,
        instructions: str = "",
        prompts: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._spec = spec
        self._folder = folder
        self._clock = clock
        self._instructions = instructions
        self._prompts = prompts or {}
        self._address = ModelAddress(name=spec.model, base_url=spec.base_url, key=spec.key)
        self._agents: dict[Job, Agent[None, Any]] = {}

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        context = build_context(turn, self._instructions, prompts=self._prompts)
        spent = Usage()
        for attempt in count(1):
            talk = await self._begin(turn)
            try:
                async with aclosing(talk.outputs(context)) as outputs:
                    async for output in outputs:
                        yield _with_usage(output, spent)
            except AgentError as failure:
                spent = failure.usage = add_usage(spent, failure.usage)
                delay_s = self._delay_s(failure, attempt)
                if turn.job != "chat" or talk.has_said or delay_s is None:
                    raise
                problem = str(failure)
            else:
                return
            yield Step(observation=say("wait", turn.language, problem=problem, delay_s=delay_s))
            await self._clock.sleep(delay_s)

    def _delay_s(self, failure: AgentError, attempt: int) -> float | None:
        """Before the next attempt; None when there is none. Only chat needs it: plans have rules of their own."""
        delay_s = max(failure.retry_after_s, BASE_DELAY_S * 2 ** (attempt - 1))
        has_hope = failure.error_type in RETRYABLE and attempt < TRIES and delay_s <= CAP_S
        return delay_s if has_hope else None

    async def _begin(self, turn: TurnInput) -> "Talk":
        if turn.job not in self._agents:
            # the library takes a second to load, which other sessions should not have to wait for
            self._agents[turn.job] = await asyncio.to_thread(self._make_agent, turn.job)
        from moot.agents.llm.talk import Patience, Talk

        patience = Patience(self._spec.start_timeout_s, self._spec.idle_timeout_s)
        agent = self._agents[turn.job]
        return Talk(agent, self._address, SHAPES.get(turn.job), patience, self._clock, turn.language)

    def _make_agent(self, job: Job) -> "Agent[None, Any]":
        spec = self._spec
        model = open_model(self._address)  # first: it says when the library is not there
        if telemetry.is_on():
            from moot.agents.llm.traced import TracedModel

            model = TracedModel(model)
        from moot.agents.llm.once import AskedOnce
        from moot.agents.llm.talk import make_agent
        from moot.agents.llm.tools import open_tools

        longest_s = max(spec.start_timeout_s, spec.idle_timeout_s)
        # Retrying is for us, not for the library: we say what we do, and never say a text twice.
        settings = {"timeout": longest_s + 10, **spec.settings, "max_retries": 0}
        return make_agent(AskedOnce(model), SHAPES.get(job), spec.output, settings, open_tools(spec, self._folder))


def _with_usage(output: Output, spent: Usage) -> Output:
    """What earlier attempts cost counts too."""
    return replace(output, usage=add_usage(spent, output.usage)) if isinstance(output, Result) else output
