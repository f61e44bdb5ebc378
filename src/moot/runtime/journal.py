"""State and head of one session, and the only way to change them: decide, append, evolve."""

import asyncio
from collections.abc import Callable
from random import random

from moot.core.codec import Event, Head, stamp
from moot.core.decide import decide
from moot.core.errors import CommandReused, Conflict, LogError
from moot.core.events import Fact
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.state import State
from moot.runtime.inbox import Asked
from moot.runtime.ports import Clock, CommandKey, LastLine, Log, Summary

APPEND_TRIES = 20
LINE_CHARS = 120  # of the last message, in a list


class Journal:
    """Not for two at a time: who writes waits until the write before is over. `act` is told of every new state."""

    __slots__ = ("_act", "_clock", "_gist", "_is_over", "_is_writing", "_log", "head", "session_id", "state")

    def __init__(
        self, session_id: str, state: State, head: Head, log: Log, clock: Clock, act: Callable[[], None]
    ) -> None:
        self.session_id = session_id
        self.state = state
        self.head = head
        self._log = log
        self._clock = clock
        self._act = act
        self._gist = _gist(state)
        self._is_writing = False
        self._is_over: asyncio.Event | None = None  # of a write that somebody waits for

    async def rest(self) -> None:
        """Wait until nothing is on its way to the disk."""
        while self._is_writing:
            self._is_over = self._is_over or asyncio.Event()
            await self._is_over.wait()

    async def write(self, batch: list[Asked]) -> None:
        """Decide these commands one after the other and log what they lead to with one append. All are answered.

        What is answered on the way leaves the batch: it is not decided a second time.
        """
        self._is_writing = True
        try:
            for _ in range(APPEND_TRIES):
                if batch[-1].key:
                    await self._recall(batch)
                state, events = self._decide(batch)
                try:
                    if events:
                        await self._append(state, events, batch[-1].key)
                except Conflict:  # another node wrote: decide again on what is now true
                    await self._catch_up()
                else:
                    break
            else:
                raise Conflict(f"session {self.session_id}: others appended {APPEND_TRIES} times in a row; try again")  # noqa: TRY301
        except Exception as error:
            _fail(batch, error)
        except asyncio.CancelledError:
            _fail(batch, LogError(f"session {self.session_id}: interrupted; whether it was logged is not known"))
            raise
        else:
            for asked in batch:
                asked.succeed(self.head.seq)
        finally:
            self._is_writing = False
            self._wake()

    def _wake(self) -> None:
        if self._is_over:
            self._is_over.set()
            self._is_over = None

    async def _recall(self, batch: list[Asked]) -> None:
        """Take out a command that was done before; the last is the only one that can have been."""
        last = batch[-1]
        assert last.key is not None  # noqa: S101 - who calls this has looked
        receipt = await self._log.find_command(self.session_id, last.key.command_id)
        if receipt is None:
            return
        batch.pop()
        if receipt.digest == last.key.digest:
            last.succeed(receipt.seq)
        else:
            last.fail(CommandReused(f"command id {last.key.command_id!r} was used before with another body"))

    def _decide(self, batch: list[Asked]) -> tuple[State, list[Event]]:
        """Each on what those before it lead to. One that is refused, or cannot be written, takes no other with it."""
        try:
            return self._decide_all(batch)
        except Exception:  # something cannot be encoded: look for it
            return self._decide_all(batch, is_careful=True)

    def _decide_all(self, batch: list[Asked], *, is_careful: bool = False) -> tuple[State, list[Event]]:
        at, state, facts = self._clock.now(), self.state, list[Fact]()
        for asked in tuple(batch):
            try:
                decided = decide(state, asked.command, at, random())  # noqa: S311 - jitter is no secret
                if is_careful:
                    stamp(state.team, self.session_id, self.head, decided.facts, at)
            except Exception as error:
                batch.remove(asked)
                asked.fail(error)
            else:
                state = decided.state
                facts += decided.facts
        return state, stamp(state.team, self.session_id, self.head, facts, at)

    async def _append(self, state: State, events: list[Event], key: CommandKey | None) -> None:
        gist = _gist(state)
        summary = None if gist == self._gist else summarise(state)
        await self._log.append(self.session_id, self.head.seq, events, command=key, summary=summary)
        self._gist = gist
        self.state = state
        self.head = events[-1].head
        self._act()

    async def _catch_up(self) -> None:
        while events := await self._log.read(self.session_id, self.head.seq):
            for event in events:
                self.state = evolve(self.state, event.fact)
            self.head = events[-1].head
        self._gist = _gist(self.state)  # as the other one wrote it
        self._act()


def _fail(batch: list[Asked], error: Exception) -> None:
    for asked in batch:
        asked.fail(error)


def _gist(state: State) -> tuple[object, ...]:
    """What a new summary is written for: while AIs talk to each other it stays, what they say is no news yet."""
    messages = 0 if state.status is Status.ACTIVE else state.message_count
    return (state.title, state.status, state.waiting_for, state.pause_reason, messages, _is_busy(state))


def _is_busy(state: State) -> bool:
    return state.status is Status.ACTIVE or bool(state.running or state.open_steps or state.door.inputs)


def summarise(state: State) -> Summary:
    return Summary(
        title=state.title,
        team=state.team.name,
        flow=state.team.flow,
        status=state.status,
        waiting_for=state.waiting_for,
        busy=_is_busy(state),
        pause_reason=state.pause_reason,
        messages=state.message_count,
        last=_last_line(state),
    )


def _last_line(state: State) -> LastLine | None:
    """Of the newest message that says something to people: one of markers alone does not."""
    for message in reversed(state.history):
        line = " ".join(message.text[: 4 * LINE_CHARS].split())
        if line:
            return LastLine(state.team.member(message.member).display_name, line[:LINE_CHARS])
    return None
