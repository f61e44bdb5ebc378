"""`make sim`: thousands of seeded runs. Prints what happened, and fails if a promise was broken or a fault was rare.

A failure prints its seed and the commit; `make sim SEED=n` plays that run again, and finds which faults it needs.
"""

import argparse
import gc
import hashlib
import logging
import os
import resource
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from unittest.mock import patch

from msgspec import Struct

from moot.runtime import engine
from sim import edges
from sim.faults import KINDS
from sim.world import World

RUNS = 10_000
OFTEN = 100  # how often each kind of fault must happen in so many runs
CHUNK = 25
STEP_SEEDS = (4, 11, 16)  # a chat, a studio and a plan that are killed at every one of their steps


class Outcome(Struct):
    """What one run came to; `error` is empty if it kept every promise."""

    seed: int
    trace: str
    steps: int
    faults: dict[str, int]
    error: str = ""


class Report:
    """The sum of all runs."""

    def __init__(self) -> None:
        self.runs = self.steps = 0
        self.faults: Counter[str] = Counter()
        self.edges: Counter[str] = Counter()
        self.failures: list[Outcome] = []
        self._traces: list[tuple[int, str]] = []

    def add(self, outcomes: list[Outcome], walked: Counter[str]) -> None:
        self.edges += walked
        for outcome in outcomes:
            self.runs += 1
            self.steps += outcome.steps
            self.faults.update(outcome.faults)
            self._traces.append((outcome.seed, outcome.trace))
            if outcome.error:
                self.failures.append(outcome)

    @property
    def trace(self) -> str:
        return hashlib.sha256(repr(sorted(self._traces)).encode()).hexdigest()[:16]

    def list_gaps(self) -> list[str]:
        """What was too rare for this number of runs to mean anything."""
        least = OFTEN * self.runs // RUNS
        rare = [f"fault happened {self.faults[kind]} times: {kind}" for kind in KINDS if self.faults[kind] < least]
        if self.runs >= RUNS:
            rare += [f"never walked: {row}" for row in edges.expected() if not self.edges[row]]
        return rare


def play(seed: int, crash_steps: tuple[int, ...] | None = None, without: frozenset[str] = frozenset()) -> Outcome:
    """Play one run. What a crash leaves behind is collected here, where nobody minds how it ends."""
    world, error = World(seed, crash_steps, without), ""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None  # a dead process does not clean up
    try:
        # snapshots are rare in a short run unless they are taken more often than in life
        with patch.multiple(engine, SNAPSHOT_EVERY=40, SNAPSHOT_WORTH=10):
            world.run()
    except Exception:
        error = traceback.format_exc()
    finally:
        outcome = Outcome(seed, world.trace, world.steps, dict(world.faults.counts), error)
        world.abandon()
        sys.unraisablehook = hook
    return outcome


def play_many(jobs: list[tuple[int, tuple[int, ...] | None]]) -> tuple[list[Outcome], Counter[str]]:
    """Play runs in a process of the pool; return also the rows of the machines that they walked."""
    logging.disable(logging.CRITICAL)  # members fail all the time
    sys.unraisablehook = lambda _: None
    gc.disable()
    edges.watch()
    edges.walked.clear()
    outcomes = [play(*job) for job in jobs]
    gc.collect()
    return outcomes, Counter(edges.walked)


def list_jobs(first: int, runs: int, *, every_step: bool) -> Iterator[list[tuple[int, tuple[int, ...] | None]]]:
    jobs: list[tuple[int, tuple[int, ...] | None]] = [(seed, None) for seed in range(first, first + runs)]
    if every_step:
        for seed in STEP_SEEDS:
            last = play(seed, ()).steps
            jobs += [(seed, (step,)) for step in range(1, last + 1)]
            jobs += [(seed, (step, 1 + step % 40)) for step in range(1, last + 1, 3)]  # and again while it recovers
    for start in range(0, len(jobs), CHUNK):
        yield jobs[start : start + CHUNK]


def shrink(failed: Outcome) -> list[str]:
    """The kinds of faults without which the run would not fail: leave out one after the other."""
    last_line = failed.error.strip().splitlines()[-1][:60]
    without: set[str] = set()
    for kind in KINDS:
        if last_line in play(failed.seed, None, frozenset({*without, kind})).error:
            without.add(kind)
    again = play(failed.seed, None, frozenset(without))
    return [kind for kind, times in again.faults.items() if times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, help="play this one again, and look for the faults that it needs")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return replay(arguments.seed)
    logging.disable(logging.CRITICAL)  # members fail all the time
    began, report = time.perf_counter(), Report()
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        jobs = list_jobs(arguments.first, arguments.runs, every_step=arguments.runs >= RUNS)
        for outcomes, walked in pool.imap_unordered(play_many, jobs):
            report.add(outcomes, walked)
            for failed in outcomes:
                if failed.error:
                    print(f"{failed.error}\nfailed: make sim SEED={failed.seed} at commit {commit()}", flush=True)
        pool.close()
        pool.join()  # so that their time is counted
    return conclude(report, time.perf_counter() - began)


def replay(seed: int) -> int:
    """Play one run again; if it fails, say which faults it takes."""
    logging.disable(logging.CRITICAL)
    outcome = play(seed)
    print(outcome.error or "every promise was kept")
    print(f"seed {seed}, commit {commit()}, trace {outcome.trace}, {outcome.steps} steps")
    if outcome.error:
        print(f"needs: {', '.join(shrink(outcome)) or 'no fault at all'}")
    return int(bool(outcome.error))


def conclude(report: Report, took_s: float) -> int:
    for kind in KINDS:
        print(f"{report.faults[kind]:8} {kind}")
    rows = edges.expected()
    print(f"{sum(report.edges[row] > 0 for row in rows)} of {len(rows)} rows of the machines were walked")
    worked_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(f"{report.runs} runs, {report.steps} steps, {took_s:.0f} s, {report.runs / took_s:.1f} runs/s")
    print(f"{worked_s:.0f} s of processor time, {1000 * worked_s / report.runs:.0f} ms each")
    print(f"commit {commit()}, trace {report.trace}, {len(report.failures)} failures")
    gaps = report.list_gaps()
    for gap in gaps:
        print(gap)
    return int(bool(gaps or report.failures))


def commit() -> str:
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
