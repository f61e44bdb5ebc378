"""What the system knows of processes: when one began, and which ones carry a mark in their environment.

`/proc` answers where there is one; elsewhere `ps` tells the start time, and marks are not seen.
"""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def find_start_time(pid: int) -> str | None:
    """When the process began, in words of the system: with the pid it names one process. None when it is gone."""
    if (_PROC / "self" / "stat").exists():
        try:
            after_name = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if after_name[0] == "Z" else after_name[19]
    asked = ["ps", "-o", "lstart=", "-p", str(pid)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - a number, no shell
    return told.stdout.strip() or None


def find_marked(mark: str) -> list[int]:
    """Every process that has `mark` (`NAME=value`) in its environment, also one that left its group."""
    wanted, found = b"\0" + mark.encode() + b"\0", []
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # many, and each is read once: no Path
                environment = b"\0" + file.read()
        except OSError:  # gone, or somebody else's
            continue
        if wanted in environment and int(name) != os.getpid():
            found.append(int(name))
    return found


def send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def send_group_signal(group: int, number: signal.Signals) -> None:
    """`group` is the pid of the process that leads it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
