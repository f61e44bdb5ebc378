"""Copies of sessions under a new id. The facts are stamped again, so that the copy has a hash chain of its own."""

import re
import secrets
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from moot.core.codec import Event, Head, stamp
from moot.core.decide import check_team
from moot.core.errors import Corrupt
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session.events import NoticePosted, SessionCreated, SessionPaused
from moot.core.session.state import State
from moot.runtime import snapshots
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Log
from moot.runtime.snapshots import READ_EVENTS
from moot.runtime.summaries import summarise

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

    session_id = await write_session(log, read(), end, tick)
    for sha256 in await log.list_files(source):
        data = await log.get_file(source, sha256)
        if data is not None:
            await log.put_file(session_id, data)
    return session_id


def _give_floor(state: State) -> list[Fact]:
    """Return the pause that must end the copy if no work is outstanding: every log names who has the floor."""
    if state.status is Status.PAUSED and state.waiting_for:
        return [SessionPaused(waiting_for=state.waiting_for, reason=state.pause_reason or "fallback")]
    if state.status is Status.ACTIVE and not outstanding(state):
        return [SessionPaused(waiting_for=state.team.first_human.id, reason="fallback")]
    return []


class Copy:
    """A session that is made of facts, one after the other: its state and head so far."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._state: State | None = None
        self.head = Head()
        self.appended = Head()  # of what is in the log

    @property
    def state(self) -> State:
        """The state after the last fact. Raises Corrupt if there was none."""
        if self._state is None:
            raise Corrupt(self.session_id, 1, "it has no events")
        return self._state

    def add(self, fact: Fact, at: str) -> Event:
        """Return the event of the next fact. Raises Corrupt if it is not one of a session."""
        number = self.head.seq + 1
        try:
            _check_place(fact, at, number)
            self._state = evolve(self._state, fact)
            if number == 1:
                check_team(self._state.team)
            (event,) = stamp(self._state.team, self.session_id, self.head, [fact], at)
        except Exception as error:  # untrusted facts may break any assumption of the fold
            raise Corrupt("?", number, f"it is no event of a session ({error!r})") from None
        self.head = event.head
        return event


def _check_place(fact: Fact, at: str, number: int) -> None:
    if (number == 1) != isinstance(fact, SessionCreated):
        raise ValueError("a session is created once, by its first event")
    if not _INSTANT.fullmatch(at):
        raise ValueError("its timestamp is none")


async def write_session(
    log: Log, facts: AsyncIterator[DatedFact], end: Callable[[State], list[Fact]], tick: Tick
) -> str:
    """Write a session of these facts, with their timestamps, and of what `end` adds, which happens now.

    Returns its new id. A snapshot is left with it, so that a long one opens fast.
    """
    copy = Copy(f"s_{secrets.token_hex(8)}")
    batch: list[Event] = []
    async for fact, at in facts:
        batch.append(copy.add(fact, at))
        tick()
        if len(batch) == APPENDED:
            await _append(log, copy, batch, is_done=False)
            batch = []
    now = SystemClock().now()
    batch += [copy.add(fact, now) for fact in end(copy.state)]
    await _append(log, copy, batch, is_done=True)
    await log.save_snapshot(copy.session_id, snapshots.take(copy.state, copy.head))
    return copy.session_id


async def _append(log: Log, copy: Copy, batch: list[Event], *, is_done: bool) -> None:
    """Append a batch. Until the copy is done its summary says that nothing is outstanding: a server that finds half of
    it, after a crash, must not go on with its work."""
    summary = summarise(copy.state)
    if not is_done:
        summary = replace(summary, busy=False)
    await log.append(copy.session_id, copy.appended, batch, summary=summary)
    copy.appended = batch[-1].head
