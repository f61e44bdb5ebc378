"""Runs of the simulator inside a test: quiet, and cleaned up before the test ends."""

import gc
import logging
import sys

from sim.run import Job, Outcome, play


def play_quietly(seed: int, crash_steps: tuple[int, ...] | None = None, *, has_nodes: bool = False) -> Outcome:
    """Play a run. The coroutines of a process that was killed are collected here: they complain when they go."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    logging.disable(logging.CRITICAL)
    try:
        outcome = play(Job(seed, crash_steps, has_nodes))
        gc.collect()
    finally:
        logging.disable(logging.NOTSET)
        sys.unraisablehook = hook
    return outcome
