"""Tells members which tools Moot runs for them between their turns, in flows that have such tools."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from msgspec.structs import replace

from moot.core.flows.turns import TurnInput
from moot.core.session.state import Message
from moot.runtime.ports import Agent, Ask, Delivery, Output


class WithTools:
    """Wraps an agent and adds the descriptions of its tools to each turn that may call one.

    Agents that only write text call a tool by writing JSON.

    Args:
        describe: returns one line for each tool.
    """

    def __init__(self, agent: Agent, describe: Callable[[], Awaitable[tuple[str, ...]]]) -> None:
        self._agent = agent
        self._describe = describe

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self._act(turn, self._agent.act)

    def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        asking: Callable[[TurnInput, Ask], AsyncGenerator[Output, None]] | None
        asking = getattr(self._agent, "act_asking", None)
        return self._act(turn, lambda equipped: asking(equipped, ask) if asking else self._agent.act(equipped))

    async def steer(self, turn: TurnInput, message: Message) -> Delivery | None:
        steer: Callable[[TurnInput, Message], Awaitable[Delivery | None]] | None = getattr(self._agent, "steer", None)
        return await steer(turn, message) if steer else None

    async def _act(
        self, turn: TurnInput, play: Callable[[TurnInput], AsyncGenerator[Output, None]]
    ) -> AsyncGenerator[Output, None]:
        if turn.brief is not None and turn.brief.may_call:
            turn = replace(turn, brief=replace(turn.brief, tools=await self._describe()))
        async with aclosing(play(turn)) as outputs:
            async for output in outputs:
                yield output
