"""One open session: append, then evolve, then act.

A command is decided on the state, its facts are made durable, and only then do they count. What to do next is read off
the new state, so that a restart does the same as going on.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from random import random

from moot.core.codec import Event, Head, stamp
from moot.core.commands import (
    AckDispatch,
    Command,
    ExpireLease,
    ReportStep,
    ReportUnderstanding,
    StartTask,
    TimerCommand,
    WorkerCommand,
)
from moot.core.decide import decide
from moot.core.errors import CommandReused, Conflict, LogError, NotFound, Refused
from moot.core.events import Fact, Input
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.outstanding import (
    Deadline,
    Effect,
    LeaseCheck,
    RunTask,
    RunTurn,
    StepDeadline,
    Understand,
    outstanding,
)
from moot.core.plan.status import semantic_input
from moot.core.state import State
from moot.core.turns import task_input, turn_input
from moot.runtime import snapshots
from moot.runtime.clock import seconds_between
from moot.runtime.ports import Clock, CommandKey, Dispatch, Handle, Log, Receipt, Summary, Understander, Worker
from moot.runtime.streams import Streams
from moot.runtime.timers import Timers

logger = logging.getLogger(__name__)

APPEND_TRIES = 20
SNAPSHOT_EVERY = 1_000  # events
SNAPSHOT_WORTH = 100  # events: fewer fold as fast as a snapshot loads
STORAGE_RETRY_S = 1.0
BATCH = 100  # commands that are decided together and logged with one append
PASSING = (ReportStep, AckDispatch, StartTask)  # their workers may be stopped while they wait for the answer

Spawn = Callable[["asyncio._CoroutineLike[None]"], "asyncio.Task[None]"]
FindUnderstander = Callable[[str], Understander]  # by the team's name


class _Asked:
    """A command on its way; its outcome is a receipt, a refusal, or why it could not be logged."""

    __slots__ = ("command", "key", "outcome")

    def __init__(self, command: Command, key: CommandKey | None) -> None:
        self.command = command
        self.key = key
        self.outcome: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()

    def succeed(self, seq: int) -> None:
        if not self.outcome.done():
            self.outcome.set_result(Receipt(self.key.digest if self.key else "", seq))

    def fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)
            self.outcome.exception()  # somebody who stopped waiting is no unhandled error


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
        find_understander: FindUnderstander,
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
        self._find_understander = find_understander
        self._streams = streams or Streams()
        self._turn = asyncio.Lock()
        self._inbox: deque[_Asked] = deque()
        self._is_pumping = False
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
        """Decide and log a command together with those that wait. Whoever finds nobody at it does it for all."""
        asked = self._ask(command, key)
        if not self._is_pumping:
            await self._pump()
        return await asked.outcome

    def _ask(self, command: Command, key: CommandKey | None = None) -> _Asked:
        asked = _Asked(command, key)
        self._inbox.append(asked)
        return asked

    async def _pump(self) -> None:
        self._is_pumping = True
        try:
            while self._inbox:
                if self.state.work is not None:
                    await asyncio.sleep(0)  # workers that are ready now share one append
                async with self._turn:
                    await self._log_batch(self._take_batch())
        finally:
            self._is_pumping = False

    def _take_batch(self) -> list[_Asked]:
        """What waits, in order; a command that must be done once comes last, for the log remembers one a time."""
        batch: list[_Asked] = []
        while self._inbox and len(batch) < BATCH:
            batch.append(self._inbox.popleft())
            if batch[-1].key:
                break
        return batch

    async def _log_batch(self, batch: list[_Asked]) -> None:
        try:
            for _ in range(APPEND_TRIES):
                if await self._is_answered(batch):
                    return
                try:
                    await self._decide_and_append(batch)
                except Conflict:  # another node wrote: decide again on what is now true
                    await self._catch_up()
                else:
                    return
            error: Exception = Conflict(f"session {self.session_id}: others appended {APPEND_TRIES} times; try again")
        except Exception as failure:
            error = failure
        except asyncio.CancelledError:
            for asked in batch:
                asked.outcome.cancel()
            raise
        for asked in batch:
            asked.fail(error)

    async def _is_answered(self, batch: list[_Asked]) -> bool:
        """Take out a command that was done before; whether none is left."""
        last = batch[-1]
        if last.key and (receipt := await self._log.find_command(self.session_id, last.key.command_id)):
            batch.pop()
            if receipt.digest == last.key.digest:
                last.succeed(receipt.seq)
            else:
                last.fail(CommandReused(f"command id {last.key.command_id!r} was used before with another body"))
        return not batch

    async def _decide_and_append(self, batch: list[_Asked]) -> None:
        at, state, facts = self._clock.now(), self.state, list[Fact]()
        decided: list[_Asked] = []
        for asked in batch:
            try:
                outcome = decide(state, asked.command, at, random())  # noqa: S311 - jitter is no secret
            except Exception as error:
                asked.fail(error)
            else:
                state = outcome.state
                facts += outcome.facts
                decided.append(asked)
        if facts:
            events = stamp(state.team, self.session_id, self.head, facts, at)
            summary, key = summarise(state), decided[-1].key
            await self._log.append(
                self.session_id,
                self.head.seq,
                events,
                command=key,
                summary=None if summary == self._summary else summary,
            )
            self._summary = summary
            self._accept(state, events)
        for asked in decided:
            asked.succeed(self.head.seq)

    def _accept(self, state: State, events: list[Event]) -> None:
        self.state = state
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

    async def recover(self) -> None:
        """After a restart: workers ended with their process, so that what they held is to be offered again."""
        if self.state.work is not None and self.state.work.dispatches:
            await self._report(ExpireLease())
        self.act()

    def _start(self, effect: Effect) -> Handle:
        match effect:
            case RunTurn(turn=turn):
                job = turn_input(self.session_id, self.state, turn)
                return self._dispatch.start(job, self.state.team.name, self._report, self._show)
            case RunTask(run=run, dispatch_id=dispatch_id):
                job = task_input(self.session_id, self.state, run, dispatch_id)
                return self._dispatch.offer(job, self.state.team.name, self._report, self._show)
            case Understand(input=said):
                return self._spawn(self._understand(said))
            case Deadline(after_s=after_s, command=command):
                return self._timers.start(after_s, lambda: self._fire(command))
            case LeaseCheck():
                return self._watch(effect)
            case StepDeadline(at=at, command=command):
                delay_s = max(0.0, seconds_between(self._clock.now(), at))
                return self._timers.start(delay_s, lambda: self._fire(command))

    def _watch(self, check: LeaseCheck) -> Handle:
        def look() -> None:
            worker = self._under_way.get(check.dispatch_id)
            if isinstance(worker, Worker) and worker.is_alive:
                self._under_way[check.key] = self._watch(check)
            else:
                self._fire(check.command)

        return self._timers.start(check.every_s, look)

    async def _understand(self, said: Input) -> None:
        understander = self._find_understander(self.state.team.name)
        understood = await understander.understand(semantic_input(self.state, said.text))
        report = ReportUnderstanding(
            input_id=said.input_id, analysis=understood.analysis, fallback_reason=understood.fallback_reason
        )
        self._fire(report)

    def _fire(self, command: TimerCommand | WorkerCommand) -> None:
        self._spawn(self._report(command))

    async def _report(self, *commands: WorkerCommand | TimerCommand) -> None:
        """What workers and timers say is never dropped for want of disk; it waits until there is some.

        A parked session does not wait: what was not logged is still outstanding.
        """
        while True:
            try:
                await self._submit_all(commands)
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

    async def _submit_all(self, commands: Sequence[WorkerCommand | TimerCommand]) -> None:
        """A worker that may be stopped while it waits leaves the work of logging to somebody else."""
        if len(commands) == 1 and not isinstance(commands[0], PASSING):
            await self._submit(commands[0])
            return
        asked = [self._ask(command) for command in commands]
        if not self._is_pumping:
            self._is_pumping = True
            self._spawn(self._pump())
        for each in asked:
            await each.outcome

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
        busy=state.status is Status.ACTIVE or bool(state.running or state.open_steps or state.door.inputs),
    )
