"""The seam between what a follower reads and what it is handed."""

from moot.core.codec import Head
from moot.runtime.stores.tails import Tail
from tests.contract.logs import make_events


def test_fresh_events_are_handed_on_from_any_place_that_they_reach() -> None:
    """What was read before is left out; a hole of one event is a hole, and then nothing is handed on."""
    events = make_events("a", Head(10, "x"), 5)
    for after, expected in ((8, []), (9, []), (10, events), (12, events[2:]), (15, [])):
        tail = Tail(head_seq=10)
        tail.push(events)
        assert tail.take(after) == expected
        assert tail.take(after) == []


def test_what_a_slow_follower_does_not_take_is_dropped() -> None:
    """Memory is bounded: what is too much is dropped, and has to be read again."""
    events = make_events("a", count=1_500)
    tail = Tail(head_seq=0)
    for start in range(0, 1_500, 100):
        tail.push(events[start : start + 100])
    assert tail.head_seq == 1_500
    assert tail.take(0) == []
