"""Keeps agents' programs away from Moot's own files, with bubblewrap (https://github.com/containers/bubblewrap).

A program runs as the same user as Moot. With the owner's token, or with write access to the log, it could act as the
human. In the sandbox it sees every file but Moot's: its own settings and the project stay as they are. It sees no other
processes either, because `/proc/PID/root` of any of them would lead around the sandbox. Everything that it starts ends
with it. docs/agents.md#sandbox says what this does not prevent.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from moot.config.team_file import SandboxMode
from moot.core.errors import ConfigError

PROGRAM = "bwrap"
INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
PROBE_S = 10.0
# What the data folder holds, for a team whose programs run in that very folder: it cannot be hidden as a whole.
MOOT_FILES = (
    *("owner.token", "tokens.json", "signing.key", "logins.json", "trust.json", "moot.sock"),
    *("moot.db", "moot.db-wal", "moot.db-shm"),
    *("moot-search.db", "moot-search.db-wal", "moot-search.db-shm"),
    *("processes", "conversations", "files", "handed"),
)
# Root could undo the sandbox with these: unmount, look into other processes, read disks, open files by their number.
_ROOT_CAPABILITIES = ("SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "MKNOD", "DAC_READ_SEARCH")


class Sandbox(Struct, frozen=True, kw_only=True):
    """How the programs of a team are started.

    Args:
        bubblewrap: path of the program; None starts programs without a sandbox.
        hidden: files and folders that a program does not see.
        folder: that of the team file, or the tree of a turn, which stays visible.
        shown: folders among the hidden ones that this program may see, such as the git directory of a tree.
        read_only: what a program may read but not change: the git directory of the person's repository.
    """

    bubblewrap: str | None = None
    hidden: tuple[Path, ...] = ()
    folder: Path | None = None
    shown: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()

    def wrap(self, argv: Sequence[str], folder: Path | None = None) -> tuple[str, ...]:
        """Return the command that runs `argv` in `folder`, inside of the sandbox if there is one."""
        if self.bubblewrap is None:
            return tuple(argv)
        visible = [place.resolve() for place in (self.folder, folder, *self.shown) if place]
        return (self.bubblewrap, *_list_options(), *self._hide(visible), *self._protect(), "--", *argv)

    def _protect(self) -> Iterator[str]:
        """The person's refs and hooks, and what Moot's own git reads of a clone, cannot be changed from inside."""
        own = [clone / name for clone in self.shown for name in ("config", "hooks", "info")]
        for place in (*self.read_only, *own):
            if place.exists():
                yield from ("--ro-bind", str(place.resolve()), str(place.resolve()))

    def _hide(self, visible: list[Path]) -> Iterator[str]:
        for place in self.hidden:
            path = place.resolve()
            if path in visible:
                for name in MOOT_FILES:
                    yield from _cover(path / name)
                continue
            yield from _cover(path)
            for inner in visible:
                if inner.is_relative_to(path):
                    yield from ("--bind", str(inner), str(inner))


def _cover(path: Path) -> Iterator[str]:
    """An empty folder over a folder, a device that cannot be opened over a file, nothing where there is nothing."""
    if path.is_dir():
        yield from ("--tmpfs", str(path))
    elif path.exists():
        yield from ("--ro-bind", os.devnull, str(path))


def _list_options() -> Iterator[str]:
    yield from ("--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent")
    if os.getuid() == 0:
        for name in _ROOT_CAPABILITIES:
            yield from ("--cap-drop", f"CAP_{name}")


@cache
def find_bubblewrap() -> tuple[str | None, str]:
    """Return the path of bubblewrap and an empty text, or None and why there is no sandbox on this machine."""
    if sys.platform != "linux":
        return None, "there is a sandbox on Linux only"
    path = shutil.which(PROGRAM)
    if path is None:
        return None, f"bubblewrap is not installed; {INSTALL}"
    try:
        probe = [path, *_list_options(), "--", "true"]
        ended = subprocess.run(probe, capture_output=True, timeout=PROBE_S, check=False)  # noqa: S603 - no shell
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"bubblewrap cannot be run ({error})"
    if ended.returncode:
        reason = ended.stderr.decode(errors="replace").strip().removeprefix("bwrap: ")
        return None, f"bubblewrap cannot be used here ({reason}); are user namespaces forbidden?"
    return path, ""


def make_sandbox(mode: SandboxMode, hidden: Iterable[Path], folder: Path | None) -> Sandbox:
    """The sandbox for the programs of one team. Raises ConfigError if the mode is strict and there can be none."""
    if mode == "off":
        return Sandbox()
    path, problem = find_bubblewrap()
    if path is None and mode == "strict":
        raise ConfigError(f"sandbox: strict, but {problem}")
    return Sandbox(bubblewrap=path, hidden=tuple(hidden), folder=folder)
