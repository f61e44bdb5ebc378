"""The same work for every peer: what members say, how often, and how the result is reported.

A peer's script runs in an environment of its own, without Moot. It imports this module and nothing else of this folder.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version

TURNS, ROUNDS, PLANS = 600, 300, 10
TASKS, AT_ONCE, EVERY = 50, 10, 5  # of a plan: how many, how many at once, and every which one fails once
REPEATS = 3

SAID = "A message of ordinary length, as agents write them: it says what was done and what is left. [NEXT: {next}]"
DECISION = """The notes are there; now the text.
{"next_agent": "%s", "guidance": "Write what the notes say, in plain words.", "context_from_previous": "Three notes.",
 "focus_areas": ["opening", "length"]}"""
RESULT = "What was found, in a sentence of ordinary length."
_NEXT = re.compile(r"\[NEXT: (\w+)\]")

Measure = Callable[[], float] | Callable[[], Awaitable[float]]  # seconds of one turn, round or task


def speak(member: str) -> str:
    """What a member of the chat says: it names the other one."""
    return SAID.format(next="carol" if member == "bob" else "bob")


def read_next(text: str) -> str:
    """Whom a message names, found as any program would find it."""
    match = _NEXT.search(text)
    return match[1] if match else ""


def decide(number: int) -> str:
    """What the supervisor says: it sends the writer and the noter in turns."""
    return DECISION % ("writer" if number % 2 else "noter")


def read_decision(text: str) -> str:
    """Whom a decision names."""
    return str(json.loads(text[text.index("{") :])["next_agent"])


class Clock:
    """Seconds of one unit of work. The first tenth, in which things are imported and made, does not count.

    They are seconds of the processor, because other programs run beside; with a disk, seconds of the wall.
    """

    def __init__(self, units: int, *, durable: bool = False) -> None:
        self.now = time.perf_counter if durable else time.process_time
        self._skipped = units // 10
        self._moments: list[float] = []

    def tick(self) -> int:
        """Note that a unit begins. Returns how many began before."""
        self._moments.append(self.now())
        return len(self._moments) - 1

    def seconds(self) -> float:
        counted = self._moments[self._skipped :]
        return (counted[-1] - counted[0]) / (len(counted) - 1)


def report(package: str, measures: dict[str, Measure]) -> None:
    """Print the version of a peer and the best of several runs of each measure, in microseconds, as JSON."""
    only = sys.argv[1:]
    costs: dict[str, float] = {}
    for name, measure in measures.items():
        if only and name not in only:
            continue
        costs[name] = min(_run(measure) for _ in range(REPEATS)) * 1e6
    print(json.dumps({"version": version(package), "costs": costs}))


def _run(measure: Measure) -> float:
    if asyncio.iscoroutinefunction(measure):
        seconds: float = asyncio.run(measure())
        return seconds
    return measure()  # type: ignore[return-value]
