"""Delays before retries, and the bucket that limits a rate."""

import pytest

from moot.core.backoff import Backoff
from moot.core.bucket import Bucket


@pytest.mark.parametrize(("attempt", "delay_s"), [(1, 1.0), (2, 2.0), (3, 4.0), (5, 16.0), (6, 30.0), (10_000, 30.0)])
def test_the_delay_doubles_up_to_the_cap(attempt: int, delay_s: float) -> None:
    """The ceiling doubles with each attempt, stops at the cap, and stays finite for any number of attempts."""
    assert Backoff(base_s=1.0, cap_s=30.0).delay(attempt) == delay_s


def test_chance_spreads_the_delay_between_floor_and_ceiling() -> None:
    """A chance of 0 is the floor, of 1 the ceiling, and what lies between is proportional."""
    backoff = Backoff(base_s=1.0, cap_s=30.0, floor_s=0.5)
    assert [backoff.delay(3, chance) for chance in (0.0, 0.5, 1.0)] == [0.5, 2.25, 4.0]


def test_a_bucket_holds_a_burst_and_refills_steadily() -> None:
    """A full bucket allows a burst; afterwards only as much as has flowed in since."""
    bucket = Bucket(per_s=2.0, burst=3.0, now=10.0)
    assert [bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(10.5), bucket.take(10.5)] == [True, False]
    assert bucket.take(100.0, 3.0)
    assert not bucket.take(100.0, 0.1)
