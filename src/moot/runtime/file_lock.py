"""One writer per log file: an flock, which the kernel releases when its holder dies, even by kill -9."""

import fcntl
import os
from pathlib import Path

from moot.core.errors import Locked, Unusable


class FileLock:
    """Held from construction to `release`. Raises Locked if another process holds it, Unusable if it cannot be made.

    The lock file stays: if it were removed, two processes could each lock a file of that name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unusable(
                f"{self._path} cannot be written ({error.strerror}); make it so or use --data DIR"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 32).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            who = f"process {holder}" if holder else "another process"
            raise Locked(
                f"{path} is held by {who}; stop it or use --data DIR; if it is `moot serve`, use --connect with its URL"
            ) from error
        self._write(str(os.getpid()))

    def release(self) -> None:
        self._write("")
        os.close(self._descriptor)

    def _write(self, text: str) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)
