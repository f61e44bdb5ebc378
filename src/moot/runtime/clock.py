"""The real clock."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from moot.runtime.ports import Handle


class SystemClock:
    """Timestamps from the wall clock, delays from the monotonic clock."""

    def now(self) -> str:
        seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1_000)
        return f"{_format_second(seconds)}{milliseconds:03d}Z"

    def monotonic(self) -> float:
        return time.monotonic()

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Handle:
        return asyncio.get_running_loop().call_later(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


@lru_cache(maxsize=2)
def _format_second(seconds: int) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC))[:-4]


def format_time(moment: datetime) -> str:
    """Format a UTC time as RFC 3339 with milliseconds and `Z`; such texts sort by time."""
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"


def seconds_between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
