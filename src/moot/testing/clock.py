"""A clock that only moves when a test moves it: timeouts are tested at their real values, without waiting."""

import asyncio
import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

from moot.runtime.clock import format_time

ROUNDS = 50  # iterations of the event loop after which all tasks should be waiting


class VirtualClock:
    """Implements the Clock port. `start` is the wall time at the beginning."""

    def __init__(self, start: str = "2026-01-01T00:00:00.000Z") -> None:
        self._start = datetime.fromisoformat(start).astimezone(UTC)
        self._elapsed_s = 0.0
        self._jumped_s = 0.0
        self._order = count()
        self._timers: list[tuple[float, int, _Timer]] = []

    def now(self) -> str:
        return format_time(self._start + timedelta(seconds=self._elapsed_s + self._jumped_s))

    def monotonic(self) -> float:
        return self._elapsed_s

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> "_Timer":
        timer = _Timer(callback)
        heapq.heappush(self._timers, (self._elapsed_s + delay_s, next(self._order), timer))
        return timer

    async def sleep(self, delay_s: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(delay_s, partial(woken.set_result, None))
        try:
            await woken
        finally:
            timer.cancel()

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an administrator or a suspended laptop does. No timer is due by it."""
        self._jumped_s += seconds

    async def advance(self, seconds: float) -> None:
        """Move the clock; call each timer when it is due, and let the tasks that it wakes run until they wait."""
        until = self._elapsed_s + seconds
        await rest()
        while self._timers and self._timers[0][0] <= until:
            self._elapsed_s, _, timer = heapq.heappop(self._timers)
            timer.fire()
            await rest()
        self._elapsed_s = until


class _Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback:
            callback()


async def rest() -> None:
    """Let all tasks run until they wait."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
