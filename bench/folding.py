"""Rates of the pure parts: encode, decode, fold; and what opening a long session takes."""

import time
from pathlib import Path
from typing import NamedTuple

from bench.turns import SAID, TEAM
from moot.core.codec import Event, Head, decode, stamp
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.session.state import State
from moot.runtime.snapshots import load_state, take
from moot.runtime.stores.sqlite import SqliteLog
from moot.runtime.summaries import summarise
from moot.testing.scenario import given

AT = "2026-01-01T00:00:00.000Z"


def long_session(events: int) -> list[Fact]:
    scenario = given(TEAM.team()).says("[NEXT: bob] go")
    turns = 0
    while len(scenario.facts) < events:
        scenario.replies(SAID.format(next="bob" if turns % 2 else "carol"))
        turns += 1
    return scenario.facts[:events]


class Rates(NamedTuple):
    """Events per second."""

    encode: float
    decode: float
    fold: float


def measure(facts: list[Fact]) -> tuple[Rates, list[Event]]:
    team = TEAM.team()
    start = time.perf_counter()
    events = stamp(team, "s_bench", Head(), facts, AT)
    encoded = time.perf_counter()
    for event in events:
        decode(event.data, event.hash)
    decoded = time.perf_counter()
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    folded = time.perf_counter()
    count = len(facts)
    return Rates(count / (encoded - start), count / (decoded - encoded), count / (folded - decoded)), events


async def opening(events: list[Event], folder: Path) -> tuple[float, float]:
    """Seconds to open a session of these events from the file: without a snapshot, with one."""
    log = await SqliteLog.open(folder / "long.db")
    try:
        state: State | None = None
        for at in range(0, len(events), 10_000):
            batch = events[at : at + 10_000]
            for event in batch:
                state = evolve(state, event.fact)
            assert state is not None
            await log.append(
                "s_bench", events[at - 1].head if at else Head(), batch, summary=None if at else summarise(state)
            )
        assert state is not None
        start = time.perf_counter()
        await load_state(log, "s_bench")
        cold = time.perf_counter() - start
        await log.save_snapshot("s_bench", take(state, events[-1].head))
        start = time.perf_counter()
        await load_state(log, "s_bench")
        return cold, time.perf_counter() - start
    finally:
        await log.close()
