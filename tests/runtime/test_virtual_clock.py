"""`moot.testing.VirtualClock`: time that moves only when told to."""

import asyncio
import re

import pytest

from moot.runtime.clock import SystemClock, seconds_between
from moot.testing import VirtualClock
from tests.runtime.apps import run

START = "2026-01-01T00:00:00.000Z"


@run
async def test_it_stands_still_until_it_is_moved() -> None:
    """Time passes by as much as `advance` says, to the millisecond, whether or not timers wait."""
    clock = VirtualClock(START)
    await asyncio.sleep(0)
    assert clock.now() == START
    await clock.advance(0.5)
    assert clock.now() == "2026-01-01T00:00:00.500Z"
    clock.call_later(9e9, lambda: None)
    await clock.advance(86_400)
    assert clock.now() == "2026-01-02T00:00:00.500Z"


@run
async def test_timers_fire_in_order_each_at_its_moment() -> None:
    """The earlier timer first, of two at one moment the one set first; the clock shows the moment, not the goal."""
    clock = VirtualClock(START)
    fired: list[tuple[str, float]] = []

    def note(name: str) -> None:
        fired.append((name, seconds_between(START, clock.now())))

    clock.call_later(30, lambda: note("late"))
    clock.call_later(10, lambda: note("early"))
    clock.call_later(30, lambda: note("late too"))
    clock.call_later(60.001, lambda: note("never"))
    await clock.advance(60)
    assert fired == [("early", 10), ("late", 30), ("late too", 30)]
    assert clock.now() == "2026-01-01T00:01:00.000Z"


@run
async def test_a_timer_may_set_another() -> None:
    """What a timer sets for the time that is being passed fires too."""
    clock = VirtualClock()
    fired: list[int] = []

    def again() -> None:
        fired.append(len(fired))
        clock.call_later(10, again)

    again()
    await clock.advance(35)
    assert fired == [0, 1, 2, 3]


@run
async def test_a_cancelled_timer_does_not_fire() -> None:
    """Cancelling works before the moment and harms nobody after it."""
    clock = VirtualClock()
    fired: list[str] = []
    clock.call_later(1, lambda: fired.append("no")).cancel()
    done = clock.call_later(1, lambda: fired.append("yes"))
    await clock.advance(2)
    done.cancel()
    assert fired == ["yes"]


@run
async def test_sleepers_wake_at_their_moment() -> None:
    """A sleeper sleeps on until its time has come, and has come to rest when `advance` returns."""
    clock = VirtualClock(START)
    woken: list[str] = []

    async def nap(seconds: float) -> None:
        await clock.sleep(seconds)
        await asyncio.sleep(0)
        woken.append(clock.now())

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(nap(1_800))
        tasks.create_task(nap(1))
        await clock.advance(1_799.999)
        assert woken == ["2026-01-01T00:00:01.000Z"]
        await clock.advance(0.001)
        assert woken == ["2026-01-01T00:00:01.000Z", "2026-01-01T00:30:00.000Z"]


@run
async def test_a_cancelled_sleeper_leaves_nothing_behind() -> None:
    """Its timer goes with it: moving past its moment wakes nobody."""
    clock = VirtualClock()
    sleeper = asyncio.create_task(clock.sleep(10))
    await clock.advance(5)
    sleeper.cancel()
    await clock.advance(10)
    with pytest.raises(asyncio.CancelledError):
        await sleeper


@run
async def test_the_real_clock_keeps_the_same_contract() -> None:
    """SystemClock stamps in the same form, calls later, cancels, sleeps."""
    clock = SystemClock()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", clock.now())
    called = asyncio.Event()
    clock.call_later(0, called.set)
    clock.call_later(0, lambda: pytest.fail("it was cancelled")).cancel()
    await called.wait()
    await clock.sleep(0)
