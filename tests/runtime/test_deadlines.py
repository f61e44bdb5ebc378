"""Long delays of the system clock share one timer of the loop."""

import asyncio
from collections.abc import Callable
from typing import cast

from moot.runtime.clock import Deadlines


class Timer:
    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due, self.callback, self.is_cancelled = due, callback, False

    def when(self) -> float:
        return self.due

    def cancel(self) -> None:
        self.is_cancelled = True


class Loop:
    """A loop whose time a test moves. `timers` are all that were ever set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []
        self._soon: list[Callable[[], object]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, due: float, callback: Callable[[], object]) -> Timer:
        self.timers.append(Timer(due, callback))
        return self.timers[-1]

    def call_soon(self, callback: Callable[[], object]) -> None:
        self._soon.append(callback)

    def advance(self, to: float) -> None:
        while due := [timer for timer in self.timers if not timer.is_cancelled and timer.due <= to]:
            timer = min(due, key=Timer.when)
            timer.is_cancelled, self.now = True, timer.due
            timer.callback()
            while self._soon:
                self._soon.pop(0)()
        self.now = to


def make() -> tuple[Loop, Deadlines, list[str]]:
    loop = Loop()
    return loop, Deadlines(cast("asyncio.AbstractEventLoop", loop)), []


def test_deadlines_that_are_cancelled_need_one_timer() -> None:
    """A thousand deadlines that are cancelled before they are due set one timer, and call nothing."""
    loop, deadlines, called = make()
    for number in range(1_000):
        loop.now = number / 10
        deadlines.add(600.0, lambda: called.append("late")).cancel()
    loop.advance(2_000.0)
    assert not called
    assert len(loop.timers) == 1


def test_each_deadline_is_called_once_at_its_time() -> None:
    """Deadlines are called in the order in which they are due, whatever the order in which they were added."""
    loop, deadlines, called = make()
    for name, delay_s in (("c", 30.0), ("a", 10.0), ("b", 20.0)):
        deadlines.add(delay_s, lambda name=name: called.append(f"{name}{loop.now:.0f}"))  # type: ignore[misc]
    loop.advance(100.0)
    assert called == ["a10", "b20", "c30"]


def test_a_deadline_may_cancel_another_that_is_due_too() -> None:
    """What is cancelled is not called, even if its time has come."""
    loop, deadlines, called = make()
    first = deadlines.add(5.0, lambda: second.cancel())
    second = deadlines.add(5.0, lambda: called.append("second"))
    loop.advance(5.0)
    first.cancel()  # harmless
    assert not called


def test_a_deadline_added_by_another_is_called() -> None:
    """A deadline that is added while others are called gets its own time."""
    loop, deadlines, called = make()
    deadlines.add(5.0, lambda: deadlines.add(5.0, lambda: called.append(f"{loop.now:.0f}")))
    loop.advance(20.0)
    assert called == ["10"]
