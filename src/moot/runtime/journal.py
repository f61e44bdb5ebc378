"""The state and head of one session, and the only way to change them: decide, append, evolve."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import random

from moot.core.codec import Event, Head, stamp
from moot.core.decide import decide
from moot.core.draft import NOTHING_WRITTEN
from moot.core.errors import CommandReused, Conflict, LogError
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.session.commands import HumanCommand
from moot.core.session.state import State
from moot.runtime.inbox import PendingCommand
from moot.runtime.ports import Clock, CommandKey, Log, Receipt
from moot.runtime.summaries import summarise, summary_key

APPEND_TRIES = 20


class Journal:
    """Writes a session. Only one `write` may run at a time.

    Args:
        on_change: called after each change of the state, before the next await.
        written: what running turns have written so far, by their ids.
    """

    def __init__(
        self,
        session_id: str,
        state: State,
        head: Head,
        log: Log,
        clock: Clock,
        on_change: Callable[[], None],
        written: Mapping[str, str] = NOTHING_WRITTEN,
    ) -> None:
        self.session_id = session_id
        self.state = state
        self.head = head
        self._log = log
        self._clock = clock
        self._on_change = on_change
        self._written_by_turns = written
        self._summary_key = summary_key(state)
        self._is_writing = False
        self._written: asyncio.Event | None = None  # made when somebody waits for the end of a write

    async def wait_until_written(self) -> None:
        """Wait until no write is under way."""
        while self._is_writing:
            self._written = self._written or asyncio.Event()
            await self._written.wait()

    async def write(self, batch: list[PendingCommand]) -> None:
        """Decide commands one after the other and log their facts with one append; settle every command.

        Commands that are settled early leave the batch, so that a retry does not decide them again.
        """
        self._is_writing = True
        try:
            for _ in range(APPEND_TRIES):
                if batch[-1].key:
                    await self._settle_repeated(batch)
                state, events = self._decide(batch)
                try:
                    if events:
                        await self._append(state, events, batch[-1].key)
                except Conflict:  # another process wrote: decide again on the new state
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
            seq = self.head.seq
            for pending in batch:
                pending.settle(Receipt(pending.key.digest if pending.key else "", seq))
        finally:
            self._is_writing = False
            self._wake()

    def _wake(self) -> None:
        if self._written:
            self._written.set()
            self._written = None

    async def _settle_repeated(self, batch: list[PendingCommand]) -> None:
        """Settle a command that was logged before. Only the last one can have been: it alone has a key."""
        last = batch[-1]
        assert last.key is not None  # noqa: S101 - the caller has checked
        receipt = await self._log.find_command(self.session_id, last.key.command_id)
        if receipt is None:
            return
        batch.pop()
        if receipt.digest == last.key.digest:
            last.settle(receipt)
        else:
            last.settle(CommandReused(f"command id {last.key.command_id!r} was used before with another body"))

    def _decide(self, batch: list[PendingCommand]) -> tuple[State, list[Event]]:
        """Decide each command on the state that those before it lead to. Commands that fail leave the batch."""
        try:
            return self._decide_all(batch)
        except Exception:  # a fact cannot be encoded: encode after each command to find out whose it is
            return self._decide_all(batch, encode_each=True)

    def _decide_all(self, batch: list[PendingCommand], *, encode_each: bool = False) -> tuple[State, list[Event]]:
        at, state, facts, tokens = self._clock.now(), self.state, list[Fact](), dict[int, str]()
        for pending in tuple(batch):
            try:
                chance = random()  # noqa: S311 - jitter is no secret
                decided = decide(state, pending.command, at, chance, self._written_by_turns)
                if encode_each:
                    stamp(state.team, self.session_id, self.head, decided.facts, at)
            except Exception as error:
                batch.remove(pending)
                pending.settle(error)
            else:
                state = decided.state
                if isinstance(pending.command, HumanCommand) and pending.command.principal:
                    positions = range(len(facts), len(facts) + len(decided.facts))
                    tokens.update(dict.fromkeys(positions, pending.command.principal.token_id))
                facts += decided.facts
        return state, stamp(state.team, self.session_id, self.head, facts, at, tokens)

    async def _append(self, state: State, events: list[Event], key: CommandKey | None) -> None:
        key_of_summary = summary_key(state)
        summary = None if key_of_summary == self._summary_key else summarise(state)
        try:
            await self._log.append(self.session_id, self.head.seq, events, command=key, summary=summary)
        except Conflict:
            raise
        except LogError:  # it may be in the log all the same, and then it has happened
            with suppress(LogError):
                await self._catch_up()
            raise
        self._summary_key = key_of_summary
        self.state = state
        self.head = events[-1].head
        self._on_change()

    async def _catch_up(self) -> None:
        """Fold what others appended. If that is nothing, nothing has changed and no effect may start because of it."""
        head = self.head
        while events := await self._log.read(self.session_id, self.head.seq):
            for event in events:
                self.state = evolve(self.state, event.fact)
            self.head = events[-1].head
        if self.head != head:
            self._summary_key = summary_key(self.state)  # the other process wrote that summary
            self._on_change()


def _fail(batch: list[PendingCommand], error: Exception) -> None:
    for pending in batch:
        pending.settle(error)
