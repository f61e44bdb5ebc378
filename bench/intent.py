"""`make bench-intent`: how well `rules` understands, against a word list. Paths of JSONL files may be given instead.

    python -m bench.intent [--wrong] [file.jsonl …]

`--wrong` lists what was mislabelled in the development half; the held-out half is only counted.
"""

import sys
import time
from pathlib import Path

from bench import lexicon_baseline
from bench.intent_set import FOLDER, RELATIONS, Item, Score, read_items, score
from moot.runtime.understanding.rules.understand import analyse

SHORT = {"same_task_no_change": "same", "same_task_minor_change": "minor", "same_task_major_change": "major"}
SHORT |= {"different_task": "other", "control_instruction": "control"}


def share(part: int, whole: int) -> str:
    return f"{part / whole:6.1%}" if whole else "     -"


def print_row(name: str, count: Score) -> None:
    print(
        f"{name:28} {count.items:5} {share(count.right, count.items)} {share(count.accepted, count.items)}"
        f" {share(count.right_controls, count.controls)} {share(count.right_actions, count.actions)}"
        f" {share(count.asked, count.items)} {share(count.false_exits, count.same)}"
    )


def print_matrices(count: Score) -> None:
    for language, matrix in sorted(count.matrices.items()):
        print(f"\n{language}: labelled ↓ read as →" + "".join(f"{SHORT[relation]:>9}" for relation in RELATIONS))
        for expected in RELATIONS:
            row = "".join(f"{matrix[expected, read]:9}" for read in RELATIONS)
            print(f"{SHORT[expected]:>23}   {row}")


def measure_speed(items: list[Item]) -> tuple[float, float]:
    """Mean and worst time of one input in µs, the best of three runs each."""
    times = []
    for item in items:
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            analyse(item.request)
            runs.append(time.perf_counter() - start)
        times.append(min(runs) * 1e6)
    return sum(times) / len(times), max(times)


def main(arguments: list[str]) -> None:
    paths = [Path(each) for each in arguments if not each.startswith("--")] or sorted(FOLDER.glob("*.jsonl"))
    items = list(read_items(paths))
    print(f"{'':28} items  right  lenient control action   asks   false exits")
    for split in sorted({item.split for item in items}):
        part = [item for item in items if item.split == split]
        print_row(f"rules, {split}", score(part, analyse))
        print_row(f"word list, {split}", score(part, lexicon_baseline.label))
    for path in paths:
        print_row(f"rules, {path.stem}", score(list(read_items([path])), analyse))
    whole = score(items, analyse)
    print_row("rules, all", whole)
    print_matrices(whole)
    mean, worst = measure_speed(items)
    print(f"\n{mean:.0f} µs per input, {worst:.0f} µs the slowest (bar: 2,000 µs)")
    if "--wrong" in arguments:
        for item, relation in whole.wrong:
            if item.split != "held_out":
                print(f"{item.id}: {SHORT[item.relation]} read as {SHORT[relation]}: {item.request.raw_input[:100]!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
