"""The private socket of a data folder: other windows of the same user reach the process that holds the sessions by it.

Only its owner can open the file. A path that is too long for the address of a socket is reached through /proc.
"""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET_FILE = "moot.sock"
BACKLOG = 64
_ADDRESS_BYTES = 100  # of an address of a socket; 104 on macOS, 108 on Linux, with a null byte at its end
_CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group


def listen(folder: Path) -> socket.socket | None:
    """Listen in a data folder whose lock this process holds. A socket that a dead process left behind is replaced.

    None if the folder's file system or its long name allows no socket: there are no other windows then.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        remove(folder)
        with _address(folder) as address:
            mask = os.umask(0o177)  # mode 0600 from its first moment
            try:
                listening.bind(address)
            finally:
                os.umask(mask)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        return None
    listening.setblocking(False)
    return listening


def connect(folder: Path) -> socket.socket:
    """Connect to the process that holds a data folder. Raises OSError if there is none, or if it is somebody else's."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _address(folder) as address:
            connected.connect(address)
    except BaseException:
        connected.close()
        raise
    return connected


def remove(folder: Path) -> None:
    with suppress(FileNotFoundError):
        (folder / SOCKET_FILE).unlink()


def find_peer(connected: socket.socket) -> int | None:
    """Return the process at the other end. None for a socket of the network, and where the system does not tell."""
    if connected.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return None
    pid: int = _CREDENTIALS.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0]
    return pid


@contextmanager
def _address(folder: Path) -> Iterator[str]:
    path = folder.absolute() / SOCKET_FILE
    if len(os.fsencode(path)) <= _ADDRESS_BYTES:
        yield str(path)
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET_FILE}"
    finally:
        os.close(descriptor)
