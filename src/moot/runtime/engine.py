"""One open session: append, then evolve, then act.

A command is decided on the state and its facts are logged; only then does the state change. What to do next is derived
from the new state, so that a restart continues with the same work.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from moot.core import limits
from moot.core.codec import Head
from moot.core.effects import (
    Deadline,
    DeliverAnswer,
    DeliverMessage,
    Effect,
    LeaseCheck,
    RunTask,
    RunTool,
    RunTurn,
    StepDeadline,
    Understand,
    UseWorkspace,
    Wake,
)
from moot.core.errors import Fenced, LogError, NotFound, Refused
from moot.core.flows.registry import flow_of
from moot.core.flows.turns import TurnInput, aside_input
from moot.core.intake.front_door import semantic_input
from moot.core.intake.intent import SemanticInput
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session.commands import (
    Command,
    CompleteTurn,
    ExpireDispatch,
    FailTurn,
    Post,
    ReportUnderstanding,
)
from moot.core.session.events import Input
from moot.core.session.state import Message, State, Turn
from moot.runtime import snapshots
from moot.runtime.alarms import Alarm, find_time_left
from moot.runtime.cluster import SOLE, Standing, cluster_of
from moot.runtime.files import Files
from moot.runtime.hosting import HostedJobs, HostedWorker
from moot.runtime.inbox import Inbox, PendingCommand
from moot.runtime.journal import Journal
from moot.runtime.ports import (
    Clock,
    CommandKey,
    Delta,
    Detachable,
    Dispatch,
    Handle,
    Log,
    Receipt,
    Thinking,
    ToolJob,
    Understander,
    Worker,
    Workspaces,
)
from moot.runtime.streams import Streams
from moot.runtime.understanding import fallback
from moot.runtime.worker_jobs import Job, JobRef
from moot.runtime.workspaces.no_workspaces import NoWorkspaces

logger = logging.getLogger(__name__)

SNAPSHOT_EVERY = 1_000  # events
SNAPSHOT_WORTH = 100  # events; fewer are folded as fast as a snapshot is loaded
STORAGE_RETRY_S = 1.0

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
        workspaces: Workspaces | None = None,
        standing: Standing = SOLE,
        may_claim: Callable[[str], bool] = lambda _: True,
        has_trees_here: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.session_id = session_id
        self._written: dict[str, str] = {}  # by running turns so far, for those that will not end
        self._cluster = cluster_of(log)
        self._journal = Journal(
            session_id,
            state,
            head,
            log,
            clock,
            self._on_change,
            self._written,
            cluster=self._cluster,
            standing=standing,
            may_claim=may_claim,
            has_trees_here=has_trees_here,
        )
        self._standing = standing  # under which the running effects were started
        self._is_recovering = False
        self._heard_seq = 0  # of what other nodes appended
        self._is_hearing = False
        self._log = log
        self._files = Files(log)
        self._clock = clock
        self._dispatch = dispatch
        self._spawn = spawn
        self._workspaces = workspaces or NoWorkspaces()
        self._find_understander = find_understander
        self._streams = streams or Streams()
        self._inbox = Inbox()
        self._is_writing = False  # a writer of the inbox runs or is scheduled
        self._running: dict[str, Handle] = {}  # effects by key
        self._hosted = HostedJobs()  # whose workers are connected here, whoever acts for the session
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
        return not (self._running or self._pending or self._is_writing or self._hosted)

    @property
    def is_acting(self) -> bool:
        """Whether this node acts for the session."""
        return self._standing.is_mine

    async def current(self) -> tuple[State, Head]:
        """Wait for the write under way, so that state and head are not behind what followers have seen.

        Raises LogError if other nodes share the log and it cannot be read.
        """
        await self._journal.wait_until_current()
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
        if isinstance(command, Post) and command.attachments:
            command = replace(command, files=await self._files.find(self.session_id, command.attachments))
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
        except Exception as error:  # raised in `submit`, whatever it is
            if not outcome.done():
                outcome.set_exception(error)
        finally:
            self._pending -= 1
            outcome.cancel()  # no effect if it is done

    async def _enqueue(
        self,
        commands: Sequence[Command],
        key: CommandKey | None = None,
        *,
        is_report: bool = False,
        is_cancellable: bool = False,
        job: JobRef | None = None,
    ) -> list[PendingCommand]:
        """Add commands to the inbox; the key is that of the last. If nobody writes it, write the next batch first.

        A caller that may be cancelled leaves the writing to a task: it would interrupt the others' append.
        """
        pending = [PendingCommand(command, None, is_report, job) for command in commands]
        pending[-1].key = key
        self._inbox.waiting += pending
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
        if self._journal.standing != self._standing:
            self._change_hands(self._journal.standing)
        self.act()
        state = self._journal.state
        self._hosted.attend(state)
        if self._written:
            for turn_id in [turn_id for turn_id in self._written if not state.is_under_way(turn_id)]:
                del self._written[turn_id]
        if state.status is Status.COMPLETED:
            self._dispatch.release(self.session_id)
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

    def _change_hands(self, standing: Standing) -> None:
        """Begin or stop acting for the session: stop what runs, and recover what is taken over."""
        self._standing = standing
        if self._running:
            self._stop()
        self._written.clear()
        may_recover = standing.is_mine and not self._is_parked and not self._is_recovering
        if may_recover and flow_of(self.state).recover(self.state) is not None:
            self._is_recovering = True
            self._pending += 1
            self._spawn(self._decide_first())

    def hear(self, seq: int) -> None:
        """Another node appended up to `seq`."""
        self._heard_seq = max(self._heard_seq, seq)
        if self._heard_seq > self.head.seq and not self._is_hearing and not self._is_parked:
            self._is_hearing = True
            self._spawn(self._take_in_heard())

    async def _take_in_heard(self) -> None:
        try:
            while self._heard_seq > self.head.seq:
                before = self.head
                await self.catch_up()
                if self.head == before:
                    break  # the store lost what it announced, or cannot be read
        finally:
            self._is_hearing = False

    async def catch_up(self) -> None:
        """Take in what other nodes wrote; act on it if this node is the owner. If that fails, a later call retries."""
        try:
            await self._journal.wait_until_current()
            if self._cluster and self._standing.is_mine and not outstanding(self.state):
                await self._cluster.settle(self.session_id, self.head, self._standing.epoch)
        except NotFound:
            self.park()
        except LogError as error:
            logger.warning("session %s cannot be read (%s)", self.session_id, error)

    def let_go(self) -> None:
        """Stop acting for the session, because other nodes may begin to."""
        self._journal.let_go()

    def act(self) -> None:
        """Start the outstanding effects that do not run yet; stop those that run and are no longer outstanding."""
        if self._is_parked or self._is_recovering or not self._standing.is_mine:
            return
        state = self._journal.state
        wanted = {effect.key: effect for effect in outstanding(state)}
        running = self._running
        for key in tuple(running):
            if key not in wanted:
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
        self._hosted.stop()
        self._stop()

    def _stop(self) -> None:
        """End what runs here. Workers on other machines go on: whoever acts for the session next has them."""
        self._dispatch.release(self.session_id)
        for handle in self._running.values():
            (handle.detach if isinstance(handle, Detachable) else handle.cancel)()
        self._running.clear()

    async def recover(self) -> None:
        """Start what is outstanding after the session was opened.

        What its flow must decide first, because the workers ended with the last process, is decided first.
        """
        if flow_of(self.state).recover(self.state) is None:
            self.act()
            return
        self._pending += 1
        # shielded: a caller that is cancelled must not leave the session half recovered
        await asyncio.shield(self._spawn(self._decide_first()))

    async def _decide_first(self) -> None:
        """Decide the flow's recovery command, then act. If the disk is full, the session can be read meanwhile."""
        kept = await self._find_live()
        command = flow_of(self.state).recover(self.state, kept)
        unlogged = await self._log_reports([command]) if command else []
        self._pending -= 1
        self._is_recovering = False
        if unlogged:
            self._spawn(self._retry_reports(unlogged))
        else:
            self.act()

    async def _find_live(self) -> Collection[str]:
        while not self._is_parked:
            try:
                return await self._dispatch.list_live(self.session_id)
            except LogError as error:
                logger.warning("session %s: %s; trying again", self.session_id, error)
                await self._wait_to_retry()
        return ()

    def _start(self, state: State, effect: Effect) -> Handle:
        match effect:
            case RunTurn():
                job = self._make_input(state, effect.turn)
                return self._dispatch.start(job, state.team.name, self._report, self._show)
            case Deadline():
                if isinstance(effect.command, ExpireDispatch):
                    return self._start_dispatch_timer(effect, effect.command)
                return self._clock.call_later(effect.after_s, partial(self._report_soon, effect.command))
            case RunTask():
                job = flow_of(state).turn_input(self.session_id, state, effect.dispatch_id)
                run = self._dispatch.start if effect.is_taken else self._dispatch.offer
                return run(job, state.team.name, self._report, self._show_task)
            case LeaseCheck():
                return self._start_lease_timer(effect)
            case Understand():
                input_ = effect.input
                meant = semantic_input(state, input_.text, flow_of(state), input_.attachments)
                return self._spawn(self._understand(input_, meant))
            case RunTool() | UseWorkspace():
                return self._start_job(state, effect)
            case DeliverAnswer() | DeliverMessage():
                return _Delivered(self._running[effect.worker], effect)
            case Wake() | StepDeadline():
                return self._start_alarm(effect)

    def _make_input(self, state: State, turn: Turn) -> TurnInput:
        if turn.question_id:
            return aside_input(self.session_id, state, turn)
        return flow_of(state).turn_input(self.session_id, state, turn.turn_id)

    def _start_alarm(self, effect: Wake | StepDeadline) -> Handle:
        def report() -> None:
            self._report_soon(effect.command)

        if isinstance(effect, Wake):
            return Alarm(self._clock, effect.until, report)
        return self._clock.call_later(find_time_left(effect, self._clock.now()), report)

    def _start_job(self, state: State, effect: RunTool | UseWorkspace) -> Handle:
        """Start what runs between turns: a tool of a member, a job of git."""
        team = state.team.name
        if isinstance(effect, UseWorkspace):
            return self._workspaces.run(effect.job, self.session_id, team, self._report)
        tool = ToolJob(session_id=self.session_id, team=team, member=effect.member, call=effect.call)
        return self._dispatch.call(tool, self._report)

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
            worker = self._running.get(check.worker)
            if isinstance(worker, Worker) and worker.is_alive:
                self._running[check.key] = self._start_lease_timer(check)
            else:
                self._report_soon(check.command)

        return self._clock.call_later(check.every_s, look)

    async def _understand(self, input_: Input, request: SemanticInput) -> None:
        team = self.state.team.name
        if request.images:
            request = replace(request, images=await self._files.read(self.session_id, request.images))
        understood = await fallback.understand(lambda: self._find_understander(team), request, self._clock)
        report = ReportUnderstanding(
            input_id=input_.input_id,
            analysis=understood.analysis,
            fallback_reason=understood.fallback_reason,
            usage=understood.usage,
        )
        self._report_soon(report)

    async def host(self, job: Job, worker: HostedWorker, begin: Callable[[], None]) -> bool:
        """Pass answers and messages from the log on to a worker connected here. Returns False if its job is over.

        `begin` is called first if it is not: an answer to a job that the worker does not have yet would be lost.
        """
        state, _ = await self.current()
        if not self._hosted.add(state, job, worker):
            return False
        begin()
        self._hosted.attend(state)
        return True

    def leave_job(self, ref: JobRef) -> None:
        """Forget a job whose worker is no longer connected here."""
        self._hosted.remove(ref)

    async def report_job(self, ref: JobRef, key: CommandKey, commands: Sequence[Report]) -> Refused | None:
        """Log, once, what a worker reports under a claim; it is durable when this returns.

        Returns why the last was refused. Raises Fenced if the worker has lost the job, LogError if it cannot be logged.
        """
        refusal: Refused | None = None
        for pending in await self._enqueue(commands, key, is_cancellable=True, job=ref):
            try:
                refusal = None
                await pending.receipt()
            except Refused as error:
                refusal = error
        return refusal

    def _report_soon(self, command: Report) -> None:
        self._spawn(self._log_report(command))

    async def _log_report(self, command: Report) -> None:
        await self._report(command)

    async def _report(self, *commands: Report) -> Refused | None:
        """Log what workers and timers report. While the disk is full, try again until there is room.

        Returns why the last of them was refused, for a member that wants to know; most reports are refused because
        they are late.
        """
        refusals: list[Refused] = []
        unlogged = await self._log_reports(commands, refusals)
        if unlogged:
            await self._retry_reports(unlogged)
        return refusals[-1] if refusals else None

    async def _retry_reports(self, commands: Sequence[Report]) -> None:
        """A parked session gives up: what was not logged is still outstanding."""
        while commands and not self._is_parked:
            await self._wait_to_retry()
            commands = await self._log_reports(commands)

    async def _log_reports(self, commands: Sequence[Report], refusals: list[Refused] | None = None) -> list[Report]:
        """Return the reports that could not be logged and are to be tried again. Refusals are added to `refusals`."""
        pending = await self._enqueue(commands, is_report=True, is_cancellable=commands[0].is_interim)
        unlogged: list[Report] = []
        for report, command in zip(pending, commands, strict=True):
            if not report.is_logged:
                unlogged += await self._await_report(report, command, refusals)
        return unlogged

    async def _await_report(
        self, pending: PendingCommand, command: Report, refusals: list[Refused] | None
    ) -> Sequence[Report]:
        """Wait until a report is logged or refused. Return what to report again, or instead, if anything."""
        try:
            await pending.receipt()
        except Refused as refusal:
            logger.info("session %s refused a report: %s", self.session_id, refusal.code)
            if refusals is not None:
                refusals.append(refusal)
        except NotFound:
            logger.info("session %s was removed; a report is ignored", self.session_id)
        except Fenced:
            logger.info("session %s is in the hands of another node; a report is ignored", self.session_id)
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

    def _show_task(self, dispatch_id: str, piece: Delta | Thinking) -> None:
        self._show(dispatch_id, piece, is_task=True)

    def _show(self, turn_id: str, piece: Delta | Thinking, *, is_task: bool = False) -> None:
        if isinstance(piece, Delta):
            self._written[turn_id] = (self._written.get(turn_id, "") + piece.text)[: limits.PARTIAL_CHARS]
        self._streams.show(self.session_id, turn_id, piece, is_task=is_task)


class _Delivered:
    """An answer or a message that was handed to its worker. It counts as running, so it is handed over once."""

    def __init__(self, worker: Handle, effect: DeliverAnswer | DeliverMessage) -> None:
        if not isinstance(worker, Worker):
            return
        if isinstance(effect, DeliverMessage):
            worker.bring(effect.number, Message(effect.by, effect.text))
        else:
            worker.answer(effect.step_id, effect.choice, effect.answer)

    def cancel(self) -> None:
        """Nothing to stop."""
