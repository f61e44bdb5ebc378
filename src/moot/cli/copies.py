"""Imports of exported sessions, under a new id.

An export is untrusted: its chain is checked, its text is cleaned again, and the copy is ended before it can be opened,
so that nothing of it runs.
"""

import hashlib
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from moot.cli.packing import list_named, opened_log, read_files
from moot.core import limits
from moot.core.codec import Event
from moot.core.decide import decide
from moot.core.errors import ConfigError
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.machines.session import Status
from moot.core.session.commands import End
from moot.core.session.events import NoticePosted
from moot.core.session.state import State
from moot.protocol.exported import read_events
from moot.runtime.clock import SystemClock
from moot.runtime.copying import Copy, DatedFact, Tick, write_session
from moot.runtime.ports import Log

LINE_BYTES, FILE_BYTES, MOST_EVENTS = 16 * 1024 * 1024, 1024 * 1024 * 1024, 1_000_000


class Checked(Struct, frozen=True):
    """What the first reading of an export found out."""

    session_id: str
    events: int


@contextmanager
def open_twice(path: str) -> Iterator[IO[bytes]]:
    """Open an export so that it can be read a second time; `-` is the standard input, which is copied to a file."""
    if path != "-":
        with open(path, "rb") as file:
            yield file
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield copy


def check_export(file: IO[bytes], tick: Tick) -> Checked:
    """Read an export to its end and check that it is a session. `tick` is called for each event.

    Nothing of it is kept: a session of a million events would need gigabytes. Raises what `read_export` raises, and
    Corrupt if the events are not those of a session.
    """
    copy = Copy("s_0")
    session_id = ""
    with opened_log(file) as log:
        for event in read_export(log):
            session_id = session_id or event.session_id
            copy.add(event.fact, event.timestamp)
            tick()
    if not copy.head.seq:
        raise ConfigError("the file has no events; use what `moot sessions export` writes")
    return Checked(session_id, copy.head.seq)


async def import_session(log: Log, file: IO[bytes], checked: Checked, tick: Tick) -> str:
    """Copy the events of a checked export, read again, end the copy, and return its id."""

    named: set[str] = set()

    async def read() -> AsyncIterator[DatedFact]:
        with opened_log(file) as exported:
            for event in read_export(exported):
                named.update(list_named(event.fact))
                yield event.fact, event.timestamp

    def end(state: State) -> list[Fact]:
        notice = NoticePosted(code="imported", detail=checked.session_id[:80], count=checked.events)
        if state.status is Status.COMPLETED:
            return [notice]
        return [notice, *decide(evolve(state, notice), End(), SystemClock().now()).facts]

    session_id = await write_session(log, read(), end, tick)
    left = limits.SESSION_FILE_BYTES
    for data in read_files(file):
        left -= len(data)
        if left >= 0 and hashlib.sha256(data).hexdigest() in named:
            await log.put_file(session_id, data)
    return session_id


def read_export(file: IO[bytes]) -> Iterator[Event]:
    """Yield the events of an exported session.

    Raises Corrupt if a line is not the next frame of the session, and ConfigError if the file is too large.
    """
    return read_events(_read_lines(file))


def _read_lines(file: IO[bytes]) -> Iterator[bytes]:
    count = read_bytes = 0
    while line := file.readline(LINE_BYTES + 1):
        read_bytes += len(line)
        if len(line) > LINE_BYTES or read_bytes > FILE_BYTES or count >= MOST_EVENTS:
            raise ConfigError(f"line {count + 1} is too long, or the file is; is it an export of a session?")
        if line.strip():
            if not count and not line.lstrip().startswith(b"{"):
                raise ConfigError("this is not an export of Moot; `moot sessions export ID` writes one")
            count += 1
            yield line
