"""Jobs for workers on other machines: turns, tasks and tool calls that a worker of a pool may claim.

The node that acts for a session offers a job, offers it again when the lease of its worker runs out, and withdraws it
when it is no longer outstanding. A node that a worker is connected to claims jobs for it, renews its lease and logs
what it reports. Each claim has a new attempt, and what is reported under an old one is refused.
"""

import asyncio
import itertools
import secrets
from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.session.commands import CompleteTool, FailTurn, NackDispatch, WorkerCommand
from moot.runtime.ports import Clock

Kind = Literal["turn", "task", "tool"]
LEASE_S = 30.0  # how long a worker may be out of reach before its jobs are given to others
HEAD_START_S = 2.0  # that a worker has for a member whom it played before in the session


class JobRef(Struct, frozen=True):
    """A claim of a job: nobody but its worker may report under it."""

    job: int
    attempt: int


class Job(Struct, frozen=True, kw_only=True):
    """What a worker is to do. `turn_id` is also the id of a task's dispatch or of a tool call; `input` is JSON."""

    session_id: str
    turn_id: str
    kind: Kind
    pool: str
    team: str
    member: str
    input: bytes
    ref: JobRef = JobRef(0, 0)


def make_failure(job: Job, error_type: str, reason: str) -> list[WorkerCommand]:
    """What ends a job that cannot be played. Of a task it is not known whether it has begun: one of the two counts."""
    failed = FailTurn(turn_id=job.turn_id, error_type=error_type, message=reason)
    match job.kind:
        case "turn":
            return [failed]
        case "task":
            return [failed, NackDispatch(dispatch_id=job.turn_id, reason=reason)]
        case "tool":
            return [CompleteTool(call_id=job.turn_id, error=reason)]


class WorkerCard(Struct, frozen=True, kw_only=True):
    """A worker: `id` tells it from all others and outlives its process, `name` is for people."""

    id: str
    name: str
    pools: tuple[str, ...]
    teams: tuple[str, ...]
    at_once: int = 1


class JobStanding(Struct, frozen=True, kw_only=True):
    """How a job is doing. `has_workers`: some worker of its pool and team is connected somewhere."""

    ref: JobRef
    is_claimed: bool
    is_late: bool
    has_workers: bool


class Jobs(Protocol):
    """The jobs of all nodes. Methods raise LogError if the store cannot be reached.

    `greet` and `claim` raise it also on a node that may not act: it could not attend to the jobs of a worker.
    """

    lease_s: float
    listeners: set[Callable[[], None]]  # called when jobs may have been offered, withdrawn or settled

    async def offer(self, job: Job) -> JobRef:
        """Offer a job, unless it is offered or claimed already: then that one goes on."""

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        """Take a job back, from its worker too."""

    async def look(self, jobs: Collection[int]) -> dict[int, JobStanding]:
        """Return the standing of these jobs; those that are gone are left out."""

    async def offer_again(self, ref: JobRef) -> None:
        """Take a job whose lease has run out from its worker and offer it to all, without a head start."""

    async def list_live(self, session_id: str) -> set[str]:
        """Return the turns of a session that workers are playing."""

    async def greet(self, card: WorkerCard, held: Sequence[JobRef]) -> list[Job]:
        """Register a worker connected to this node, which holds these claims. Return the jobs that it still has; the
        rest is offered again."""

    async def claim(self, card: WorkerCard, limit: int) -> list[Job]:
        """Claim jobs for a worker, the oldest first."""

    async def renew(self, worker: str, held: Collection[JobRef]) -> set[JobRef]:
        """Renew the leases of a worker for what it holds; return what of it is still its own."""

    async def dismiss(self, worker: str) -> None:
        """Unregister a worker that says goodbye, and offer what it holds to others."""


class _Entry(Struct):
    job: Job
    offered_at: float
    worker: str = ""
    lease_until: float = 0.0


class _Present(Struct):
    card: WorkerCard
    lease_until: float
    played: set[tuple[str, str]] = field(default_factory=set)  # session and member


class LocalJobs:
    """Implements the Jobs port for a process that has its log to itself."""

    def __init__(self, clock: Clock, lease_s: float = LEASE_S) -> None:
        self.lease_s = lease_s
        self.listeners: set[Callable[[], None]] = set()
        self._clock = clock
        self._numbers = itertools.count(secrets.randbits(40))  # reports are known by them, also after a restart
        self._entries: dict[int, _Entry] = {}
        self._workers: dict[str, _Present] = {}

    def holds(self, ref: JobRef) -> bool:
        """Whether a claim is still good."""
        entry = self._entries.get(ref.job)
        return entry is not None and entry.worker != "" and entry.job.ref == ref

    async def offer(self, job: Job) -> JobRef:
        for entry in self._entries.values():
            if (entry.job.session_id, entry.job.turn_id) == (job.session_id, job.turn_id):
                return entry.job.ref
        ref = JobRef(next(self._numbers), 0)
        self._entries[ref.job] = _Entry(replace(job, ref=ref), self._clock.monotonic())
        self._tell()
        return ref

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        for number, entry in list(self._entries.items()):
            if (entry.job.session_id, entry.job.turn_id) == (session_id, turn_id):
                del self._entries[number]
        self._tell()

    async def look(self, jobs: Collection[int]) -> dict[int, JobStanding]:
        now = self._clock.monotonic()
        return {
            number: JobStanding(
                ref=entry.job.ref,
                is_claimed=entry.worker != "",
                is_late=entry.worker != "" and entry.lease_until < now,
                has_workers=any(self._fits(present, entry.job, now) for present in self._workers.values()),
            )
            for number in jobs
            if (entry := self._entries.get(number))
        }

    def _fits(self, present: _Present, job: Job, now: float) -> bool:
        return present.lease_until >= now and job.pool in present.card.pools and job.team in present.card.teams

    async def offer_again(self, ref: JobRef) -> None:
        entry = self._entries.get(ref.job)
        if entry and entry.job.ref == ref and entry.worker and entry.lease_until < self._clock.monotonic():
            entry.worker = ""
            self._tell()

    def _free(self, entry: _Entry) -> None:
        entry.worker, entry.offered_at = "", self._clock.monotonic()
        self._tell()

    async def list_live(self, session_id: str) -> set[str]:
        now = self._clock.monotonic()
        return {
            entry.job.turn_id
            for entry in self._entries.values()
            if entry.job.session_id == session_id and entry.worker and entry.lease_until >= now
        }

    async def greet(self, card: WorkerCard, held: Sequence[JobRef]) -> list[Job]:
        now = self._clock.monotonic()
        until = now + self.lease_s
        known = self._workers.get(card.id)
        self._workers = {each.card.id: each for each in self._workers.values() if each.lease_until >= now}
        self._workers[card.id] = _Present(card, until, known.played if known else set())
        kept: list[Job] = []
        for entry in self._entries.values():
            if entry.worker != card.id:
                continue
            if entry.job.ref in held:
                entry.lease_until = until
                kept.append(entry.job)
            else:
                self._free(entry)
        self._tell()
        return kept

    async def claim(self, card: WorkerCard, limit: int) -> list[Job]:
        now, claimed = self._clock.monotonic(), list[Job]()
        present = self._workers.get(card.id)
        for entry in self._entries.values():
            if len(claimed) >= limit or present is None or entry.worker or not self._fits(present, entry.job, now):
                continue
            played = (entry.job.session_id, entry.job.member)
            is_known_elsewhere = any(played in each.played for each in self._workers.values() if each is not present)
            if played not in present.played and is_known_elsewhere and now < entry.offered_at + HEAD_START_S:
                continue
            entry.worker, entry.lease_until = card.id, now + self.lease_s
            entry.job = replace(entry.job, ref=JobRef(entry.job.ref.job, entry.job.ref.attempt + 1))
            for each in self._workers.values():
                each.played.discard(played)
            present.played.add(played)
            claimed.append(entry.job)
        return claimed

    async def renew(self, worker: str, held: Collection[JobRef]) -> set[JobRef]:
        until = self._clock.monotonic() + self.lease_s
        if worker in self._workers:
            self._workers[worker].lease_until = until
        kept = [entry for entry in self._entries.values() if entry.worker == worker and entry.job.ref in held]
        for entry in kept:
            entry.lease_until = until
        return {entry.job.ref for entry in kept}

    async def dismiss(self, worker: str) -> None:
        self._workers.pop(worker, None)
        for entry in self._entries.values():
            if entry.worker == worker:
                self._free(entry)
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()


class Bell:
    """Lets a loop sleep until something may have changed."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    async def wait(self, at_most_s: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), at_most_s)
        except TimeoutError:
            return
        finally:
            self._event.clear()
