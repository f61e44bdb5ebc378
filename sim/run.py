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
from typing import NamedTuple
from unittest.mock import patch

from msgspec import Struct

from moot.runtime import engine
from sim import edges
from sim.cluster import ClusterWorld
from sim.faults import CLUSTER_KINDS, KINDS
from sim.world import World

RUNS = 10_000
NODE_RUNS = 2_000  # with several nodes
OFTEN = 100  # how often each kind of fault must happen in so many runs
CHUNK = 25
STEP_SEEDS = (4, 11, 16)  # a chat, a studio and a plan that are killed at every one of their steps


class Job(NamedTuple):
    """One run. `crash_steps` are those of `World`, `has_nodes`: several nodes share the log."""

    seed: int
    crash_steps: tuple[int, ...] | None = None
    has_nodes: bool = False
    without: frozenset[str] = frozenset()


class Outcome(Struct):
    """What one run came to; `error` is empty if it kept every promise."""

    seed: int
    trace: str
    steps: int
    faults: dict[str, int]
    error: str = ""


class Report:
    """The sum of all runs."""

    def __init__(self, *, has_nodes: bool) -> None:
        self.has_nodes = has_nodes
        self.kinds = CLUSTER_KINDS if has_nodes else KINDS
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
        rare = [f"fault happened {self.faults[kind]} times: {kind}" for kind in self.kinds if self.faults[kind] < least]
        if self.runs >= RUNS and not self.has_nodes:
            rare += [f"never walked: {row}" for row in edges.expected() if not self.edges[row]]
        return rare


def play(job: Job) -> Outcome:
    """Play one run. What a crash leaves behind is collected here, where nobody minds how it ends."""
    error = ""
    world = ClusterWorld(job.seed, job.without) if job.has_nodes else World(job.seed, job.crash_steps, job.without)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None  # a dead process does not clean up
    try:
        # snapshots are rare in a short run unless they are taken more often than in life
        with patch.multiple(engine, SNAPSHOT_EVERY=40, SNAPSHOT_WORTH=10):
            world.run()
    except Exception:
        error = traceback.format_exc()
    finally:
        outcome = Outcome(job.seed, world.trace, world.steps, dict(world.faults.counts), error)
        world.abandon()
        sys.unraisablehook = hook
    return outcome


def play_many(jobs: list[Job]) -> tuple[list[Outcome], Counter[str]]:
    """Play runs in a process of the pool; return also the rows of the machines that they walked."""
    logging.disable(logging.CRITICAL)  # members fail all the time
    sys.unraisablehook = lambda _: None
    gc.disable()
    edges.watch()
    edges.walked.clear()
    outcomes = [play(job) for job in jobs]
    gc.collect()
    return outcomes, Counter(edges.walked)


def list_jobs(first: int, runs: int, *, has_nodes: bool, every_step: bool) -> Iterator[list[Job]]:
    jobs = [Job(seed, has_nodes=has_nodes) for seed in range(first, first + runs)]
    if every_step:
        for seed in STEP_SEEDS:
            last = play(Job(seed, ())).steps
            jobs += [Job(seed, (step,)) for step in range(1, last + 1)]
            jobs += [Job(seed, (step, 1 + step % 40)) for step in range(1, last + 1, 3)]  # and again while it recovers
    for start in range(0, len(jobs), CHUNK):
        yield jobs[start : start + CHUNK]


def shrink(job: Job, failed: Outcome) -> list[str]:
    """The kinds of faults without which the run would not fail: leave out one after the other."""
    last_line = failed.error.strip().splitlines()[-1][:60]
    without = frozenset[str]()
    for kind in CLUSTER_KINDS if job.has_nodes else KINDS:
        if last_line in play(job._replace(without=without | {kind})).error:
            without |= {kind}
    again = play(job._replace(without=without))
    return [kind for kind, times in again.faults.items() if times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", action="store_true", help="play runs in which several nodes share the log")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, help="play this one again, and look for the faults that it needs")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return replay(Job(arguments.seed, has_nodes=arguments.nodes))
    logging.disable(logging.CRITICAL)  # members fail all the time
    began, report = time.perf_counter(), Report(has_nodes=arguments.nodes)
    runs = arguments.runs or (NODE_RUNS if arguments.nodes else RUNS)
    every_step = runs >= RUNS and not arguments.nodes
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        jobs = list_jobs(arguments.first, runs, has_nodes=arguments.nodes, every_step=every_step)
        for outcomes, walked in pool.imap_unordered(play_many, jobs):
            report.add(outcomes, walked)
            for failed in outcomes:
                if failed.error:
                    again = f"make sim {'NODES=1 ' if arguments.nodes else ''}SEED={failed.seed}"
                    print(f"{failed.error}\nfailed: {again} at commit {commit()}", flush=True)
        pool.close()
        pool.join()  # so that their time is counted
    return conclude(report, time.perf_counter() - began)


def replay(job: Job) -> int:
    """Play one run again; if it fails, say which faults it takes."""
    logging.disable(logging.CRITICAL)
    outcome = play(job)
    print(outcome.error or "every promise was kept")
    print(f"seed {job.seed}, commit {commit()}, trace {outcome.trace}, {outcome.steps} steps")
    if outcome.error:
        print(f"needs: {', '.join(shrink(job, outcome)) or 'no fault at all'}")
    return int(bool(outcome.error))


def conclude(report: Report, took_s: float) -> int:
    for kind in report.kinds:
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
