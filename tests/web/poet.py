"""Members that stream: one sixty words, fifty a second; a thought and a poem that last until somebody lets them end."""

import asyncio
from collections.abc import AsyncIterator

from moot.core.flows.turns import TurnInput
from moot.runtime.ports import Ask, Output, Step, Thinking

HELD_AT = 40
WORDS = [f"word{number}" for number in range(60)]


async def recite(turn: TurnInput, ask: Ask) -> AsyncIterator[str]:
    """Asked to wait, it stops at HELD_AT until somebody lets it go on: a test may take its time."""
    waits = turn.message is not None and "wait" in turn.message.text
    for number, word in enumerate(WORDS):
        if waits and number == HELD_AT:
            await ask("Go on?")
        await asyncio.sleep(0.02)
        yield f"{word} "


async def write(turn: TurnInput, ask: Ask) -> AsyncIterator[str]:
    """The beginning of a poem with a heading; the rest when somebody lets it go on."""
    yield "## A poem\n\n"
    yield "The **first** line."
    await ask("Go on?")
    yield " The last line."


async def think(turn: TurnInput, ask: Ask) -> AsyncIterator[Output | str]:
    thought = "Two numbers.\nTwo and two, <b>then</b>"
    yield Thinking(thought[:20])
    yield Thinking(thought[20:])
    await ask("Go on?")
    yield Step(thought=thought)
    yield "Four."
