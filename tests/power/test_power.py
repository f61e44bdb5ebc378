"""The short version of `make power`: a recorded process loses its power at random moments."""

import random

import pytest

from tests.power.cutting import cut_often, find_compiler
from tests.power.recording import KINDS, Operation, Platter, apply, split


@pytest.mark.skipif(find_compiler() is None, reason="the recorder needs Linux and a C compiler (cc)")
def test_what_was_acknowledged_survives_a_power_cut() -> None:
    """Whatever the disk makes of writes that were not synced, the log opens with everything that was acknowledged."""
    survived = cut_often(count=40, appends=60)
    assert all(survived[kind] for kind in KINDS)
    assert survived["acknowledged before the cut"] > 0


def test_synced_writes_survive_and_others_may_not() -> None:
    """The model of the disk: a sync makes the writes before it safe, and only those of its own file."""
    platter = Platter()
    platter.do(Operation("w", "a", 0, b"safe"))
    platter.do(Operation("w", "b", 0, b"loose"))
    platter.do(Operation("s", "a", 0, b""))
    platter.do(Operation("w", "a", 4, b" loose"))
    chance = random.Random(1)  # noqa: S311 - it must be repeatable, not secret
    assert platter.cut("none", chance) == {"a": b"safe", "b": b""}
    assert platter.cut("all", chance) == {"a": b"safe loose", "b": b"loose"}


def test_a_write_is_torn_at_its_sectors() -> None:
    """A disk writes sectors; together they are the write."""
    write, file = Operation("w", "a", 100, bytes(range(256)) * 5), bytearray()
    sectors = split(write)
    assert [len(sector.data) for sector in sectors] == [512, 512, 256]
    for sector in reversed(sectors):
        apply(file, sector)
    assert file == bytes(100) + write.data


def test_a_truncation_may_shorten_and_lengthen() -> None:
    """As ftruncate does."""
    file = bytearray(b"abcdef")
    apply(file, Operation("t", "a", 2, b""))
    assert file == b"ab"
    apply(file, Operation("t", "a", 4, b""))
    assert file == b"ab\0\0"
