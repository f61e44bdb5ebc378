"""Files that hold secrets: readable by their owner only, replaced as a whole, never half written."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Version = tuple[int, int, int]


def write_private(path: Path, data: bytes) -> None:
    """A crash leaves the old file or the new one, and never one that others may read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def keep_secret(path: Path) -> bytes:
    """The secret in this file; made at its first use."""
    try:
        found = path.read_bytes().strip()
    except FileNotFoundError:
        found = b""
    if not found:
        found = secrets.token_urlsafe(32).encode()
        write_private(path, found + b"\n")
    return found


def version_of(path: Path) -> Version | None:
    """Differs after every replacement, however quickly they follow each other; None when there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


@contextmanager
def held(path: Path) -> Iterator[None]:
    """One process at a time changes this file; the others wait."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
