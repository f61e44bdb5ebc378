"""The workers that are connected to this node: gives them jobs, and logs what they report.

A worker that loses its node goes on working and shows what it holds to the next one. A node that may no longer act
sends its workers away.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

from moot.core.errors import CommandReused, Corrupt, Fenced, LogError, NotFound, Refused
from moot.core.session.commands import ReportSpending, WorkerCommand
from moot.core.session.state import Message
from moot.runtime.engine import Engine, Spawn
from moot.runtime.ports import CommandKey, Delta, Thinking
from moot.runtime.streams import Streams
from moot.runtime.worker_jobs import Bell, Job, JobRef, Jobs, LocalJobs, WorkerCard, make_failure

logger = logging.getLogger(__name__)

POLL_S = 2.0  # for jobs, in case a wake-up was lost
RETRY_S = 0.5
MAX_OVER = 100  # jobs that a worker had, whose cost may still be reported


class WorkerLink(Protocol):
    """A connected worker. The methods return at once."""

    card: WorkerCard

    def offer(self, job: Job) -> None: ...

    def answer(self, ref: JobRef, step_id: str, choice: str | None, answer: str | None) -> None: ...

    def bring(self, ref: JobRef, number: int, message: Message) -> None: ...

    def cancel(self, ref: JobRef) -> None: ...

    def close(self) -> None:
        """Send the worker away; it connects to another node."""


class _HostedWorker:
    """One job of a connected worker. Implements Worker and Detachable."""

    is_alive = True
    is_in_line = False

    def __init__(self, link: WorkerLink, job: Job, end: Callable[[Job], None], drop: Callable[[JobRef], None]) -> None:
        self._link = link
        self._job = job
        self._end = end
        self._drop = drop

    def cancel(self) -> None:
        self.detach()
        self._end(self._job)

    def detach(self) -> None:
        self._drop(self._job.ref)
        self._link.cancel(self._job.ref)

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        self._link.answer(self._job.ref, step_id, choice, answer)

    def bring(self, number: int, message: Message) -> None:
        self._link.bring(self._job.ref, number, message)


class _Station:
    """A link with the jobs that its worker has, and those that it had last."""

    def __init__(self, link: WorkerLink) -> None:
        self.link = link
        self.jobs: dict[JobRef, Job] = {}
        self.over: dict[JobRef, Job] = {}

    def let_go(self, ref: JobRef) -> Job | None:
        """Return the job that the worker does not have any more, if it had it."""
        job = self.jobs.pop(ref, None)
        if job:
            self.over[ref] = job
            if len(self.over) > MAX_OVER:
                del self.over[next(iter(self.over))]
        return job


class Foreman:
    """Looks after the workers of this node.

    Args:
        open_engine: opens a session. Raises LogError.
    """

    def __init__(
        self, jobs: Jobs, open_engine: Callable[[str], Awaitable[Engine]], streams: Streams, spawn: Spawn
    ) -> None:
        self._jobs = jobs
        self._open = open_engine
        self._streams = streams
        self._spawn = spawn
        self._stations: dict[str, _Station] = {}  # by the worker's id
        self._greeting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # while a worker is greeted
        self._bell = Bell()
        self._loop: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def lease_s(self) -> float:
        return self._jobs.lease_s

    def count(self) -> int:
        return len(self._stations)

    async def greet(self, link: WorkerLink, held: Sequence[JobRef]) -> list[JobRef]:
        """Register a connected worker. Return those of its claims that are still valid. Raises LogError."""
        lock = self._greeting.setdefault(link.card.id, asyncio.Lock())
        async with lock:  # a worker that connects twice has its newer link in the end
            return await self._greet(link, held)

    async def _greet(self, link: WorkerLink, held: Sequence[JobRef]) -> list[JobRef]:
        before = self._stations.pop(link.card.id, None)
        if before:
            await self._leave(before)
            before.link.close()
        kept = await self._jobs.greet(link.card, held)
        station = self._stations[link.card.id] = _Station(link)
        refs = [job.ref for job in kept if await self._host(station, job)]
        if self._loop is None or self._loop.done():
            self._jobs.listeners.add(self._bell.ring)
            self._loop = self._spawn(self._run())
        self._bell.ring()
        return refs

    async def part(self, link: WorkerLink, *, for_good: bool) -> None:
        """Unregister a worker that has disconnected. `for_good`: it said goodbye; others may have its jobs at once."""
        station = self._stations.get(link.card.id)
        if station is None or station.link is not link:
            return
        del self._stations[link.card.id]
        await self._leave(station)
        if for_good:
            try:
                await self._jobs.dismiss(link.card.id)
            except LogError as error:
                logger.info("worker %s has left: %s", link.card.name, error)

    async def renew(self, link: WorkerLink) -> list[JobRef]:
        """Renew a worker's leases; return the claims that it still has. Raises LogError."""
        station = self._station(link)
        before = set(station.jobs)
        kept = await self._jobs.renew(link.card.id, before)
        for ref in before - kept:
            await self._take_away(station, ref)
        self._bell.ring()
        return list(station.jobs)

    async def report(
        self, link: WorkerLink, ref: JobRef, key: CommandKey, read: Callable[[Job], list[WorkerCommand]]
    ) -> Refused | None:
        """Log what a worker reports, as soon as the log takes it. Returns why the last of it was refused.

        A report that `read` does not understand (ValueError) fails its job. Raises Fenced if the worker has lost it.
        """
        while True:
            station = self._station(link)
            try:
                return await self._report(station, ref, key, read)
            except (Fenced, NotFound, Corrupt) as error:  # a damaged log stays so: its worker has better to do
                await self._take_away(station, ref)
                raise Fenced(str(error)) from error
            except LogError as error:
                logger.info("a report of worker %s cannot be logged now: %s", link.card.name, error)
                await asyncio.sleep(RETRY_S)

    async def decline(self, link: WorkerLink, ref: JobRef, reason: str) -> None:
        """Fail a job that its worker cannot play, so that people hear of it. Raises Fenced."""
        key = CommandKey(f"job/{ref.job}/{ref.attempt}/declined", "")
        await self.report(link, ref, key, lambda job: make_failure(job, "agent", reason))

    async def _report(
        self, station: _Station, ref: JobRef, key: CommandKey, read: Callable[[Job], list[WorkerCommand]]
    ) -> Refused | None:
        if ref in station.over:
            await self._charge(station.over[ref], key, read)
            return None
        job = station.jobs.get(ref)
        if job is None or (isinstance(self._jobs, LocalJobs) and not self._jobs.holds(ref)):
            raise Fenced(f"job {ref.job} was taken from its worker")
        try:
            commands = read(job)
        except ValueError as error:
            logger.warning("a report of worker %s cannot be read: %s", station.link.card.name, error)
            commands = make_failure(job, "agent", f"its worker's report cannot be read: {error}")
        return await self._log(job, key, commands)

    async def _charge(self, job: Job, key: CommandKey, read: Callable[[Job], list[WorkerCommand]]) -> None:
        """Count what a job had cost when it was stopped. Nothing else that is reported about it counts."""
        try:
            spent = [command for command in read(job) if isinstance(command, ReportSpending)]
            if spent:
                await (await self._open(job.session_id)).submit(spent[-1], key)
        except (ValueError, CommandReused, Refused) as error:
            raise Fenced(str(error)) from error

    async def _log(self, job: Job, key: CommandKey, commands: Sequence[WorkerCommand]) -> Refused | None:
        engine = await self._open(job.session_id)
        try:
            return await engine.report_job(job.ref, key, commands)
        except CommandReused as error:
            why, key = str(error), CommandKey(f"{key.command_id}/reused", "")
        except LogError:
            raise
        except Exception as error:  # a result that cannot be processed fails its turn, not the server
            logger.exception("session %s cannot take a report of a worker", job.session_id)
            why = f"{type(error).__name__}: {error}"
        return await engine.report_job(job.ref, key, make_failure(job, "agent", why))

    def show(self, link: WorkerLink, ref: JobRef, piece: Delta | Thinking) -> None:
        station = self._stations.get(link.card.id)
        if station and station.link is link and (job := station.jobs.get(ref)):
            self._streams.show(job.session_id, job.turn_id, piece, is_task=job.kind == "task")

    def find_session(self, link: WorkerLink, ref: JobRef) -> str:
        """Return the session of a job. Raises Fenced if the worker does not have it."""
        job = self._station(link).jobs.get(ref)
        if job is None:
            raise Fenced(f"job {ref.job} was taken from its worker")
        return job.session_id

    def send_away(self) -> None:
        """Close the links to all workers, because this node stops or has lost the log."""
        for station in list(self._stations.values()):
            station.link.close()

    def close(self) -> None:
        self._is_closed = True
        self.send_away()
        self._bell.ring()

    def _station(self, link: WorkerLink) -> _Station:
        station = self._stations.get(link.card.id)
        if station is None or station.link is not link:
            raise Fenced("the worker is connected elsewhere by now")
        return station

    async def _run(self) -> None:
        """Claim jobs for workers with room, while there are any."""
        try:
            while self._stations and not self._is_closed:
                for station in list(self._stations.values()):
                    try:
                        await self._fill(station)
                    except LogError as error:
                        logger.info("no jobs can be claimed now: %s", error)
                await self._bell.wait(POLL_S)
        finally:
            self._jobs.listeners.discard(self._bell.ring)

    async def _fill(self, station: _Station) -> None:
        card = station.link.card
        room = card.at_once - len(station.jobs)
        if room <= 0:
            return
        for job in await self._jobs.claim(card, room):
            if self._stations.get(card.id) is not station:
                continue
            try:
                await self._host(station, job, partial(station.link.offer, job))
            except LogError as error:  # of this session alone: the next job may be that of another one
                logger.info("a job of session %s waits until its lease ends: %s", job.session_id, error)

    async def _host(self, station: _Station, job: Job, begin: Callable[[], None] = lambda: None) -> bool:
        """Attend to a worker's job. Returns False, and withdraws the job, if it is over."""
        station.jobs[job.ref] = job
        worker = _HostedWorker(station.link, job, self._end, lambda ref: self._drop(station, ref))
        try:
            if await (await self._open(job.session_id)).host(job, worker, begin):
                return True
            await self._jobs.withdraw(job.session_id, job.turn_id)
        except NotFound:
            pass  # removed: its jobs are gone with it
        except LogError:
            station.jobs.pop(job.ref, None)
            raise
        station.jobs.pop(job.ref, None)
        return False

    def _end(self, job: Job) -> None:
        """Withdraw a finished job. The node that offered it may be gone, so this is done here too."""
        self._spawn(self._withdraw(job))

    async def _withdraw(self, job: Job) -> None:
        try:
            await self._jobs.withdraw(job.session_id, job.turn_id)
        except LogError as error:  # whoever claims it finds that it is over
            logger.info("a job of session %s is left for now: %s", job.session_id, error)

    def _drop(self, station: _Station, ref: JobRef) -> None:
        if station.let_go(ref):
            self._bell.ring()

    async def _take_away(self, station: _Station, ref: JobRef) -> None:
        if job := station.let_go(ref):
            await self._unhost(job)
            station.link.cancel(ref)

    async def _leave(self, station: _Station) -> None:
        for job in list(station.jobs.values()):
            await self._unhost(job)
        station.jobs.clear()

    async def _unhost(self, job: Job) -> None:
        try:
            (await self._open(job.session_id)).leave_job(job.ref)
        except LogError as error:
            logger.info("session %s: %s", job.session_id, error)
