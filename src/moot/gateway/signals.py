"""How the server is asked to stop: the first signal politely, the second at once."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping() -> Iterator[asyncio.Event]:
    """Set by the first SIGINT or SIGTERM; a second one ends the process there and then: the log can bear it."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def stop(number: signal.Signals) -> None:
        if not asked.is_set():
            asked.set()
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        yield asked
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
