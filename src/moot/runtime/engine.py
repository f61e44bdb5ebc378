"""One open session: append, then evolve, then act.

A command is decided on the state, its facts are made durable, and only then do they count. What to do next is read off
the new state, so that a restart does the same as going on.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from moot.core.codec import Head
from moot.core.commands import (
    AckDispatch,
    AskHuman,
    Command,
    CompleteTurn,
    ExpireDispatch,
    ExpireLease,
    FailTurn,
    ReportStep,
    ReportUnderstanding,
    StartTask,
    TimerCommand,
    WorkerCommand,
)
from moot.core.errors import LogError, NotFound, Refused
from moot.core.events import Input
from moot.core.intent import SemanticInput
from moot.core.outstanding import (
    Deadline,
    DeliverAnswer,
    Effect,
    LeaseCheck,
    RunTask,
    RunTool,
    RunTurn,
    StepDeadline,
    Understand,
    outstanding,
)
from moot.core.plan.leases import are_tasks_held
from moot.core.plan.status import semantic_input
from moot.core.state import State
from moot.core.turns import task_input, turn_input
from moot.runtime import snapshots
from moot.runtime.clock import seconds_between
from moot.runtime.inbox import Asked, Inbox
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
from moot.runtime.timers import Timers
from moot.runtime.understanding import bounded

logger = logging.getLogger(__name__)

SNAPSHOT_EVERY = 1_000  # events
SNAPSHOT_WORTH = 100  # events: fewer fold as fast as a snapshot loads
STORAGE_RETRY_S = 1.0
PASSING = (ReportStep, AskHuman, AckDispatch, StartTask)  # their workers may be stopped while they wait for the answer

Spawn = Callable[["asyncio._CoroutineLike[None]"], "asyncio.Task[None]"]
FindUnderstander = Callable[[str], Understander]  # by the team's name
Reported = WorkerCommand | TimerCommand


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
        self._journal = Journal(session_id, state, head, log, clock, self._move)
        self._log = log
        self._clock = clock
        self._timers = Timers(clock)
        self._dispatch = dispatch
        self._spawn = spawn
        self._find_understander = find_understander
        self._streams = streams or Streams()
        self._inbox = Inbox()
        self._is_pumping = False  # somebody logs what is in the inbox, or is about to
        self._under_way: dict[str, Handle] = {}
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
        return not (self._under_way or self._pending or self._is_pumping)

    async def current(self) -> tuple[State, Head]:
        """State and head when nothing is on its way to the disk: not behind what followers have been shown."""
        await self._journal.rest()
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
        """Have a command logged together with those that wait. Whoever finds nobody at it does it for all."""
        asked = self._inbox.add(command, key)
        if not self._is_pumping:
            self._is_pumping = True
            await self._pump()
        return await asked.answer()

    async def _pump(self) -> None:
        """Log one batch. What came meanwhile is left to a task of its own, so that nobody works for others for ever."""
        try:
            if self._journal.state.work is not None:
                await asyncio.sleep(0)  # workers that are ready now share one append
            await self._journal.write(self._inbox.take())
        finally:
            if self._inbox.waiting:
                self._hand_over()
            else:
                self._is_pumping = False

    def _hand_over(self) -> None:
        pumping = self._pump()
        try:
            self._spawn(pumping)
        except RuntimeError:  # the app is being torn down, and with it all who wait
            pumping.close()

    def _move(self) -> None:
        """The state is a new one."""
        self.act()
        if self._journal.head.seq - self._snapshot_seq >= SNAPSHOT_EVERY:
            self._spawn(self.save_snapshot())

    async def save_snapshot(self) -> None:
        if self.head.seq - self._snapshot_seq < SNAPSHOT_WORTH:
            return
        self._snapshot_seq = self.head.seq
        try:
            await self._log.save_snapshot(self.session_id, snapshots.take(self.state, self.head))
        except LogError as error:  # a cache: its loss costs time, nothing else
            logger.warning("no snapshot of session %s: %s", self.session_id, error)

    def act(self) -> None:
        """Start what is outstanding and not under way; stop what is under way and no longer outstanding."""
        if self._is_parked:
            return
        wanted = {effect.key: effect for effect in outstanding(self.state)}
        under_way = self._under_way
        for key in [key for key in under_way if key not in wanted]:
            under_way.pop(key).cancel()
        for key, effect in wanted.items():
            if key in under_way:
                continue
            try:
                under_way[key] = self._start(effect)
            except Exception:  # what led to it is logged and holds; the others start, this one is tried the next time
                logger.exception("session %s cannot start %s", self.session_id, key)

    def park(self) -> None:
        """Stop everything without a word in the log: it stays outstanding and goes on when the session is opened."""
        self._is_parked = True
        self._retry.set()
        for handle in self._under_way.values():
            handle.cancel()
        self._under_way.clear()
        self._timers.close()

    async def recover(self) -> None:
        """After a restart: workers ended with their process, so that what they held is to be offered again first."""
        if are_tasks_held(self.state):
            self._pending += 1
            await asyncio.shield(self._spawn(self._void_leases()))  # who asked may go; the session needs it whole
        else:
            self.act()

    async def _void_leases(self) -> None:
        """A full disk does not keep the session closed: it can be read, and goes on when there is room."""
        left = await self._log_reports([ExpireLease()])
        self._pending -= 1
        if left:
            self._spawn(self._report_later(left))
        else:
            self.act()

    def _start(self, effect: Effect) -> Handle:
        match effect:
            case RunTurn(turn=turn):
                job = turn_input(self.session_id, self.state, turn)
                return self._dispatch.start(job, self.state.team.name, self._report, self._show)
            case Deadline(after_s=after_s, command=command):
                if isinstance(command, ExpireDispatch):
                    return self._await_start(effect, command)
                return self._timers.start(after_s, lambda: self._fire(command))
            case RunTask(run=run, dispatch_id=dispatch_id):
                job = task_input(self.session_id, self.state, run, dispatch_id)
                return self._dispatch.offer(job, self.state.team.name, self._report, self._show)
            case Understand(input=said):
                return self._spawn(self._understand(said, semantic_input(self.state, said.text)))
            case RunTool(call=call, member=member):
                tool = ToolJob(session_id=self.session_id, team=self.state.team.name, member=member, call=call)
                return self._dispatch.call(tool, self._report)
            case DeliverAnswer(turn_id=turn_id, step_id=step_id, choice=choice):
                return _Delivered(self._under_way[turn_id], step_id, choice)
            case LeaseCheck():
                return self._watch(effect)
            case StepDeadline(at=at, command=command):
                delay_s = max(0.0, seconds_between(self._clock.now(), at))
                return self._timers.start(delay_s, lambda: self._fire(command))

    def _await_start(self, late: Deadline, command: ExpireDispatch) -> Handle:
        """A task that was taken and waits in line for room is not late."""

        def look() -> None:
            worker = self._under_way.get(command.dispatch_id)
            if isinstance(worker, Worker) and worker.is_in_line:
                self._under_way[late.key] = self._await_start(late, command)
            else:
                self._fire(command)

        return self._timers.start(late.after_s, look)

    def _watch(self, check: LeaseCheck) -> Handle:
        def look() -> None:
            worker = self._under_way.get(check.dispatch_id)
            if isinstance(worker, Worker) and worker.is_alive:
                self._under_way[check.key] = self._watch(check)
            else:
                self._fire(check.command)

        return self._timers.start(check.every_s, look)

    async def _understand(self, said: Input, given: SemanticInput) -> None:
        team = self.state.team.name
        understood = await bounded.understand(lambda: self._find_understander(team), given, self._clock)
        report = ReportUnderstanding(
            input_id=said.input_id, analysis=understood.analysis, fallback_reason=understood.fallback_reason
        )
        self._fire(report)

    def _fire(self, command: Reported) -> None:
        self._spawn(self._report(command))

    async def _report(self, *commands: Reported) -> None:
        """What workers and timers say is never dropped for want of disk; it waits until there is some.

        A parked session does not wait: what was not logged is still outstanding. Nobody is stopped while it reports an
        end, so that it may log for itself and for others.
        """
        left: Sequence[Reported]
        if len(commands) == 1 and not self._is_pumping and not isinstance(commands[0], PASSING):
            self._is_pumping = True
            asked = self._inbox.add(commands[0])
            await self._pump()
            left = () if asked.is_logged else await self._hear(asked, commands[0])
        else:
            left = await self._log_reports(commands)
        if left:
            await self._report_later(left)

    async def _report_later(self, commands: Sequence[Reported]) -> None:
        while commands and not self._is_parked:
            await self._wait_to_retry()
            commands = await self._log_reports(commands)

    async def _log_reports(self, commands: Sequence[Reported]) -> list[Reported]:
        """Those that are to be tried again. Who reports may be stopped while it waits, and lets somebody else log."""
        asked = [self._inbox.add(command) for command in commands]
        if not self._is_pumping:
            self._is_pumping = True
            self._hand_over()
        again: list[Reported] = []
        for each, command in zip(asked, commands, strict=True):
            if not each.is_logged:
                again += await self._hear(each, command)
        return again

    async def _hear(self, asked: Asked, command: Reported) -> Sequence[Reported]:
        """What became of a report: what to report instead, if anything."""
        try:
            await asked.answer()
        except Refused as refusal:
            logger.info("session %s ignored a late report: %s", self.session_id, refusal.code)
        except NotFound:
            logger.info("session %s was removed; a report is ignored", self.session_id)
        except LogError as error:
            logger.warning("session %s cannot log (%s); trying again", self.session_id, error)
            return [command]
        except Exception as error:  # a result that nobody can make sense of is a failed turn, not a dead server
            logger.exception("session %s cannot take a report", self.session_id)
            if isinstance(command, CompleteTurn):
                why = f"{type(error).__name__}: {error}"
                return [FailTurn(turn_id=command.turn_id, error_type="agent", message=why)]
        return ()

    async def _wait_to_retry(self) -> None:
        self._retry.clear()
        timer = self._clock.call_later(STORAGE_RETRY_S, self._retry.set)
        await self._retry.wait()
        timer.cancel()

    def _show(self, turn_id: str, piece: Delta | Thinking) -> None:
        self._streams.show(self.session_id, turn_id, piece)


class _Delivered:
    """An answer that its worker has. It stays under way for as long as the worker does, so that it is given once."""

    def __init__(self, worker: Handle, step_id: str, choice: str | None) -> None:
        if isinstance(worker, Worker):
            worker.answer(step_id, choice)

    def cancel(self) -> None:
        """There is nothing to stop."""
