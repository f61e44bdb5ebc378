"""Members that stream: one sixty words, fifty a second; one a thought that lasts until somebody lets it end."""

import asyncio
from collections.abc import AsyncIterator

from moot.core.turns import TurnInput
from moot.runtime.ports import Ask, Output, Step, Thinking

WORDS = [f"word{number}" for number in range(60)]


async def recite(turn: TurnInput) -> AsyncIterator[str]:
    for word in WORDS:
        await asyncio.sleep(0.02)
        yield f"{word} "


async def think(turn: TurnInput, ask: Ask) -> AsyncIterator[Output | str]:
    thought = "Two numbers.\nTwo and two, <b>then</b>"
    yield Thinking(thought[:20])
    yield Thinking(thought[20:])
    await ask("Go on?")
    yield Step(thought=thought)
    yield "Four."
