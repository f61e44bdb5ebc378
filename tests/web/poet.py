"""A member that streams: sixty words, fifty a second."""

import asyncio
from collections.abc import AsyncIterator

from moot.core.turns import TurnInput

WORDS = [f"word{number}" for number in range(60)]


async def recite(turn: TurnInput) -> AsyncIterator[str]:
    for word in WORDS:
        await asyncio.sleep(0.02)
        yield f"{word} "
