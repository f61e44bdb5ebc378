"""The short version of `make soak`, and its judgement."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.soak.soak import SAMPLES, Sample, find_growth, soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_server_under_load_holds_no_more_than_before(tmp_path: Path) -> None:
    """Links that come and go and sessions that are removed leave no open files behind."""
    samples, counts = asyncio.run(soak(8.0, tmp_path))
    assert len(samples) == SAMPLES
    assert counts.events > 0
    assert counts.links > 0
    assert not [growth for growth in find_growth(samples) if "files" in growth]  # memory takes longer to warm up


def test_what_counts_as_growth() -> None:
    """A tenth more memory is noise; more than that, or a file per link, is a leak."""
    flat = [Sample(float(n), 100 + n % 3, 20, 4, n * 100) for n in range(SAMPLES)]
    assert find_growth(flat) == []
    leaking = [Sample(float(n), 100 + 4 * n, 20 + 2 * n, 4, n * 100) for n in range(SAMPLES)]
    assert find_growth(leaking) == ["memory grew from 136 to 176 MiB", "files grew from 38 to 58"]
