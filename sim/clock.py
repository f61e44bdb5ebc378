"""The Clock port on virtual time. The wall clock may jump; the monotonic clock does not."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from moot.runtime.clock import format_time
from sim.loop import SimLoop

START = datetime(2026, 1, 1, tzinfo=UTC)


class SimClock:
    """Implements the Clock port for one life of the server."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> str:
        timeline = self._loop.timeline
        return format_time(START + timedelta(seconds=timeline.now_s + timeline.wall_offset_s))

    def monotonic(self) -> float:
        return self._loop.time()

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
