"""Moot: sessions in memory and in SQLite. Everything is typed, hashed and logged; in SQLite, durable before visible."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import uvloop
from workload import PLANS, ROUNDS, TASKS, TURNS, report

sys.path.insert(0, str(Path(__file__).parents[2]))  # this repository, for `bench`

from bench import plan, supervisor, turns

Measured = Callable[[Path | None, Callable[[], float]], float]


def chat(data: Path | None, now: Callable[[], float]) -> float:
    return mean(uvloop.run(turns.one_session(TURNS, data, now))[TURNS // 10 :])


def job(data: Path | None, now: Callable[[], float]) -> float:
    return mean(uvloop.run(supervisor.rounds(ROUNDS, data, now))[ROUNDS // 10 :])


def work(data: Path | None, now: Callable[[], float]) -> float:
    return mean(uvloop.run(plan.plans(PLANS + 1, data, now)).seconds[1:]) / TASKS


def in_memory(measure: Measured) -> Callable[[], float]:
    return lambda: measure(None, time.process_time)


def durable(measure: Measured) -> Callable[[], float]:
    def run() -> float:
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
            return measure(Path(folder), time.perf_counter)

    return run


report(
    "moot",
    {
        "turn": in_memory(chat),
        "round": in_memory(job),
        "task": in_memory(work),
        "turn, durable": durable(chat),
        "round, durable": durable(job),
        "task, durable": durable(work),
    },
)
