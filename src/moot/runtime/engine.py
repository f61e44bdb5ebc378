"""One open session: append, then evolve, then act.

A command is decided on the state, its facts are made durable, and only then do they count. What to do next is read off
the new state, so that a restart does the same as going on.
"""

import asyncio
import logging
from collections.abc import Callable

from moot.core.codec import Event, Head, stamp
from moot.core.commands import Command, ExpireStep, ExpireTurn, TimerCommand, WorkerCommand
from moot.core.decide import Decided, decide
from moot.core.errors import CommandReused, Conflict, LogError, NotFound, Refused
from moot.core.outstanding import Effect, RunTurn, StepDeadline, TurnDeadline, outstanding
from moot.core.state import State, evolve
from moot.core.turns import turn_input
from moot.runtime import snapshots
from moot.runtime.clock import seconds_between
from moot.runtime.ports import Clock, CommandKey, Dispatch, Handle, Log, Receipt, Summary
from moot.runtime.streams import Streams
from moot.runtime.timers import Timers

logger = logging.getLogger(__name__)

APPEND_TRIES = 20
SNAPSHOT_EVERY = 1_000  # events
SNAPSHOT_WORTH = 100  # events: fewer fold as fast as a snapshot loads
STORAGE_RETRY_S = 1.0

Spawn = Callable[["asyncio._CoroutineLike[None]"], object]


class Engine:
    """The only writer of a session in this process. `submit` may be called by anybody at any time."""

    def __init__(
        self,
        session_id: str,
        state: State,
        head: Head,
        *,
        log: Log,
        clock: Clock,
        dispatch: Dispatch,
        spawn: Spawn,
        streams: Streams | None = None,
    ) -> None:
        self.session_id = session_id
        self.state = state
        self.head = head
        self._log = log
        self._clock = clock
        self._timers = Timers(clock)
        self._dispatch = dispatch
        self._spawn = spawn
        self._streams = streams or Streams()
        self._turn = asyncio.Lock()
        self._under_way: dict[str, Handle] = {}
        self._pending = 0  # commands of people that are not decided yet
        self._is_parked = False
        self._retry = asyncio.Event()
        self._summary = summarise(state)
        self._snapshot_seq = head.seq

    @property
    def is_idle(self) -> bool:
        return not self._under_way and not self._pending

    async def current(self) -> tuple[State, Head]:
        """State and head when nothing is on its way to the disk: not behind what followers have been shown."""
        async with self._turn:
            return self.state, self.head

    async def submit(self, command: Command, key: CommandKey | None = None) -> Receipt:
        """Have a command decided and logged; when this returns it is durable. Raises Refused or LogError.

        Who cancels this stops waiting and nothing else: a command that is on its way to the disk must be acted upon.
        """
        if self._is_parked:
            raise LogError(f"session {self.session_id} was closed here; open it again")
        outcome: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._pending += 1
        self._spawn(self._obey(command, key, outcome))
        return await outcome

    async def _obey(self, command: Command, key: CommandKey | None, outcome: asyncio.Future[Receipt]) -> None:
        try:
            receipt = await self._submit(command, key)
            if not outcome.done():
                outcome.set_result(receipt)
        except Exception as error:
            if not outcome.done():
                outcome.set_exception(error)
        finally:
            self._pending -= 1
            outcome.cancel()  # does nothing to one that is done

    async def _submit(self, command: Command, key: CommandKey | None = None) -> Receipt:
        async with self._turn:
            for _ in range(APPEND_TRIES):
                if key and (receipt := await self._log.find_command(self.session_id, key.command_id)):
                    if receipt.digest != key.digest:
                        raise CommandReused(f"command id {key.command_id!r} was used before with another body")
                    return receipt
                try:
                    return await self._decide_and_append(command, key)
                except Conflict:  # another node wrote: decide again on what is now true
                    await self._catch_up()
            raise Conflict(f"session {self.session_id}: others appended {APPEND_TRIES} times in a row; try again")

    async def _decide_and_append(self, command: Command, key: CommandKey | None) -> Receipt:
        at = self._clock.now()
        decided = decide(self.state, command, at)
        events = stamp(decided.state.team, self.session_id, self.head, decided.facts, at)
        if events:
            summary = summarise(decided.state)
            await self._log.append(
                self.session_id,
                self.head.seq,
                events,
                command=key,
                summary=None if summary == self._summary else summary,
            )
            self._summary = summary
            self._accept(decided, events)
        return Receipt(key.digest if key else "", self.head.seq)

    def _accept(self, decided: Decided, events: list[Event]) -> None:
        self.state = decided.state
        self.head = events[-1].head
        self.act()
        if self.head.seq - self._snapshot_seq >= SNAPSHOT_EVERY:
            self._spawn(self.save_snapshot())

    async def save_snapshot(self) -> None:
        if self.head.seq - self._snapshot_seq < SNAPSHOT_WORTH:
            return
        self._snapshot_seq = self.head.seq
        try:
            await self._log.save_snapshot(self.session_id, snapshots.take(self.state, self.head))
        except LogError as error:  # a cache: its loss costs time, nothing else
            logger.warning("no snapshot of session %s: %s", self.session_id, error)

    async def _catch_up(self) -> None:
        while events := await self._log.read(self.session_id, self.head.seq):
            for event in events:
                self.state = evolve(self.state, event.fact)
            self.head = events[-1].head
        self._summary = summarise(self.state)  # as the other one wrote it
        self.act()

    def act(self) -> None:
        """Start what is outstanding and not under way; stop what is under way and no longer outstanding."""
        if self._is_parked:
            return
        wanted = {effect.key: effect for effect in outstanding(self.state)}
        under_way = self._under_way
        if wanted.keys() == under_way.keys():
            return
        for key in under_way.keys() - wanted.keys():
            under_way.pop(key).cancel()
        for key, effect in wanted.items():
            if key not in under_way:
                under_way[key] = self._start(effect)

    def park(self) -> None:
        """Stop everything without a word in the log: it stays outstanding and goes on when the session is opened."""
        self._is_parked = True
        self._retry.set()
        for handle in self._under_way.values():
            handle.cancel()
        self._under_way.clear()
        self._timers.close()

    def _start(self, effect: Effect) -> Handle:
        match effect:
            case RunTurn(turn=turn):
                job = turn_input(self.session_id, self.state, turn)
                return self._dispatch.start(job, self.state.team.name, self._report, self._show)
            case TurnDeadline(turn_id=turn_id, after_s=after_s):
                return self._timers.start(after_s, lambda: self._fire(ExpireTurn(turn_id=turn_id)))
            case StepDeadline(step_id=step_id, at=at):
                delay_s = max(0.0, seconds_between(self._clock.now(), at))
                return self._timers.start(delay_s, lambda: self._fire(ExpireStep(step_id=step_id)))

    def _fire(self, command: TimerCommand) -> None:
        self._spawn(self._report(command))

    async def _report(self, command: WorkerCommand | TimerCommand) -> None:
        """What workers and timers say is never dropped for want of disk; it waits until there is some.

        A parked session does not wait: what was not logged is still outstanding.
        """
        while True:
            try:
                await self._submit(command)
            except Refused as refusal:
                logger.info("session %s ignored a late report: %s", self.session_id, refusal.code)
            except NotFound:
                logger.info("session %s was removed; a report is ignored", self.session_id)
            except LogError as error:
                logger.warning("session %s cannot log (%s); trying again", self.session_id, error)
                if not self._is_parked:
                    await self._wait_to_retry()
                    continue
            return

    async def _wait_to_retry(self) -> None:
        self._retry.clear()
        timer = self._clock.call_later(STORAGE_RETRY_S, self._retry.set)
        await self._retry.wait()
        timer.cancel()

    def _show(self, turn_id: str, delta: str) -> None:
        self._streams.show(self.session_id, turn_id, delta)


def summarise(state: State) -> Summary:
    return Summary(
        title=state.title,
        team=state.team.name,
        flow=state.team.flow,
        status=state.status,
        waiting_for=state.waiting_for,
        busy=bool(state.running or state.open_steps),
    )
