"""The real clock."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

from moot.runtime.ports import Handle

SHARED_FROM_S = 1.0  # delays from here on share a timer


class Deadlines:
    """Long delays with one timer of the loop for all of them.

    Every turn has a deadline, and nearly all are cancelled long before they are due. Adding and cancelling one is an
    entry in a dict; a timer of the loop for each of them costs 5 µs more per turn, of about 85 (bench/turns.py).
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._pending: dict[_Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None  # for the first that was due when it was set

    def add(self, delay_s: float, callback: Callable[[], object]) -> "_Deadline":
        deadline = _Deadline(self.loop.time() + delay_s, callback, self._pending)
        self._pending[deadline] = None
        if self._timer is None or deadline.due < self._timer.when():
            self._set_timer(deadline.due)
        return deadline

    def _set_timer(self, due: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_at(due, self._fire)

    def _fire(self) -> None:
        """Call those that are due. The one that the timer was set for may be cancelled by now."""
        self._timer = None
        now, later = self.loop.time(), float("inf")
        for deadline in self._pending:
            if deadline.due <= now:
                self.loop.call_soon(deadline.fire)
            else:
                later = min(later, deadline.due)
        if later < float("inf"):
            self._set_timer(later)


class _Deadline(Struct, eq=False):
    due: float
    _callback: Callable[[], object]
    _pending: "dict[_Deadline, None]"

    def cancel(self) -> None:
        self._pending.pop(self, None)

    def fire(self) -> None:
        if self in self._pending:  # not cancelled meanwhile
            self.cancel()
            self._callback()


class SystemClock:
    """Timestamps from the wall clock, delays from the monotonic clock.

    Nodes that share a store set `offset`, so that all of them have the store's time, whatever their own clocks say.
    """

    def __init__(self) -> None:
        self.offset: Callable[[], float] | None = None  # seconds that the wall clock is behind
        self._deadlines: Deadlines | None = None

    def now(self) -> str:
        now_ms = time.time_ns() // 1_000_000
        if self.offset is not None:
            now_ms += round(self.offset() * 1_000)
        seconds, milliseconds = divmod(now_ms, 1_000)
        return f"{_format_second(seconds)}{milliseconds:03d}Z"

    def monotonic(self) -> float:
        return time.monotonic()

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Handle:
        loop = asyncio.get_running_loop()
        if delay_s < SHARED_FROM_S:
            return loop.call_later(delay_s, callback)
        if self._deadlines is None or self._deadlines.loop is not loop:
            self._deadlines = Deadlines(loop)
        return self._deadlines.add(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


def boottime() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@lru_cache(maxsize=2)
def _format_second(seconds: int) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC))[:-4]


def format_time(moment: datetime) -> str:
    """Format a UTC time as RFC 3339 with milliseconds and `Z`; such texts sort by time."""
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"


def seconds_between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
