"""Copies of sessions under a new id: forks from any event, and imports of exported sessions.

The facts are copied and stamped again, so that the copy has a hash chain of its own. An export is untrusted: its chain
is checked, its text is cleaned again, and the copy is ended before it can be opened, so that nothing of it runs.
"""

import re
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.codec import Event, Head, decode, place, stamp
from moot.core.decide import check_team, decide
from moot.core.errors import ConfigError, Corrupt
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session.commands import End
from moot.core.session.events import NoticePosted, SessionCreated, SessionPaused
from moot.core.session.state import State
from moot.core.text import clean_data
from moot.protocol.errors import ProtocolError
from moot.protocol.following import Following, Verdict
from moot.protocol.strict_json import read_object
from moot.runtime import snapshots
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Log
from moot.runtime.snapshots import READ_EVENTS
from moot.runtime.summaries import summarise

LINE_BYTES, FILE_BYTES, MOST_EVENTS = 16 * 1024 * 1024, 1024 * 1024 * 1024, 1_000_000
APPENDED = 1_000  # events in one append

DatedFact = tuple[Fact, str]  # a fact and its timestamp
Tick = Callable[[], object]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


async def fork_session(log: Log, source: str, until: int, tick: Tick) -> str:
    """Copy the first `until` events of `source` and return the new id. `tick` is called for each event written."""

    async def read() -> AsyncIterator[DatedFact]:
        after = 0
        while after < until:
            for event in await log.read(source, after, min(READ_EVENTS, until - after)):
                yield event.fact, event.timestamp
                after = event.seq

    def end(state: State) -> list[Fact]:
        return [NoticePosted(code="forked", detail=source, count=until), *_give_floor(state)]

    return await _write(log, read(), end, tick)


def _give_floor(state: State) -> list[Fact]:
    """Return the pause that must end the copy if no work is outstanding: every log names who has the floor."""
    if state.status is Status.PAUSED and state.waiting_for:
        return [SessionPaused(waiting_for=state.waiting_for, reason=state.pause_reason or "fallback")]
    if state.status is Status.ACTIVE and not outstanding(state):
        return [SessionPaused(waiting_for=state.team.first_human.id, reason="fallback")]
    return []


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
    copy = _Copy("s_0")
    session_id = ""
    for event in read_export(file):
        session_id = session_id or event.session_id
        copy.add(event.fact, event.timestamp)
        tick()
    if copy.state is None:
        raise ConfigError("the file has no events; use what `moot sessions export` writes")
    return Checked(session_id, copy.head.seq)


async def import_session(log: Log, file: IO[bytes], checked: Checked, tick: Tick) -> str:
    """Copy the events of a checked export, read again, end the copy, and return its id."""

    async def read() -> AsyncIterator[DatedFact]:
        for event in read_export(file):
            yield event.fact, event.timestamp

    def end(state: State) -> list[Fact]:
        notice = NoticePosted(code="imported", detail=checked.session_id[:80], count=checked.events)
        if state.status is Status.COMPLETED:
            return [notice]
        return [notice, *decide(evolve(state, notice), End(), SystemClock().now()).facts]

    return await _write(log, read(), end, tick)


def read_export(file: IO[bytes]) -> Iterator[Event]:
    """Yield the events of an exported session: one frame a line, from the first event on.

    Raises Corrupt if a line is not the next frame of the session or its hash does not match, and ConfigError if the
    file is too large.
    """
    following: Following | None = None
    count = read_bytes = 0
    while line := file.readline(LINE_BYTES + 1):
        read_bytes += len(line)
        if len(line) > LINE_BYTES or read_bytes > FILE_BYTES or count >= MOST_EVENTS:
            raise ConfigError(f"line {count + 1} is too long, or the file is; is it an export of a session?")
        if not line.strip():
            continue
        event = _read_line(line.strip(), following, count + 1)
        following = following or Following(event.session_id)
        if not count:
            following.head = event.head
        count += 1
        yield event


def _read_line(line: bytes, following: Following | None, number: int) -> Event:
    try:
        frame = read_object(line.decode())
        placed = place(line)
    except (UnicodeDecodeError, ProtocolError, msgspec.DecodeError) as error:
        raise Corrupt("?", number, f"line {number} is no frame ({error})") from None
    session_id = placed.session_id or ""
    following = following or Following(session_id)
    verdict, data = following.judge(placed, line)
    if verdict is not Verdict.NEXT or session_id != following.session_id:
        raise Corrupt(session_id or "?", number, "its hash does not follow" if verdict is Verdict.BROKEN else verdict)
    try:
        event = decode(data, placed.hash or "")
        return replace(event, fact=_clean(event.fact, frame.get("metadata")))
    except (ValueError, msgspec.DecodeError) as error:
        raise Corrupt(session_id, number, str(error)) from None


def _clean(fact: Fact, metadata: Any) -> Fact:
    """Return the fact without control characters in its texts, as for input from a client."""
    cleaned: Fact = msgspec.convert(clean_data(metadata), type(fact))
    return cleaned


class _Copy:
    """A session that is made of facts, one after the other: its state and head so far."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.state: State | None = None
        self.head = Head()

    def add(self, fact: Fact, at: str) -> Event:
        """Return the event of the next fact. Raises Corrupt if it is not one of a session."""
        number = self.head.seq + 1
        try:
            _check_place(fact, at, number)
            self.state = evolve(self.state, fact)
            if number == 1:
                check_team(self.state.team)
            (event,) = stamp(self.state.team, self.session_id, self.head, [fact], at)
        except Exception as error:  # untrusted facts may break any assumption of the fold
            raise Corrupt("?", number, f"it is no event of a session ({error!r})") from None
        self.head = event.head
        return event


def _check_place(fact: Fact, at: str, number: int) -> None:
    if (number == 1) != isinstance(fact, SessionCreated):
        raise ValueError("a session is created once, by its first event")
    if not _INSTANT.fullmatch(at):
        raise ValueError("its timestamp is none")


async def _write(log: Log, facts: AsyncIterator[DatedFact], end: Callable[[State], list[Fact]], tick: Tick) -> str:
    """Write a session of these facts, with their timestamps, and of what `end` adds, which happens now.

    Returns its new id. A snapshot is left with it, so that a long one opens fast.
    """
    copy = _Copy(f"s_{secrets.token_hex(8)}")
    batch: list[Event] = []
    async for fact, at in facts:
        batch.append(copy.add(fact, at))
        tick()
        if len(batch) == APPENDED:
            await _append(log, copy, batch, is_done=False)
            batch = []
    now = SystemClock().now()
    assert copy.state is not None  # noqa: S101 - a session has a first event
    batch += [copy.add(fact, now) for fact in end(copy.state)]
    await _append(log, copy, batch, is_done=True)
    await log.save_snapshot(copy.session_id, snapshots.take(copy.state, copy.head))
    return copy.session_id


async def _append(log: Log, copy: _Copy, batch: list[Event], *, is_done: bool) -> None:
    """Append a batch. Until the copy is done its summary says that nothing is outstanding: a server that finds half of
    it, after a crash, must not go on with its work."""
    assert copy.state is not None  # noqa: S101 - it has the events of the batch
    summary = summarise(copy.state)
    if not is_done:
        summary = replace(summary, busy=False)
    await log.append(copy.session_id, batch[0].seq - 1, batch, summary=summary)
