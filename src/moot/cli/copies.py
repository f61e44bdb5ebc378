"""Copies of sessions under a new id: a fork from any event, and what was exported elsewhere.

Facts are taken over and stamped again, so that the chain of the copy verifies by itself. A file is a stranger's: its
own chain is checked, its text is cleaned again, and the copy is over before anybody opens it: nothing of it runs.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

import msgspec

from moot.core import team as teams
from moot.core.codec import Event, Head, decode, stamp
from moot.core.commands import End
from moot.core.decide import decide
from moot.core.errors import ConfigError, Corrupt
from moot.core.events import Fact, NoticePosted, SessionCreated, SessionPaused
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.state import State
from moot.core.text import clean
from moot.protocol.errors import ProtocolError
from moot.protocol.following import Following, Placed, Verdict
from moot.protocol.strict_json import read_object
from moot.runtime.clock import SystemClock
from moot.runtime.journal import summarise
from moot.runtime.ports import Log
from moot.runtime.snapshots import READ_EVENTS

LINE_BYTES, FILE_BYTES, MOST_EVENTS = 16 * 1024 * 1024, 1024 * 1024 * 1024, 1_000_000
APPENDED = 1_000  # events at once

Told = tuple[Fact, str]  # what happened, and when
Tick = Callable[[], object]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_placed_decoder = msgspec.json.Decoder(Placed)


async def fork_session(log: Log, source: str, until: int, tick: Tick) -> str:
    """The first `until` events of `source`; `tick` is called for each that is written."""
    told: list[Told] = []
    while len(told) < until:
        events = await log.read(source, len(told), min(READ_EVENTS, until - len(told)))
        told += [(event.fact, event.timestamp) for event in events]
    state = _fold(told)
    note = NoticePosted(code="forked", detail=source, count=until)
    return await _write(log, told, [note, *_give_floor(state)], tick)


def _give_floor(state: State) -> list[Fact]:
    """A log ends by naming who has the floor, unless something is to be done: also after a cut in the middle."""
    if state.status is Status.PAUSED and state.waiting_for:
        return [SessionPaused(waiting_for=state.waiting_for, reason=state.pause_reason or "fallback")]
    if state.status is Status.ACTIVE and not outstanding(state):
        return [SessionPaused(waiting_for=state.team.first_human.id, reason="fallback")]
    return []


async def import_session(log: Log, events: Sequence[Event], tick: Tick) -> str:
    """`tick` is called for each that is written."""
    told = [(event.fact, event.timestamp) for event in events]
    state = _fold(told)
    note = NoticePosted(code="imported", detail=events[0].session_id[:80], count=len(events))
    if state.status is Status.COMPLETED:
        return await _write(log, told, [note], tick)
    ended = decide(evolve(state, note), End(), SystemClock().now())
    return await _write(log, told, [note, *ended.facts], tick)


def read_export(file: IO[bytes], tick: Tick) -> list[Event]:
    """Every line a frame of one session, from the first event on, each with the hash that follows. Raises Corrupt.

    `tick` is called for each.
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
        said = read_object(line.decode())
        placed = _placed_decoder.decode(line)
    except (UnicodeDecodeError, ProtocolError, msgspec.DecodeError) as error:
        raise Corrupt("?", number, f"line {number} is no frame ({error})") from None
    session_id = placed.session_id or ""
    judged = following or Following(session_id)
    verdict, data = judged.judge(placed, line)
    if verdict is not Verdict.NEXT or session_id != judged.session_id:
        raise Corrupt(session_id or "?", number, "its hash does not follow" if verdict is Verdict.BROKEN else verdict)
    try:
        event = decode(data, placed.hash or "")
        return msgspec.structs.replace(event, fact=_clean(event.fact, said.get("metadata")))
    except (ValueError, msgspec.DecodeError) as error:
        raise Corrupt(session_id, number, str(error)) from None


def _clean(fact: Fact, said: Any) -> Fact:
    """As if it had been said here: without control characters in any text."""
    cleaned: Fact = msgspec.convert(_clean_tree(said), type(fact))
    return cleaned


def _clean_tree(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_tree(each) for each in value]
    if isinstance(value, dict):
        return {clean(key): _clean_tree(each) for key, each in value.items()}
    return value


def _fold(told: Sequence[Told]) -> State:
    """Raises Corrupt where the facts are none of a session."""
    *_, (state, _) = _stamp("s_0", told)
    return state


def _stamp(session_id: str, told: Iterable[Told]) -> Iterator[tuple[State, Event]]:
    state: State | None = None
    head = Head()
    for number, (fact, at) in enumerate(told, 1):
        try:
            _check_place(fact, at, number)
            state = evolve(state, fact)
            if number == 1:
                teams.check(state.team)
            (event,) = stamp(state.team, session_id, head, [fact], at)
        except Exception as error:  # facts that no session made: anything may be wrong with them
            raise Corrupt("?", number, f"it is no event of a session ({error!r})") from None
        head = event.head
        yield state, event


def _check_place(fact: Fact, at: str, number: int) -> None:
    if (number == 1) != isinstance(fact, SessionCreated):
        raise ValueError("a session is created once, by its first event")
    if not _INSTANT.fullmatch(at):
        raise ValueError("its timestamp is none")


async def _write(log: Log, told: Sequence[Told], added: Iterable[Fact], tick: Tick) -> str:
    """Under a new id, in the order and with the times of before."""
    session_id, now = f"s_{secrets.token_hex(8)}", SystemClock().now()
    batch: list[Event] = []
    state = None
    for state, event in _stamp(session_id, [*told, *((fact, now) for fact in added)]):
        batch.append(event)
        tick()
        if len(batch) == APPENDED:
            await log.append(session_id, batch[0].seq - 1, batch, summary=summarise(state))
            batch = []
    if batch and state:
        await log.append(session_id, batch[0].seq - 1, batch, summary=summarise(state))
    return session_id
