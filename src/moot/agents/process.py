"""Runs the programs that play members: without a shell, with limits on output and time, and without leftovers.

On Linux a program runs below a process that ends everything it leaves behind: the sandbox, or `launcher.py` where there
is none. Besides, a program leads a process group of its own and has a mark in its environment. When it ends, everything
in that group and everything with that mark is killed, also what it left behind with open pipes. Its end is noticed
without reaping it, so that the number of its group cannot have been reused by then.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from moot.agents import launcher
from moot.agents.process_book import ProcessBook
from moot.agents.sandbox import Sandbox
from moot.core import limits
from moot.core.errors import AgentError
from moot.core.text import clean
from moot.runtime.process_table import (
    MARK_NAME,
    find_marked,
    find_parent,
    list_descendants,
    send_group_signal,
    send_signal,
)

CHUNK_BYTES = 65_536
STDERR_LINE_CHARS = 500
_POLL_S = 0.05
_DRAIN_S = 1.0  # for reading what a program wrote before it ended
_REAP_S = 2.0
_SWEEPS = 5  # a process may fork while it is being killed
_SIGNALLED = 128  # a shell and the sandbox add this to the number of a signal
_HAS_LAUNCHER = sys.platform == "linux"


class Program(Struct, frozen=True, kw_only=True):
    """A program to run. `stdin` None means an empty stdin; `talks` keeps stdin open for `Child.writer`."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path | None = None
    stdin: bytes | None = None
    talks: bool = False
    sandbox: Sandbox = Sandbox()


class Bounds(Struct, frozen=True, kw_only=True):
    output_bytes: int = 2 * limits.OUTPUT_CHARS
    stderr_bytes: int = 16_384  # the end is kept
    idle_s: float = 900.0  # without output
    total_s: float = 21_600.0
    stop_s: float = 5.0  # between SIGTERM and SIGKILL


class Ended(Struct, frozen=True, kw_only=True):
    """`code` is the negative signal number if a signal ended it, as in `subprocess`."""

    code: int
    stderr: str


@asynccontextmanager
async def start(
    program: Program, bounds: Bounds | None = None, book: ProcessBook | None = None
) -> AsyncIterator["Child"]:
    """Run a program for the length of the block; afterwards nothing of it is left.

    Raises:
        AgentError: `config` if it cannot be started.
    """
    book = book or ProcessBook()
    mark = book.announce()
    try:
        child = Child(program, bounds or Bounds(), mark)
        try:
            book.note(mark, child.pid)
            await child.connect()
            yield child
        finally:
            await child.stop()
    finally:
        book.forget(mark)


class Child:
    """A running program; created by `start`."""

    def __init__(self, program: Program, bounds: Bounds, mark: str) -> None:
        self._program = program
        self._bounds = bounds
        self._mark = f"{MARK_NAME}={mark}"
        self._popen, self._report = _launch(program, {**program.environment, MARK_NAME: mark})
        self._started_at = time.monotonic()
        self._stderr = bytearray()
        self._transports: list[asyncio.BaseTransport] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._input: _Input | None = None
        self._has_ended = asyncio.Event()
        self._is_alone = False
        self.is_waiting_for_us = False  # then the limit on silence does not count
        self.on_stderr: Callable[[str], None] | None = None  # told each line, while somebody listens

    @property
    def has_ended(self) -> bool:
        """Whether the program is over."""
        return self._has_ended.is_set() or _is_over(self._popen)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def environment(self) -> Mapping[str, str]:
        return self._program.environment

    @property
    def folder(self) -> Path | None:
        return self._program.folder

    async def connect(self) -> None:
        """Wait until it is started, and connect its pipes. Raises AgentError if it cannot be started."""
        loop, popen = asyncio.get_running_loop(), self._popen
        await self._check_report()
        assert popen.stdout is not None  # noqa: S101 - a pipe, see _launch
        assert popen.stderr is not None  # noqa: S101
        self.reader, errors = asyncio.StreamReader(limit=CHUNK_BYTES), asyncio.StreamReader(limit=CHUNK_BYTES)
        for stream, pipe in ((self.reader, popen.stdout), (errors, popen.stderr)):
            protocol = asyncio.StreamReaderProtocol(stream)
            self._transports.append((await loop.connect_read_pipe(lambda made=protocol: made, pipe))[0])  # type: ignore[misc]
        if popen.stdin:
            transport, self._input = await loop.connect_write_pipe(_Input, popen.stdin)
            self.writer = asyncio.StreamWriter(transport, self._input, None, loop)
            if self._program.stdin is not None:
                self.writer.write(self._program.stdin)
            if not self._program.talks:
                self.writer.close()  # once everything is written
        self._tasks = [asyncio.create_task(self._keep_errors(errors)), asyncio.create_task(self._look_for_end())]

    async def _check_report(self) -> None:
        """Read what the launcher reports: nothing, or why the program cannot be started."""
        if self._report is None:
            return
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        report, self._report = self._report, None
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), report)
        try:
            number = await reader.read()
        finally:
            transport.close()
        if number:
            raise _cannot_start(self._program.argv[0], os.strerror(int(number)))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield its output until it ends.

        Raises:
            AgentError: `timeout` if it takes too long or is silent for too long, `agent` if it writes too much.
        """
        received = 0
        while chunk := await self._read():
            received += len(chunk)
            if received > self._bounds.output_bytes:
                raise AgentError(
                    "agent", f"{self._name} wrote more than {self._bounds.output_bytes} bytes; it was stopped"
                )
            yield chunk

    async def ended(self) -> Ended:
        """Wait for its end; to be called after the last chunk."""
        try:
            await asyncio.wait_for(self._has_ended.wait(), self._bounds.stop_s)
        except TimeoutError:
            await self.stop()  # it closed its output but still runs
        self._end_others()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._tasks[0]), _DRAIN_S)
        code = await self._reap()
        if self._is_sandboxed and code - _SIGNALLED in set(signal.Signals):
            code = _SIGNALLED - code  # as a shell says it
        return Ended(code=code, stderr=self.stderr)

    @property
    def stderr(self) -> str:
        """The end of its stderr, without control characters."""
        return clean(self._stderr.decode(errors="replace")).strip()

    async def stop(self) -> None:
        """Send SIGTERM, wait `stop_s`, then kill it and everything that belongs to it. No effect if it has ended."""
        try:
            if self._popen.returncode is None and not _is_over(self._popen):
                reached: set[int] = set()
                await _poll(lambda: _is_over(self._popen) or self._ask_to_end(reached), self._bounds.stop_s)
        finally:  # also if the caller is cancelled
            self._end_others()
            for task in self._tasks:
                task.cancel()
            for transport in self._transports:
                transport.close()
            if self._input and not self._input.is_lost:
                self.writer.transport.abort()  # drop what it has not read
            for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
                if pipe and not self._tasks:  # never connected
                    pipe.close()
            if self._report:
                self._report.close()
            await asyncio.shield(asyncio.ensure_future(self._reap()))

    def _ask_to_end(self, reached: set[int]) -> bool:
        """Send SIGTERM to what is to end by itself and was not `reached` yet. Return False, for `_poll`.

        Whatever Moot put above the program is left out: it would end at once, and take the program with it.
        """
        if not _HAS_LAUNCHER:
            pids = [] if reached else [self.pid]
        elif self._is_sandboxed:
            pids = [pid for pid in list_descendants(self.pid) if find_parent(pid) != self.pid]
        else:
            pids = list_descendants(self.pid)
        for pid in set(pids) - reached:
            (send_signal if _HAS_LAUNCHER else send_group_signal)(pid, signal.SIGTERM)
            reached.add(pid)
        return False

    def _end_others(self) -> None:
        """Kill everything below it, its group and those who left the group.

        The group is not killed after its leader was reaped: its number may be reused then.
        """
        if self._is_alone:
            return
        self._is_alone = _is_over(self._popen)
        for _ in range(_SWEEPS):
            below = [] if self._is_alone else list_descendants(self.pid)
            pids = {*below, *find_marked(self._mark)} - {self.pid}
            for pid in pids:
                send_signal(pid, signal.SIGKILL)
            if not pids:
                break
        if self._popen.returncode is None:
            send_group_signal(self.pid, signal.SIGKILL)

    async def _reap(self) -> int:
        await _poll(lambda: self._popen.poll() is not None, _REAP_S, every_s=0.005)
        return self._popen.returncode if self._popen.returncode is not None else -signal.SIGKILL

    async def _look_for_end(self) -> None:
        await _poll(lambda: _is_over(self._popen))
        self._has_ended.set()

    async def _keep_errors(self, errors: asyncio.StreamReader) -> None:
        rest = b""
        while chunk := await errors.read(CHUNK_BYTES):
            self._stderr += chunk
            del self._stderr[: -self._bounds.stderr_bytes]
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-self._bounds.stderr_bytes :]
            for line in lines if self.on_stderr else ():
                text = clean(line.decode(errors="replace")).strip()
                if text and self.on_stderr:
                    self.on_stderr(text[:STDERR_LINE_CHARS])

    async def _read(self) -> bytes:
        """Read the next bytes; none after its end, even if another process holds the pipe open."""
        read = asyncio.ensure_future(self.reader.read(CHUNK_BYTES))
        end = asyncio.ensure_future(self._has_ended.wait())
        try:
            is_time_up = await self._wait_for({read, end})
            if not read.done() and end.done():
                await asyncio.wait({read}, timeout=_DRAIN_S)
                if not read.done():
                    self._end_others()
                    await asyncio.wait({read}, timeout=_DRAIN_S)
            if read.done():
                return read.result()
            if end.done():
                return b""
        finally:
            for waiting in (read, end):
                waiting.cancel()
        if is_time_up:
            raise AgentError("timeout", f"{self._name} took longer than {self._bounds.total_s:g} s")
        raise AgentError("timeout", f"{self._name} was silent for {self._bounds.idle_s:g} s")

    async def _wait_for(self, either: set[asyncio.Future[Any]]) -> bool:
        """Wait until one is done or a time limit is reached. Return whether the limit is the one on the whole run."""
        while True:
            left_s = self._started_at + self._bounds.total_s - time.monotonic()
            is_last = left_s <= self._bounds.idle_s
            limit_s = left_s if is_last else self._bounds.idle_s
            done, _ = await asyncio.wait(either, timeout=limit_s, return_when="FIRST_COMPLETED")
            if done or is_last or not self.is_waiting_for_us:
                return is_last

    @property
    def _is_sandboxed(self) -> bool:
        return self._program.sandbox.bubblewrap is not None

    @property
    def _name(self) -> str:
        return Path(self._program.argv[0]).name


class _Input(asyncio.StreamReaderProtocol):
    """The writing end of a program's stdin. A reader's protocol, because asyncio has no public one for writers."""

    is_lost = False

    def __init__(self) -> None:
        super().__init__(asyncio.StreamReader())

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.is_lost = True


async def _poll(is_true: Callable[[], bool], seconds: float = inf, every_s: float = _POLL_S) -> None:
    """Wait until a condition is true or time is up. Polling works on every system."""
    until = time.monotonic() + seconds
    while not is_true() and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(every_s)


def _is_over(popen: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended; without reaping it, where the system supports that."""
    if popen.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return popen.poll() is not None
    try:
        return os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return popen.poll() is not None


def _launch(program: Program, environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], BinaryIO | None]:
    """Start a program. The file, if there is one, tells whether that worked."""
    folder = program.folder
    if folder is not None and not folder.is_dir():
        raise AgentError("config", f"the agent's folder {str(folder)!r} does not exist; correct `cwd` in the team file")
    executable = find_program(program.argv[0], folder, environment.get("PATH"))
    if program.sandbox.bubblewrap:
        return _open(program, program.sandbox.wrap((executable, *program.argv[1:]), folder), environment), None
    if not _HAS_LAUNCHER:
        return _open(program, program.argv, environment, executable=executable), None
    reading, writing = os.pipe()
    wrapper = (sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), str(writing))
    try:
        popen = _open(program, (*wrapper, executable, *program.argv), environment, pass_fds=(writing,))
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return popen, os.fdopen(reading, "rb", buffering=0)


def _open(
    program: Program, argv: Sequence[str], environment: dict[str, str], **options: Any
) -> subprocess.Popen[bytes]:
    has_input = program.talks or program.stdin is not None
    try:
        return subprocess.Popen(  # noqa: S603 - a list from the team file, no shell
            list(argv),
            cwd=program.folder,
            env=environment,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
    except (OSError, ValueError) as error:
        raise _cannot_start(program.argv[0], getattr(error, "strerror", None) or str(error)) from None


def _cannot_start(name: str, reason: str) -> AgentError:
    return AgentError("config", f"cannot start {name!r}: {reason}; is it a program?")


def find_program(name: str, folder: Path | None, path: str | None) -> str:
    """Find a program: a name on the PATH, a path relative to the agent's folder. Raises AgentError."""
    if "/" not in name:
        executable = shutil.which(name, path=path)
        if executable is None:
            raise AgentError(
                "config", f"no program {name!r} found; install it, or add its folder to PATH (`moot doctor`)"
            )
        return executable
    file = (folder or Path()).absolute() / name
    if not file.is_file():
        raise AgentError("config", f"no program {name!r} found; correct `command` in the team file")
    if not os.access(file, os.X_OK):
        raise AgentError("config", f"{name!r} is not executable; run: chmod +x {name}")
    return str(file)
