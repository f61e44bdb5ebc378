"""Files for their owner only: tokens, keys, which programs are trusted. They are replaced as a whole."""

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

OWNER_FILE = "owner.token"  # in the data folder
TOKEN_VARIABLE = "MOOT_TOKEN"  # noqa: S105 - the variable that may hold the owner's token instead, not its value

Version = tuple[int, int, int]


def write_private(path: Path, data: bytes) -> None:
    """Replace a file. A crash leaves the old one or the new one; neither can be read by other users.

    Raises OSError, which always names the file: that of a full disk would not.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def restrict(stream: TextIO) -> None:
    """Keep other users from what is written to a stream if that is a file: `moot serve > moot.log` has a token."""
    with suppress(OSError, ValueError):  # it has no file, or somebody else's
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            os.fchmod(stream.fileno(), stat.S_IMODE(mode) & 0o700)


def make_private_folder(path: Path) -> None:
    """Make a folder that no other user may read or write, whatever the umask says. One that is there is restricted."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)


def keep_secret(path: Path) -> bytes:
    """Return the secret in this file; a missing or empty file gets a new one, the same for all who ask at once."""
    if secret := _read_secret(path):
        return secret
    with held(path):
        if not (secret := _read_secret(path)):
            secret = secrets.token_urlsafe(32).encode()
            write_private(path, secret + b"\n")
    return secret


def _read_secret(path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except FileNotFoundError:
        return b""


def version_of(path: Path) -> Version | None:
    """Return a value that differs after every replacement of the file; None if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold an exclusive lock beside the file, so that one process at a time changes it. Waits for the lock."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
