"""`make bench`: every bar of the foundation as a ratio to a floor measured in the same run. Table out, JSON beside it.

Machines are noisy: the ratios mean something, the absolute times little. Nothing here is a test.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median

import uvloop
from msgspec import Struct

from bench import delivery, floors, folding, plan, supervisor, turns


class Row(Struct, frozen=True, kw_only=True):
    """`value` against `floor` where there is one; `bar` says what is good enough."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    bar: str
    holds: bool


def _cost(what: str, seconds: float, most: float, floor: float | None = None) -> Row:
    """So many microseconds at most; the floor is there to compare with."""
    return Row(
        what=what,
        value=seconds * 1e6,
        unit="µs",
        floor=floor and floor * 1e6,
        ratio=floor and seconds / floor,
        bar=f"≤ {most * 1e6:.0f} µs",
        holds=seconds <= most,
    )


def _against(what: str, seconds: float, floor: float, most: float, floor_name: str) -> Row:
    """So many times the floor at most."""
    return Row(
        what=what,
        value=seconds * 1e6,
        unit="µs",
        floor=floor * 1e6,
        ratio=seconds / floor,
        bar=f"≤ {most} × {floor_name}",
        holds=seconds <= most * floor,
    )


def chat_turns(folder: Path) -> list[Row]:
    floor = floors.dict_and_deque_turns(20_000)
    in_memory = uvloop.run(turns.one_session(10_100, None))
    turn_bytes = uvloop.run(turns.stored_turn(folder / "bytes"))
    raw = floors.raw_commits(folder, [turn_bytes] * 1_000)
    durable = uvloop.run(turns.one_session(10_100, folder / "durable"))
    raw = (raw + floors.raw_commits(folder, [turn_bytes] * 1_000)) / 2  # before and after: the disk drifts
    cost, cost_durable = mean(in_memory), mean(durable)
    return [
        _cost("routed turn, memory log", cost, 60e-6, floor),
        _against("routed turn, durable", cost_durable, raw, 1.5, "raw commit"),
        _growth("turn 10,000 / turn 100, memory", in_memory),
        _growth("turn 10,000 / turn 100, durable", durable),
    ]


def _growth(what: str, durations: list[float]) -> Row:
    ratio = turns.growth(durations, 1_000)
    return Row(what=what, value=ratio, unit="×", ratio=ratio, bar="≤ 1.1 ×", holds=ratio <= 1.1)


def many_sessions(folder: Path) -> list[Row]:
    turn_bytes = uvloop.run(turns.stored_turn(folder / "bytes64"))
    floor = uvloop.run(floors.raw_group_commits(folder, turn_bytes[0], 64, 200))
    rate = uvloop.run(turns.many_sessions(64, 60, folder / "many")) * len(turn_bytes)
    return [
        Row(
            what="64 sessions at once, durable",
            value=rate,
            unit="events/s",
            floor=floor,
            ratio=rate / floor,
            bar="≥ 0.7 × raw group commit",
            holds=rate >= 0.7 * floor,
        )
    ]


def plan_tasks(folder: Path) -> list[Row]:
    """50 instant tasks, ten at once, every fifth of which fails once: per task, with the whole handshake logged."""
    floor = median(uvloop.run(floors.gathered_tasks(plan.TASKS, plan.AT_ONCE, plan.EVERY)) for _ in range(40))
    in_memory = uvloop.run(plan.plans(40, None))
    task_bytes = uvloop.run(plan.stored_task(folder / "task"))
    raw = floors.raw_commits(folder, [task_bytes] * 1_000)
    durable = uvloop.run(plan.plans(40, folder / "plans"))
    raw = (raw + floors.raw_commits(folder, [task_bytes] * 1_000)) / 2
    cost, cost_durable = median(in_memory.seconds) / plan.TASKS, median(durable.seconds) / plan.TASKS
    return [
        _cost("task of a plan, memory log", cost, 200e-6, floor),
        _against("task of a plan, durable", cost_durable, raw, 1.0, "raw commit"),
        Row(what="commits of a plan of 50", value=durable.commits, unit="commits", bar="-", holds=True),
    ]


def supervisor_rounds(folder: Path) -> list[Row]:
    """Decide, act, back: two turns and two appends, against a chat turn and against commits of the same bytes."""
    turn = median(uvloop.run(turns.one_session(1_000, None)))
    in_memory = uvloop.run(supervisor.rounds(300, None))
    round_bytes = uvloop.run(supervisor.stored_round(folder / "round"))
    raw = floors.raw_commits(folder, round_bytes * 300)
    durable = uvloop.run(supervisor.rounds(300, folder / "rounds"))
    raw = (raw + floors.raw_commits(folder, round_bytes * 300)) / 2  # before and after: the disk drifts
    cost, cost_durable = median(in_memory), mean(durable)
    return [
        _against("supervisor round, memory log", cost, turn, 2.5, "chat turn"),
        _against("supervisor round, durable", cost_durable, raw, 2.2, "raw commit"),
    ]


def pure_rates(folder: Path) -> list[Row]:
    facts = folding.long_session(100_000)
    rates, events = folding.measure(facts)
    cold, warm = uvloop.run(folding.opening(events, folder))
    return [
        Row(what="stamp: encode and hash", value=rates.encode, unit="events/s", bar="-", holds=True),
        Row(what="decode", value=rates.decode, unit="events/s", bar="-", holds=True),
        Row(what="fold", value=rates.fold, unit="events/s", bar="≥ 300,000/s", holds=rates.fold >= 300_000),
        Row(what="open 100,000 events, no snapshot", value=cold * 1e3, unit="ms", bar="-", holds=True),
        Row(
            what="open 100,000 events, snapshot",
            value=warm * 1e3,
            unit="ms",
            ratio=warm / cold,
            bar="≤ 50 ms",
            holds=warm <= 0.05,
        ),
    ]


def start_up() -> list[Row]:
    def seconds(*command: str) -> float:
        def once() -> float:
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            return time.perf_counter() - start

        return median(once() for _ in range(9))

    bare = seconds("-c", "pass")
    helped = seconds("-m", "moot.cli.main", "--help")
    return [
        Row(
            what="moot --help",
            value=helped * 1e3,
            unit="ms",
            floor=bare * 1e3,
            ratio=helped / bare,
            bar="≤ 250 ms",
            holds=helped <= 0.25,
        )
    ]


def deliveries(folder: Path) -> list[Row]:
    rows = []
    with delivery.Bench(folder) as bench:
        for connections in (1, 100, 1_000):
            for batched in (False, True):
                what = f"delivery to {connections:,}{', batched' if batched else ''}"
                rows.append(_delivery(what, bench.rates(connections, batched=batched), 0.7))
        rows.append(_delivery("replay of 10,000", bench.replays(batched=False), 0.6))
        rows.append(_delivery("replay of 10,000, batched", bench.replays(batched=True), None))
        middle, most = bench.latency()
        rows.append(_against("append to client, p50", middle.ours, middle.floor, 1.5, "raw commit + echo"))
        rows.append(_against("append to client, p99", most.ours, most.floor, 3, "raw commit + echo"))
        stalled = bench.stalled()
        what = f"{delivery.STALLED} stalled readers, p99"
        rows.append(_against(what, stalled.ours, stalled.floor, 2, "without them"))
        per_idle = zip(("connection", "open session", "evicted session"), bench.idle_bytes(), (60, 50, 4), strict=True)
        for what, idle_bytes, limit in per_idle:
            kib = idle_bytes / 1024
            rows.append(Row(what=f"idle {what}", value=kib, unit="KiB", bar=f"≤ {limit} KiB", holds=kib <= limit))
    return rows


def _delivery(what: str, rate: delivery.Pair, least: float | None) -> Row:
    """Events per second against a bare server that sends the same bytes."""
    ratio = rate.ours / rate.floor
    bar = "-" if least is None else f"≥ {least} × bare server"
    holds = least is None or ratio >= least
    return Row(what=what, value=rate.ours, unit="events/s", floor=rate.floor, ratio=ratio, bar=bar, holds=holds)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:  # the disk that sessions live on
        folder = Path(name)
        rows = [*start_up(), *chat_turns(folder), *many_sessions(folder), *plan_tasks(folder), *pure_rates(folder)]
        rows += [*supervisor_rounds(folder), *deliveries(folder)]
    print(f"{'what':34}{'value':>14}  {'unit':9}{'floor':>12}{'ratio':>8}  {'bar':28}")
    for row in rows:
        floor = f"{row.floor:,.1f}" if row.floor else "-"
        ratio = f"{row.ratio:.2f}" if row.ratio else "-"
        mark = "ok" if row.holds else "MISSED"
        print(f"{row.what:34}{row.value:>14,.1f}  {row.unit:9}{floor:>12}{ratio:>8}  {row.bar:28}{mark}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    named = {row.what: {field: getattr(row, field) for field in row.__struct_fields__} for row in rows}
    (results / "foundation.json").write_text(json.dumps(named, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
