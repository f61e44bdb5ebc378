"""What the system knows of processes: their start time, their parents, and the mark that Moot gives to its programs.

Read from `/proc` where there is one; elsewhere `ps` tells the start time, and neither marks nor parents are known.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK_NAME = "MOOT_PROCESS"  # a variable in the environment of every program that Moot starts
_PROC = Path("/proc")
_PR_SET_DUMPABLE = 4
_STATE, _PARENT, _START_TIME = 0, 1, 19  # fields of /proc/PID/stat behind the name


def find_start_time(pid: int) -> str | None:
    """Return when the process began, as the system writes it; pid and start name one process. None if it is gone."""
    if (_PROC / "self" / "stat").exists():
        fields = _read_stat(str(pid))
        return None if fields is None or fields[_STATE] == "Z" else fields[_START_TIME]
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a number, no shell
    return ended.stdout.strip() or None


def find_parent(pid: int) -> int | None:
    """Return the pid of its parent; None if it is gone or parents are not known here."""
    fields = _read_stat(str(pid))
    return None if fields is None else int(fields[_PARENT])


def list_descendants(pid: int) -> list[int]:
    """Return its living children, their children and so on, in no particular order."""
    children: dict[int, list[int]] = {}
    for name in _list_pids():
        fields = _read_stat(name)
        if fields and fields[_STATE] != "Z":
            children.setdefault(int(fields[_PARENT]), []).append(int(name))
    descendants = list(children.get(pid, ()))
    for descendant in descendants:  # grows while it is walked
        descendants += children.get(descendant, ())
    return descendants


def find_marked(mark: str) -> list[int]:
    """Every process that has `mark` (`NAME=value`) in its environment, also one that left its group."""
    wanted = b"\0" + mark.encode() + b"\0"
    return [int(name) for name in _list_pids() if wanted in _read_environment(name) and int(name) != os.getpid()]


def find_mark(pid: int) -> str | None:
    """The mark in the environment that the process was started with; None if it has none or cannot be read."""
    _, separator, rest = _read_environment(str(pid)).partition(f"\0{MARK_NAME}=".encode())
    return rest.partition(b"\0")[0].decode(errors="replace") if separator else None


def list_marked() -> list[tuple[int, str]]:
    """Every process that some Moot started, with its mark."""
    return [(int(name), mark) for name in _list_pids() if (mark := find_mark(int(name)))]


def forbid_inspection() -> None:
    """Keep other processes of this user from reading the memory and the environment of this one. Linux only."""
    if sys.platform == "linux":
        import ctypes  # here, because most processes need none of it

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def send_group_signal(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group; `group` is the pid of its leader."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _list_pids() -> Iterator[str]:
    return (name for name in os.listdir(_PROC) if name.isdigit()) if _PROC.is_dir() else iter(())


def _read_stat(pid: str) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name, which may contain anything."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:  # many, and each is read once: no Path
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def _read_environment(pid: str) -> bytes:
    """Its first environment, each entry between two null bytes; empty if it is gone or somebody else's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\0" + file.read()
    except OSError:
        return b""
