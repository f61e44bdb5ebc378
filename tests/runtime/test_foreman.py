"""The foreman: jobs that a server claims for its workers."""

import asyncio
from collections.abc import Sequence
from typing import Any

from moot.core.errors import Corrupt
from moot.runtime.foreman import Foreman
from moot.runtime.streams import Streams
from moot.runtime.worker_jobs import Job, JobRef, LocalJobs, WorkerCard
from moot.testing import VirtualClock
from tests.runtime.apps import run, until


class _Link:
    """A worker that only notes what it is offered."""

    card = WorkerCard(id="w", name="w", pools=("far",), teams=("pair",), at_once=2)

    def __init__(self) -> None:
        self.offered: list[str] = []
        self.is_closed = False

    def offer(self, job: Job) -> None:
        self.offered.append(job.session_id)

    def close(self) -> None:
        self.is_closed = True


class _SlowJobs(LocalJobs):
    """Answers no greeting before the test says so; the first one then takes longest."""

    greeting = 0

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock)
        self.answers = asyncio.Event()

    async def greet(self, card: WorkerCard, held: Sequence[JobRef]) -> list[Job]:
        self.greeting += 1
        rounds = 20 if self.greeting == 1 else 0
        await self.answers.wait()
        for _ in range(rounds):
            await asyncio.sleep(0)
        return await super().greet(card, held)


class _Engine:
    """A session in which every job goes on."""

    async def host(self, _job: Job, _worker: object, begin: Any) -> bool:
        begin()
        return True


async def _open(session_id: str) -> Any:
    if session_id == "damaged":
        raise Corrupt(session_id, 1, "its hash differs")
    return _Engine()


@run
async def test_a_session_that_cannot_be_opened_holds_up_no_other() -> None:
    """Jobs that were claimed together are looked after one by one: the second is played though the first cannot be."""
    jobs, link = LocalJobs(VirtualClock()), _Link()
    for session_id in ("damaged", "sound"):
        await jobs.offer(
            Job(session_id=session_id, turn_id="t1", kind="turn", pool="far", team="pair", member="bob", input=b"{}")
        )
    foreman = Foreman(jobs, _open, Streams(), asyncio.create_task)
    await foreman.greet(link, [])  # type: ignore[arg-type]
    await until(lambda: link.offered == ["sound"])
    foreman.close()


@run
async def test_a_worker_that_connects_twice_is_served_over_its_newer_link() -> None:
    """The store is slow, so that both are greeted at once: the older link is closed, whichever is ready first."""
    jobs, older, newer = _SlowJobs(VirtualClock()), _Link(), _Link()
    foreman = Foreman(jobs, _open, Streams(), asyncio.create_task)
    first = asyncio.create_task(foreman.greet(older, []))  # type: ignore[arg-type]
    await until(lambda: jobs.greeting == 1)
    second = asyncio.create_task(foreman.greet(newer, []))  # type: ignore[arg-type]
    for _ in range(10):
        await asyncio.sleep(0)
    jobs.answers.set()
    await asyncio.gather(first, second)
    assert (older.is_closed, newer.is_closed) == (True, False)
    assert await foreman.renew(newer) == []  # type: ignore[arg-type]
    foreman.close()
