"""One open session: append, then evolve, then act.

A command is decided on the state and its facts are logged; only then does the state change. What to do next is derived
from the new state, so that a restart continues with the same work.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from moot.core import limits
from moot.core.codec import Head
from moot.core.effects import (
    Deadline,
    DeliverAnswer,
    Effect,
    LeaseCheck,
    RunTask,
    RunTool,
    RunTurn,
    StepDeadline,
    Understand,
)
from moot.core.errors import LogError, NotFound, Refused
from moot.core.flows.registry import flow_of
from moot.core.intake.front_door import semantic_input
from moot.core.intake.intent import SemanticInput
from moot.core.outstanding import outstanding
from moot.core.session.commands import (
    AckDispatch,
    AskHuman,
    Command,
    CompleteTurn,
    ExpireDispatch,
    FailTurn,
    ReportStep,
    ReportUnderstanding,
    StartTask,
)
from moot.core.session.events import Input
from moot.core.session.state import State
from moot.runtime import snapshots
from moot.runtime.clock import seconds_between
from moot.runtime.inbox import Inbox, PendingCommand
from moot.runtime.journal import Journal
from moot.runtime.ports import (
    Clock,
    CommandKey,
    Delta,
    Dispatch,
    Handle,
    Log,
    Receipt,
    Thinking,
    ToolJob,
    Understander,
    Worker,
)
from moot.runtime.streams import Streams
from moot.runtime.understanding import fallback

logger = logging.getLogger(__name__)

SNAPSHOT_EVERY = 1_000  # events
SNAPSHOT_WORTH = 100  # events; fewer are folded as fast as a snapshot is loaded
STORAGE_RETRY_S = 1.0
REOPENED_S = 60.0  # that a question stays open at least after a restart, unless its whole time is shorter
# Reports in the middle of a turn: the worker may be cancelled while it waits for them to be logged.
INTERIM = (ReportStep, AskHuman, AckDispatch, StartTask)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
FindUnderstander = Callable[[str], Understander]  # by the team's name
Report = Command  # of a worker or a timer


class Engine:
    """Runs one session; the only writer of it in this process.

    Commands of people come in through `submit`; workers and timers report through `_report`. Both wait in the inbox.
    The first caller that finds no writer becomes the writer for the whole batch (`_enqueue`).
    """

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
        self._written: dict[str, str] = {}  # by running turns so far, for those that will not end
        self._journal = Journal(session_id, state, head, log, clock, self._on_change, self._written)
        self._log = log
        self._clock = clock
        self._dispatch = dispatch
        self._spawn = spawn
        self._find_understander = find_understander
        self._streams = streams or Streams()
        self._inbox = Inbox()
        self._is_writing = False  # a writer of the inbox runs or is scheduled
        self._running: dict[str, Handle] = {}  # effects by key
        self._pending = 0  # commands of people that are not decided yet
        self._is_parked = False
        self._retry = asyncio.Event()
        self._snapshot_seq = head.seq

    @property
    def state(self) -> State:
        return self._journal.state

    @property
    def head(self) -> Head:
        return self._journal.head

    @property
    def is_idle(self) -> bool:
        return not (self._running or self._pending or self._is_writing)

    async def current(self) -> tuple[State, Head]:
        """Wait for the write under way, so that state and head are not behind what followers have seen."""
        await self._journal.wait_until_written()
        return self.state, self.head

    async def submit(self, command: Command, key: CommandKey | None = None) -> Receipt:
        """Have a command decided and logged; it is durable when this returns.

        Cancelling this only stops the waiting: a command that is being written must still be acted upon.

        Raises:
            Refused: the command is not allowed now.
            LogError: it could not be logged.
        """
        if self._is_parked:
            raise LogError(f"session {self.session_id} was closed here; open it again")
        outcome: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._pending += 1
        self._spawn(self._log_submitted(command, key, outcome))
        return await outcome

    async def _log_submitted(self, command: Command, key: CommandKey | None, outcome: asyncio.Future[Receipt]) -> None:
        try:
            (pending,) = await self._enqueue((command,), key)
            receipt = await pending.receipt()
            if not outcome.done():
                outcome.set_result(receipt)
        except Exception as error:
            if not outcome.done():
                outcome.set_exception(error)
        finally:
            self._pending -= 1
            outcome.cancel()  # no effect if it is done

    async def _enqueue(
        self, commands: Sequence[Command], key: CommandKey | None = None, *, is_cancellable: bool = False
    ) -> list[PendingCommand]:
        """Add commands to the inbox. If nobody writes it, write the next batch before returning.

        A caller that may be cancelled leaves the writing to a task: it would interrupt the others' append.
        """
        pending = [self._inbox.add(command, key) for command in commands]
        if not self._is_writing:
            self._is_writing = True
            if is_cancellable:
                self._spawn_writer()
            else:
                await self._write_batch()
        return pending

    async def _write_batch(self) -> None:
        """Log one batch. A new task writes what came meanwhile, so that no caller writes for others for ever."""
        try:
            if self._journal.state.slice.has_workers:
                await asyncio.sleep(0)  # workers that are ready now share one append
            await self._journal.write(self._inbox.take())
        finally:
            if self._inbox.waiting:
                self._spawn_writer()
            else:
                self._is_writing = False

    def _spawn_writer(self) -> None:
        writing = self._write_batch()
        try:
            self._spawn(writing)
        except RuntimeError:  # the app is being torn down, and with it everybody who waits
            writing.close()

    def _on_change(self) -> None:
        self.act()
        for turn_id in [turn_id for turn_id in self._written if not self.state.is_under_way(turn_id)]:
            del self._written[turn_id]
        if self._journal.head.seq - self._snapshot_seq >= SNAPSHOT_EVERY:
            self._spawn(self.save_snapshot())

    async def save_snapshot(self) -> None:
        if self.head.seq - self._snapshot_seq < SNAPSHOT_WORTH:
            return
        self._snapshot_seq = self.head.seq
        try:
            await self._log.save_snapshot(self.session_id, snapshots.take(self.state, self.head))
        except LogError as error:  # it is only a cache
            logger.warning("no snapshot of session %s: %s", self.session_id, error)

    def act(self) -> None:
        """Start the outstanding effects that do not run yet; stop those that run and are no longer outstanding."""
        if self._is_parked:
            return
        state = self._journal.state
        wanted = {effect.key: effect for effect in outstanding(state)}
        running = self._running
        for key in [key for key in running if key not in wanted]:
            running.pop(key).cancel()
        for key, effect in wanted.items():
            if key in running:
                continue
            try:
                running[key] = self._start(state, effect)
            except Exception:  # its cause is logged: start the others, try this one again with the next change
                logger.exception("session %s cannot start %s", self.session_id, key)

    def park(self) -> None:
        """Stop everything without logging it. It stays outstanding and starts again when the session is opened."""
        self._is_parked = True
        self._retry.set()
        for handle in self._running.values():
            handle.cancel()
        self._running.clear()

    async def recover(self) -> None:
        """Start what is outstanding after the session was opened.

        What its flow must decide first, because the workers ended with the last process, is decided first.
        """
        command = flow_of(self.state).recover(self.state)
        if command is None:
            self.act()
            return
        self._pending += 1
        # shielded: a caller that is cancelled must not leave the session half recovered
        await asyncio.shield(self._spawn(self._decide_first(command)))

    async def _decide_first(self, command: Command) -> None:
        """If the disk is full the session is opened all the same: it can be read, and continues when there is room."""
        unlogged = await self._log_reports([command])
        self._pending -= 1
        if unlogged:
            self._spawn(self._retry_reports(unlogged))
        else:
            self.act()

    def _start(self, state: State, effect: Effect) -> Handle:
        match effect:
            case RunTurn(turn=turn):
                job = flow_of(state).turn_input(self.session_id, state, turn.turn_id)
                return self._dispatch.start(job, state.team.name, self._report, self._show)
            case Deadline(after_s=after_s, command=command):
                if isinstance(command, ExpireDispatch):
                    return self._start_dispatch_timer(effect, command)
                return self._clock.call_later(after_s, lambda: self._report_soon(command))
            case RunTask(dispatch_id=dispatch_id):
                job = flow_of(state).turn_input(self.session_id, state, dispatch_id)
                return self._dispatch.offer(job, state.team.name, self._report, self._show)
            case Understand(input=input_):
                meant = semantic_input(state, input_.text, flow_of(state))
                return self._spawn(self._understand(input_, meant))
            case RunTool(call=call, member=member):
                tool = ToolJob(session_id=self.session_id, team=state.team.name, member=member, call=call)
                return self._dispatch.call(tool, self._report)
            case DeliverAnswer(turn_id=turn_id, step_id=step_id, choice=choice):
                return _DeliveredAnswer(self._running[turn_id], step_id, choice)
            case LeaseCheck():
                return self._start_lease_timer(effect)
            case StepDeadline(command=command):
                delay_s = _time_left(effect, self._clock.now())
                return self._clock.call_later(delay_s, lambda: self._report_soon(command))

    def _start_dispatch_timer(self, deadline: Deadline, command: ExpireDispatch) -> Handle:
        """Expire a dispatch that was not started in time. Tasks that wait in line for room get more time."""

        def check() -> None:
            worker = self._running.get(command.dispatch_id)
            if isinstance(worker, Worker) and worker.is_in_line:
                self._running[deadline.key] = self._start_dispatch_timer(deadline, command)
            else:
                self._report_soon(command)

        return self._clock.call_later(deadline.after_s, check)

    def _start_lease_timer(self, check: LeaseCheck) -> Handle:
        """Expire the lease of a task as soon as its worker is found dead."""

        def look() -> None:
            worker = self._running.get(check.dispatch_id)
            if isinstance(worker, Worker) and worker.is_alive:
                self._running[check.key] = self._start_lease_timer(check)
            else:
                self._report_soon(check.command)

        return self._clock.call_later(check.every_s, look)

    async def _understand(self, input_: Input, request: SemanticInput) -> None:
        team = self.state.team.name
        understood = await fallback.understand(lambda: self._find_understander(team), request, self._clock)
        report = ReportUnderstanding(
            input_id=input_.input_id, analysis=understood.analysis, fallback_reason=understood.fallback_reason
        )
        self._report_soon(report)

    def _report_soon(self, command: Report) -> None:
        self._spawn(self._report(command))

    async def _report(self, *commands: Report) -> None:
        """Log what workers and timers report. While the disk is full, try again until there is room."""
        unlogged = await self._log_reports(commands)
        if unlogged:
            await self._retry_reports(unlogged)

    async def _retry_reports(self, commands: Sequence[Report]) -> None:
        """A parked session gives up: what was not logged is still outstanding."""
        while commands and not self._is_parked:
            await self._wait_to_retry()
            commands = await self._log_reports(commands)

    async def _log_reports(self, commands: Sequence[Report]) -> list[Report]:
        """Return the reports that could not be logged and are to be tried again."""
        pending = await self._enqueue(commands, is_cancellable=isinstance(commands[0], INTERIM))
        unlogged: list[Report] = []
        for report, command in zip(pending, commands, strict=True):
            if not report.is_logged:
                unlogged += await self._await_report(report, command)
        return unlogged

    async def _await_report(self, pending: PendingCommand, command: Report) -> Sequence[Report]:
        """Wait until a report is logged or refused. Return what to report again, or instead, if anything."""
        try:
            await pending.receipt()
        except Refused as refusal:
            logger.info("session %s ignored a late report: %s", self.session_id, refusal.code)
        except NotFound:
            logger.info("session %s was removed; a report is ignored", self.session_id)
        except LogError as error:
            logger.warning("session %s cannot log (%s); trying again", self.session_id, error)
            return [command]
        except Exception as error:  # a result that cannot be processed fails its turn, not the server
            logger.exception("session %s cannot take a report", self.session_id)
            if isinstance(command, CompleteTurn):
                message = f"{type(error).__name__}: {error}"
                return [FailTurn(turn_id=command.turn_id, error_type="agent", message=message)]
        return ()

    async def _wait_to_retry(self) -> None:
        self._retry.clear()
        timer = self._clock.call_later(STORAGE_RETRY_S, self._retry.set)
        await self._retry.wait()
        timer.cancel()

    def _show(self, turn_id: str, piece: Delta | Thinking) -> None:
        if isinstance(piece, Delta):
            self._written[turn_id] = (self._written.get(turn_id, "") + piece.text)[: limits.PARTIAL_CHARS]
        self._streams.show(self.session_id, turn_id, piece)


def _time_left(deadline: StepDeadline, now: str) -> float:
    """How long a question stays open from now on, when it is asked or when its session is opened again.

    The wall clock may have jumped while no server ran, so it has a say within bounds only (docs/decisions/030-time.md).
    """
    left_s = seconds_between(now, deadline.at)
    whole_s = left_s if deadline.timeout_s is None else deadline.timeout_s
    return max(min(left_s, whole_s), min(REOPENED_S, whole_s), 0.0)


class _DeliveredAnswer:
    """An answer that was handed to its worker. It counts as running until the turn ends, so it is delivered once."""

    def __init__(self, worker: Handle, step_id: str, choice: str | None) -> None:
        if isinstance(worker, Worker):
            worker.answer(step_id, choice)

    def cancel(self) -> None:
        """Nothing to stop."""
