"""How the server is asked to stop: the first signal politely, the second at once; and it never takes for ever."""

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
    """Set by the first SIGINT or SIGTERM; a second one ends the process there and then: the log can bear it.

    So does the deadline, when something that runs does not let itself be stopped.
    """
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    deadline: asyncio.TimerHandle | None = None

    def stop(number: signal.Signals) -> None:
        nonlocal deadline
        if not asked.is_set():
            asked.set()
            deadline = loop.call_later(deadline_s, _give_up, deadline_s)
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        yield asked
    finally:
        if deadline:
            deadline.cancel()
        for number in SIGNALS:
            loop.remove_signal_handler(number)


def _give_up(deadline_s: float) -> None:
    logger.error("something did not stop within %g s; ended without it, nothing that was said is lost", deadline_s)
    os._exit(GAVE_UP)
