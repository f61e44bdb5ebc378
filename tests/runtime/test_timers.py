"""`Timers`: many deadlines behind one timer of the clock."""

from collections.abc import Callable

from moot.runtime.timers import Timers
from moot.testing import VirtualClock
from tests.runtime.apps import run


class CountingClock(VirtualClock):
    """Counts the timers that it is asked for."""

    asked = 0

    def call_later(self, delay_s: float, callback: Callable[[], object]):  # type: ignore[no-untyped-def]
        self.asked += 1
        return super().call_later(delay_s, callback)


@run
async def test_deadlines_fire_at_their_moment() -> None:
    """Each fires once, when it is due, in whatever order they were made; later ones still to come are not lost."""
    clock = VirtualClock()
    timers, fired = Timers(clock), list[tuple[float, float]]()
    for due in (30.0, 10.0, 20.0, 10.0, 1_800.0):
        timers.start(due, lambda due=due: fired.append((due, clock.monotonic())))  # type: ignore[misc]
    await clock.advance(9.999)
    assert fired == []
    await clock.advance(0.001)
    assert fired == [(10, 10), (10, 10)]
    await clock.advance(100)
    assert fired[2:] == [(20, 20), (30, 30)]
    await clock.advance(10_000)
    assert fired[4:] == [(1_800, 1_800)]


@run
async def test_a_cancelled_deadline_never_fires() -> None:
    """Cancelling the next one does not disturb those behind it; cancelling twice or too late is harmless."""
    clock = VirtualClock()
    timers, fired = Timers(clock), list[str]()
    first = timers.start(10, lambda: fired.append("first"))
    second = timers.start(20, lambda: fired.append("second"))
    first.cancel()
    first.cancel()
    await clock.advance(30)
    assert fired == ["second"]
    second.cancel()


@run
async def test_a_deadline_may_cancel_another_of_its_moment() -> None:
    """Of two that are due at once the first may call the second off."""
    clock = VirtualClock()
    timers, fired = Timers(clock), list[str]()
    timers.start(10, lambda: second.cancel())
    second = timers.start(10, lambda: fired.append("second"))
    await clock.advance(10)
    assert fired == []


@run
async def test_a_deadline_may_be_made_by_another() -> None:
    """What is started while others fire is armed as well."""
    clock = VirtualClock()
    timers, fired = Timers(clock), list[float]()

    def again() -> None:
        fired.append(clock.monotonic())
        timers.start(5, again)

    timers.start(5, again)
    await clock.advance(21)
    assert fired == [5, 10, 15, 20]


@run
async def test_making_and_cancelling_costs_no_timer() -> None:
    """A thousand deadlines that are cancelled in time need one timer of the clock, not a thousand."""
    clock = CountingClock()
    timers = Timers(clock)
    for _ in range(1_000):
        timers.start(1_800, lambda: None).cancel()
    assert clock.asked == 1


@run
async def test_closing_forgets_them_all() -> None:
    """After close nothing fires."""
    clock = VirtualClock()
    timers, fired = Timers(clock), list[str]()
    timers.start(1, lambda: fired.append("no"))
    timers.close()
    await clock.advance(10)
    assert fired == []
