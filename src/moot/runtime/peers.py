"""Finds out whether the other end of a local connection is an agent's program. Such a peer is not taken for a person.

Every program that Moot starts has a mark in its environment, and so has the process above it, which the program cannot
shed (`agents/launcher.py`, `agents/sandbox.py`). The kernel tells which socket is at the other end (`sock_diag(7)`:
80 µs on a machine where reading /proc/net/tcp takes 13 ms), and `/proc` tells which process holds it. Linux only;
elsewhere, and for peers on other machines, nothing is known.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from ipaddress import ip_address

from moot.runtime.process_table import (
    MARK_NAME,
    find_mark,
    find_parent,
    find_start_time,
    list_descendants,
    list_marked,
)

Address = tuple[str, int]
SocketId = tuple[int, int]  # its inode and the kernel's cookie for it; no later socket has the same

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _REQUEST, _ALL_STATES, _NO_COOKIE = 4, 20, 1, 0xFFFFFFFF, 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_QUERY = struct.Struct("=BBBBI")  # inet_diag_req_v2 up to the socket: family, protocol, extensions, padding, states
_ENDS = struct.Struct("!HH16s16s")  # inet_diag_sockid: ports and addresses
_MARKS = struct.Struct("=III")  # its rest: interface, cookie
_ANSWER = struct.Struct("=4x36xIQ12xII")  # inet_diag_msg: interface, cookie, user, inode
_TIMEOUT_S = 1.0


class PeerCheck:
    """Tells agents' programs from people, for the connections of one server. A verdict is kept for each socket."""

    MAX_KNOWN = 1_000

    def __init__(self) -> None:
        self._known: dict[SocketId, bool] = {}
        self._processes: dict[tuple[int, str], bool] = {}  # by their pid and the time of their start

    def find_known(self, peer: Address, local: Address) -> bool | None:
        """Whether the peer is an agent's program; None if that has to be found out by `find_out`. Fast."""
        socket_id = _find_socket(peer, local)
        return self._known.get(socket_id) if socket_id else None

    def find_out(self, peer: Address, local: Address) -> bool:
        """Look through the processes that Moot started. Takes milliseconds; to be called in a thread."""
        marked = _list_programs()
        programs = set(marked).union(*map(list_descendants, marked))
        socket_id = _find_socket(peer, local)
        if socket_id is None:  # it has closed the connection already: if a program of ours runs, it may have been that
            return any(mark.startswith(f"{os.getpid()}-") for mark in marked.values())
        verdict = any(_holds(pid, socket_id[0]) for pid in programs)
        while len(self._known) >= self.MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[socket_id] = verdict
        return verdict

    def is_program(self, pid: int) -> bool:
        """Whether a process is, or descends from, an agent's program. One that is gone already may have been that.

        Takes milliseconds the first time; to be called in a thread.
        """
        started = find_start_time(pid)
        if started is None:
            return True
        verdict = self._processes.get((pid, started))
        if verdict is None:
            marked = _list_programs()
            verdict = pid in set(marked).union(*map(list_descendants, marked))
            while len(self._processes) >= self.MAX_KNOWN:
                del self._processes[next(iter(self._processes))]
            self._processes[pid, started] = verdict
        return verdict


def is_on_this_machine(peer: Address, local: Address) -> bool:
    """Whether a peer is on this machine, as far as Moot can look it up."""
    if sys.platform != "linux":
        return False
    try:
        return peer[0] == local[0] or ip_address(peer[0]).is_loopback
    except ValueError:  # the name of a test's client
        return False


def _list_programs() -> dict[int, str]:
    """The processes that some Moot started for agents, with their marks."""
    own_marks = set(_list_own_marks())
    return {pid: mark for pid, mark in list_marked() if mark not in own_marks}


def _list_own_marks() -> Iterator[str]:
    """The marks of this process and of those above it: a Moot may itself have been started by an agent."""
    if own := os.environ.get(MARK_NAME):
        yield own
    pid = find_parent(os.getpid())
    while pid:
        if mark := find_mark(pid):
            yield mark
        pid = find_parent(pid)


def _find_socket(peer: Address, local: Address) -> SocketId | None:
    """Ask the kernel for the socket whose own end is `peer`. None if there is none."""
    family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
    addresses = (socket.inet_pton(family, host).ljust(16, b"\0") for host in (peer[0], local[0]))
    query = _QUERY.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES)
    query += _ENDS.pack(peer[1], local[1], *addresses) + _MARKS.pack(0, _NO_COOKIE, _NO_COOKIE)
    message = _HEADER.pack(_HEADER.size + len(query), _SOCK_DIAG_BY_FAMILY, _REQUEST, 0, 0) + query
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(_TIMEOUT_S)
            kernel.send(message)
            answer = kernel.recv(8_192)
    except OSError:
        return None
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    _, cookie, _, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    return (inode, cookie) if inode else None


def _holds(pid: int, inode: int) -> bool:
    """Whether a process has this socket open."""
    wanted = f"socket:[{inode}]"
    try:
        with os.scandir(f"/proc/{pid}/fd") as entries:
            return any(_read_link(entry.path) == wanted for entry in entries)
    except OSError:
        return False


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
