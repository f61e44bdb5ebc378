"""The short version of `make sim NODES=1`: seeded runs of several nodes that share a log."""

import gc
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.cluster import ClusterWorld
from sim.shared_log import HeadRow, SharedStore
from tests.sim.runs import play_quietly

RUNS = 20
ROOT = Path(__file__).parents[2]
USUAL = (  # faults that happen in so few runs already
    *("node killed", "node stopped in order", "node suspended", "node cut off", "lease lost"),
    *("session taken over", "decided under the lock", "wake-up lost", "wake-up delayed", "command tried again"),
)


def test_every_promise_is_kept() -> None:
    """Nothing accepted is lost or doubled; turns end once; no node acts after a take-over; all have the log's state."""
    faults: Counter[str] = Counter()
    for seed in range(RUNS):
        outcome = play_quietly(seed, has_nodes=True)
        assert not outcome.error, f"{outcome.error}\nmake sim NODES=1 SEED={seed}"
        faults.update(outcome.faults)
    assert [kind for kind in USUAL if not faults[kind]] == []


def test_the_same_seed_is_the_same_run() -> None:
    """Also in another process, whatever its hash seed is."""
    seed = 3
    here = play_quietly(seed, has_nodes=True)
    assert here.steps > 100
    assert play_quietly(seed, has_nodes=True).trace == here.trace
    elsewhere = subprocess.run(
        [sys.executable, "-m", "sim.run", "--nodes", "--seed", str(seed)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"trace {here.trace}" in elsewhere.stdout


class _NoFence(SharedStore):
    """Takes what an owner appends after others took over."""

    def may_append(self, *_: object) -> bool:
        return True


class _Greedy(SharedStore):
    """Gives nodes what has no owner, due or not."""

    def is_claimable(self, row: HeadRow) -> bool:
        return True


@pytest.fixture
def quiet() -> Iterator[None]:
    """What is left of a process that was killed complains when it is collected."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    logging.disable(logging.CRITICAL)
    yield
    gc.collect()
    logging.disable(logging.NOTSET)
    sys.unraisablehook = hook


@pytest.mark.parametrize(("store", "why"), [(_NoFence, "wrote under epoch"), (_Greedy, "nothing is due")])
@pytest.mark.usefixtures("quiet")
def test_a_faulty_store_is_found_out(store: type[SharedStore], why: str) -> None:
    """Runs that are green mean something only if they would be red."""
    found: list[str] = []
    for seed in range(100):
        world = ClusterWorld(seed, store=store)
        try:
            world.run()
        except AssertionError as error:
            found.append(str(error))
        finally:
            world.abandon()
        if any(why in error for error in found):
            return
    pytest.fail(f"found {found}")
