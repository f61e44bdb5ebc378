"""A few seconds of `make chaos-cluster`, so that every run of the tests has some."""

import pytest

from tests.postgres.chaos_cluster import run_chaos
from tests.postgres.pg_server import INSTALL, usable_binaries

FAULTS_S, SEED = 10.0, 7


@pytest.mark.slow
def test_nothing_is_lost_doubled_ended_twice_or_stuck() -> None:
    """Servers and workers die, stop and are cut off; afterwards every log is whole and nothing waits for nobody."""
    if not usable_binaries():
        pytest.skip(INSTALL)
    verdict, told = run_chaos(FAULTS_S, SEED)
    print(told)
    assert verdict.wrong == []
    assert verdict.counts["turn.completed"]
