"""Stopping on signals: the first one asks for an orderly stop with a deadline, the second one ends the process."""

import asyncio
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GAVE_UP = 1  # exit code


@contextmanager
def stopping(deadline_s: float) -> Iterator[asyncio.Event]:
    """Yield an event that the first SIGINT or SIGTERM sets.

    A second signal, or `deadline_s` after the first, ends the process at once. That is safe: every accepted command
    is in the log.
    """
    loop = asyncio.get_running_loop()
    stop_requested = asyncio.Event()
    deadline: asyncio.TimerHandle | None = None

    def stop(number: signal.Signals) -> None:
        nonlocal deadline
        if not stop_requested.is_set():
            stop_requested.set()
            deadline = loop.call_later(deadline_s, _give_up, deadline_s)
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        yield stop_requested
    finally:
        if deadline:
            deadline.cancel()
        for number in SIGNALS:
            loop.remove_signal_handler(number)


def _give_up(deadline_s: float) -> None:
    logger.error("something did not stop within %g s; ended without it, nothing that was said is lost", deadline_s)
    os._exit(GAVE_UP)
