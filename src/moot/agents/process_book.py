"""Records which programs run, so that those of a killed server can be ended by the next one.

Each program has a file in the data folder. It is made before the program starts and named after the mark in the
program's environment; pid and start time are added when it runs. The next process that opens the folder kills what it
finds there.
"""

import json
import os
import secrets
import signal
import time
from contextlib import suppress
from pathlib import Path

from moot.config.private_files import make_private_folder
from moot.runtime.process_table import (
    MARK_NAME,
    find_marked,
    find_start_time,
    list_descendants,
    send_group_signal,
    send_signal,
)

FOLDER = "processes"
_GONE_S = 2.0  # a killed process is gone long before that


def make_mark() -> str:
    """A new mark for a program that is about to start. It begins with the pid of this process."""
    return f"{os.getpid()}-{secrets.token_hex(8)}"


class ProcessBook:
    """`folder` None records nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def announce(self) -> str:
        """Record and return the mark of a program that is about to start."""
        mark = make_mark()
        self._write(mark, {})
        return mark

    def note(self, mark: str, pid: int) -> None:
        self._write(mark, {"pid": pid, "start_time": find_start_time(pid)})

    def forget(self, mark: str) -> None:
        if self._folder:
            with suppress(OSError):
                (self._folder / mark).unlink(missing_ok=True)

    def end_leftovers(self) -> int:
        """Kill the programs that an earlier process left running; return how many there were."""
        ended = 0
        for file in sorted(self._folder.iterdir()) if self._folder and self._folder.is_dir() else []:
            ended += _end_leftover(file)
            file.unlink(missing_ok=True)
        return ended

    def _write(self, mark: str, entry: dict[str, object]) -> None:
        if self._folder:
            make_private_folder(self._folder)  # its entries name processes to kill
            (self._folder / mark).write_text(json.dumps(entry))


def _end_leftover(file: Path) -> int:
    try:
        entry = json.loads(file.read_text())
        pid, start_time = entry.get("pid"), entry.get("start_time")
    except (OSError, ValueError, AttributeError):  # half written: the mark is in its name
        pid, start_time = None, None
    killed = find_marked(f"{MARK_NAME}={file.name}")
    if isinstance(pid, int) and pid > 1 and start_time and find_start_time(pid) == start_time:
        killed += [*list_descendants(pid), pid]
        send_group_signal(pid, signal.SIGKILL)
    for other in killed:
        send_signal(other, signal.SIGKILL)
    until = time.monotonic() + _GONE_S
    while any(map(find_start_time, killed)) and time.monotonic() < until:
        time.sleep(0.005)  # blocks, at start-up: the turn must not run twice at once
    return int(bool(killed))
