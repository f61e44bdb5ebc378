"""Copies of sessions under a new id: forks from any event, and imports of exported sessions.

The facts are copied and stamped again, so that the copy has a hash chain of its own. An export is untrusted: its chain
is checked, its text is cleaned again, and the copy is ended before it can be opened, so that nothing of it runs.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

import msgspec

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
    facts: list[DatedFact] = []
    while len(facts) < until:
        events = await log.read(source, len(facts), min(READ_EVENTS, until - len(facts)))
        facts += [(event.fact, event.timestamp) for event in events]
    state = _fold(facts)
    notice = NoticePosted(code="forked", detail=source, count=until)
    return await _write(log, facts, [notice, *_give_floor(state)], tick)


def _give_floor(state: State) -> list[Fact]:
    """Return the pause that must end the copy if no work is outstanding: every log names who has the floor."""
    if state.status is Status.PAUSED and state.waiting_for:
        return [SessionPaused(waiting_for=state.waiting_for, reason=state.pause_reason or "fallback")]
    if state.status is Status.ACTIVE and not outstanding(state):
        return [SessionPaused(waiting_for=state.team.first_human.id, reason="fallback")]
    return []


async def import_session(log: Log, events: Sequence[Event], tick: Tick) -> str:
    """Copy the events of an export, end the copy, and return its id. `tick` is called for each event written."""
    facts = [(event.fact, event.timestamp) for event in events]
    state = _fold(facts)
    notice = NoticePosted(code="imported", detail=events[0].session_id[:80], count=len(events))
    if state.status is Status.COMPLETED:
        return await _write(log, facts, [notice], tick)
    decided = decide(evolve(state, notice), End(), SystemClock().now())
    return await _write(log, facts, [notice, *decided.facts], tick)


def read_export(file: IO[bytes], tick: Tick) -> list[Event]:
    """Read an exported session: one frame a line, from the first event on. `tick` is called for each.

    Raises Corrupt if a line is not the next frame of the session or its hash does not match, and ConfigError if the
    file is empty or too large.
    """
    following: Following | None = None
    events: list[Event] = []
    read_bytes = 0
    while line := file.readline(LINE_BYTES + 1):
        read_bytes += len(line)
        if len(line) > LINE_BYTES or read_bytes > FILE_BYTES or len(events) >= MOST_EVENTS:
            raise ConfigError(f"line {len(events) + 1} is too long, or the file is; is it an export of a session?")
        if not line.strip():
            continue
        event = _read_line(line.strip(), following, len(events) + 1)
        following = following or Following(event.session_id)
        if not events:
            following.head = event.head
        events.append(event)
        tick()
    if not events:
        raise ConfigError("the file has no events; use what `moot sessions export` writes")
    return events


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
        return msgspec.structs.replace(event, fact=_clean(event.fact, frame.get("metadata")))
    except (ValueError, msgspec.DecodeError) as error:
        raise Corrupt(session_id, number, str(error)) from None


def _clean(fact: Fact, metadata: Any) -> Fact:
    """Return the fact without control characters in its texts, as for input from a client."""
    cleaned: Fact = msgspec.convert(clean_data(metadata), type(fact))
    return cleaned


def _fold(facts: Sequence[DatedFact]) -> State:
    """Return the state after these facts. Raises Corrupt if they are not those of a session."""
    *_, (state, _) = _stamp("s_0", facts)
    return state


def _stamp(session_id: str, facts: Iterable[DatedFact]) -> Iterator[tuple[State, Event]]:
    """Yield the event of each fact, with the state after it. Raises Corrupt."""
    state: State | None = None
    head = Head()
    for number, (fact, at) in enumerate(facts, 1):
        try:
            _check_place(fact, at, number)
            state = evolve(state, fact)
            if number == 1:
                check_team(state.team)
            (event,) = stamp(state.team, session_id, head, [fact], at)
        except Exception as error:  # untrusted facts may break any assumption of the fold
            raise Corrupt("?", number, f"it is no event of a session ({error!r})") from None
        head = event.head
        yield state, event


def _check_place(fact: Fact, at: str, number: int) -> None:
    if (number == 1) != isinstance(fact, SessionCreated):
        raise ValueError("a session is created once, by its first event")
    if not _INSTANT.fullmatch(at):
        raise ValueError("its timestamp is none")


async def _write(log: Log, facts: Sequence[DatedFact], added: Iterable[Fact], tick: Tick) -> str:
    """Write a session of these facts, with their timestamps, and of `added`, which happen now. Return its new id."""
    session_id, now = f"s_{secrets.token_hex(8)}", SystemClock().now()
    batch: list[Event] = []
    state = None
    for state, event in _stamp(session_id, [*facts, *((fact, now) for fact in added)]):
        batch.append(event)
        tick()
        if len(batch) == APPENDED:
            await log.append(session_id, batch[0].seq - 1, batch, summary=summarise(state))
            batch = []
    if batch and state:
        await log.append(session_id, batch[0].seq - 1, batch, summary=summarise(state))
    return session_id
