"""The Dispatch port for members that run on other machines: their turns, tasks and tool calls become jobs.

What a worker reports is logged by the node that it is connected to. So the handle of a job here only offers it, sees
that some worker has it, and withdraws it when it is no longer wanted.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

import msgspec

from moot.core.errors import LogError, NotFound
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import WorkerCommand
from moot.core.session.state import Message
from moot.runtime.ports import Dispatch, Handle, Report, Show, ToolJob, Worker
from moot.runtime.worker_jobs import Bell, Job, JobRef, Jobs, JobStanding, Kind, make_failure

logger = logging.getLogger(__name__)

LOOK_S = 1.0
ABSENT_S = 1.0  # that a job is offered before it fails because no worker of its pool is connected

FindPool = Callable[[str, str], str | None]  # team name, member id → where it runs; None: here
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class JobHandle:
    """A job as the node sees it that acts for the session. Implements Worker and Detachable."""

    def __init__(self, job: Job, report: Report, dispatch: "JobDispatch") -> None:
        self.job = job
        self.report = report
        self.ref: JobRef | None = None  # None until it is offered
        self.absent_s = 0.0
        self.is_over = False  # it is not wanted any more, or has failed here
        self.is_alive = True
        self.is_in_line = False
        self._dispatch = dispatch

    def cancel(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._dispatch.withdraw(self)

    def detach(self) -> None:
        self.is_over = True
        self._dispatch.forget(self)

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        """Nothing to do: the node that the worker is connected to reads the answer in the log."""

    def bring(self, number: int, message: Message) -> None:
        """Nothing to do, as for an answer."""


class JobDispatch:
    """Offers jobs and watches over them.

    Args:
        spawn: runs the watch.
    """

    def __init__(self, jobs: Jobs, spawn: Spawn, look_s: float = LOOK_S) -> None:
        self.jobs = jobs
        self._spawn = spawn
        self._look_s = look_s
        self._handles: dict[tuple[str, str], JobHandle] = {}
        self._unwanted: list[JobHandle] = []
        self._bell = Bell()
        self._watch: asyncio.Task[None] | None = None

    def start(self, turn: TurnInput, team: str, pool: str, report: Report, kind: Kind = "turn") -> JobHandle:
        data = msgspec.json.encode(turn)
        return self._add(turn.session_id, turn.turn_id, kind, pool, team, turn.member.id, data, report)

    def call(self, tool: ToolJob, pool: str, report: Report) -> JobHandle:
        data = msgspec.json.encode(tool)
        return self._add(tool.session_id, tool.call.call_id, "tool", pool, tool.team, tool.member, data, report)

    def _add(
        self,
        session_id: str,
        turn_id: str,
        kind: Kind,
        pool: str,
        team: str,
        member: str,
        data: bytes,
        report: Report,
    ) -> JobHandle:
        job = Job(session_id=session_id, turn_id=turn_id, kind=kind, pool=pool, team=team, member=member, input=data)
        handle = self._handles[session_id, turn_id] = JobHandle(job, report, self)
        self._wake()
        return handle

    def withdraw(self, handle: JobHandle) -> None:
        self._unwanted.append(handle)
        self.forget(handle)
        self._wake()

    def forget(self, handle: JobHandle) -> None:
        place = (handle.job.session_id, handle.job.turn_id)
        if self._handles.get(place) is handle:
            del self._handles[place]

    def _wake(self) -> None:
        if self._watch is None or self._watch.done():
            self.jobs.listeners.add(self._bell.ring)
            self._watch = self._spawn(self._run())
        self._bell.ring()

    async def _run(self) -> None:
        """Watch the offered jobs until there are none."""
        try:
            while self._handles or self._unwanted:
                await self._bell.wait(self._look_s)
                unwanted, self._unwanted = self._unwanted, []
                await asyncio.gather(*map(self._withdraw, unwanted))
                await asyncio.gather(*(self._offer(each) for each in self._handles.values() if each.ref is None))
                try:
                    await self._look()
                except LogError as error:
                    logger.info("jobs cannot be looked after now: %s", error)
        finally:
            self.jobs.listeners.discard(self._bell.ring)

    async def _withdraw(self, handle: JobHandle) -> None:
        job = handle.job
        try:
            await self.jobs.withdraw(job.session_id, job.turn_id)
        except LogError as error:  # of this job alone, perhaps
            logger.info("a job of session %s cannot be withdrawn now: %s", job.session_id, error)
            self._unwanted.append(handle)

    async def _offer(self, handle: JobHandle) -> None:
        try:
            handle.ref = await self.jobs.offer(handle.job)
        except NotFound:
            self.forget(handle)  # the session was removed
        except LogError as error:
            logger.info("a job of session %s cannot be offered now: %s", handle.job.session_id, error)

    async def _look(self) -> None:
        offered = [handle for handle in self._handles.values() if handle.ref]
        standings = await self.jobs.look([handle.ref.job for handle in offered if handle.ref])
        for handle in offered:
            if handle.is_over or handle.ref is None:
                continue
            standing = standings.get(handle.ref.job)
            if standing is None:
                handle.ref = None  # somebody has taken it away: if it is still wanted, it is offered again
            else:
                await self._judge(handle, standing)

    async def _judge(self, handle: JobHandle, standing: JobStanding) -> None:
        handle.is_in_line = not standing.is_claimed and standing.has_workers
        if standing.is_claimed and standing.is_late:
            if handle.job.kind == "task":
                handle.is_alive = False  # the check of its lease takes it from there
            else:
                await self.jobs.offer_again(standing.ref)
        elif standing.is_claimed or standing.has_workers:
            handle.absent_s = 0.0
        else:
            handle.absent_s += self._look_s
            if handle.absent_s > ABSENT_S:
                self._fail(handle)

    def _fail(self, handle: JobHandle) -> None:
        """Fail a job that no worker can take."""
        handle.is_over = True
        self.withdraw(handle)
        job = handle.job
        reason = f"no worker of pool {job.pool} that plays team {job.team} is connected"
        self._spawn(_send(handle.report, make_failure(job, "network", reason)))


async def _send(report: Report, commands: Sequence[WorkerCommand]) -> None:
    await report(*commands)


class RoutedDispatch:
    """Implements the Dispatch port: members with a pool run on workers of that pool, the others here.

    Args:
        find_pool: where a member runs.
    """

    def __init__(self, here: Dispatch, elsewhere: JobDispatch, find_pool: FindPool) -> None:
        self._here = here
        self._elsewhere = elsewhere
        self._find_pool = find_pool

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        pool = self._find_pool(team, turn.member.id)
        if pool is None:
            return self._here.start(turn, team, report, show)
        return self._elsewhere.start(turn, team, pool, report)

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        pool = self._find_pool(team, turn.member.id)
        if pool is None:
            return self._here.offer(turn, team, report, show)
        return self._elsewhere.start(turn, team, pool, report, "task")

    def call(self, job: ToolJob, report: Report) -> Handle:
        pool = self._find_pool(job.team, job.member)
        if pool is None:
            return self._here.call(job, report)
        return self._elsewhere.call(job, pool, report)

    def release(self, session_id: str) -> None:
        self._here.release(session_id)

    async def list_live(self, session_id: str) -> Collection[str]:
        return await self._elsewhere.jobs.list_live(session_id)
