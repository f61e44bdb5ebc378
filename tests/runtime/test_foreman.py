"""The foreman: jobs that a server claims for its workers."""

import asyncio
from typing import Any

from moot.core.errors import Corrupt
from moot.runtime.foreman import Foreman
from moot.runtime.streams import Streams
from moot.runtime.worker_jobs import Job, LocalJobs, WorkerCard
from moot.testing import VirtualClock
from tests.runtime.apps import run, until


class _Link:
    """A worker that only notes what it is offered."""

    card = WorkerCard(id="w", name="w", pools=("far",), teams=("pair",), at_once=2)

    def __init__(self) -> None:
        self.offered: list[str] = []

    def offer(self, job: Job) -> None:
        self.offered.append(job.session_id)

    def close(self) -> None: ...


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
