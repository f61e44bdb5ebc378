"""Times that a session waits for: deadlines of questions, and when a parked turn goes on."""

from collections.abc import Callable

from moot.core import limits
from moot.core.effects import StepDeadline
from moot.runtime.clock import seconds_between
from moot.runtime.ports import Clock, Handle

REOPENED_S = 60.0  # that a question stays open at least after a restart, unless its whole time is shorter


def find_time_left(deadline: StepDeadline, now: str) -> float:
    """Return how long a question stays open from now on, when it is asked or its session is opened again.

    The wall clock may have jumped while no server ran, so it counts only within bounds (docs/decisions/030-time.md).
    """
    left_s = seconds_between(now, deadline.at)
    whole_s = left_s if deadline.timeout_s is None else deadline.timeout_s
    return max(min(left_s, whole_s), min(REOPENED_S, whole_s), 0.0)


class Alarm:
    """Calls back when the wall clock shows a time. It looks again and again: the clock may jump, the machine sleep."""

    def __init__(self, clock: Clock, at: str, callback: Callable[[], object]) -> None:
        self._clock = clock
        self._at = at
        self._callback = callback
        self._timer = self._look()

    def _look(self) -> Handle:
        left_s = seconds_between(self._clock.now(), self._at)
        return self._clock.call_later(min(max(left_s, 0.0), limits.PARK_LOOK_S), self._check)

    def _check(self) -> None:
        if self._clock.now() >= self._at:
            self._callback()
        else:
            self._timer = self._look()

    def cancel(self) -> None:
        self._timer.cancel()
