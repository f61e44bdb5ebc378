"""Running a test that waits."""

import asyncio
from collections.abc import Coroutine
from typing import Any

DEADLINE_S = 180.0


def run(test: Coroutine[Any, Any, None]) -> None:
    """With a deadline: nothing here may hang."""

    async def bounded() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(bounded())
