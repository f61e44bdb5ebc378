"""Jobs as the node sees them that acts for their sessions."""

import asyncio
from typing import Any

from moot.core.errors import LogError
from moot.core.session.events import ToolCall
from moot.runtime.job_dispatch import JobDispatch
from moot.runtime.ports import ToolJob
from moot.runtime.worker_jobs import Job, JobRef, LocalJobs
from moot.testing import VirtualClock
from tests.runtime.apps import run, until


class _PickyJobs(LocalJobs):
    """Takes no jobs of one session, and takes none of them back."""

    async def offer(self, job: Job) -> JobRef:
        self._check(job.session_id)
        return await super().offer(job)

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        self._check(session_id)
        await super().withdraw(session_id, turn_id)

    def _check(self, session_id: str) -> None:
        if session_id == "odd":
            raise LogError("a value cannot be stored")


async def _report(*_: Any) -> None: ...


@run
async def test_a_job_that_cannot_be_stored_holds_up_no_other() -> None:
    """Whatever the store has against one job, the others are offered and withdrawn."""
    jobs = _PickyJobs(VirtualClock())
    dispatch = JobDispatch(jobs, asyncio.create_task, look_s=0.01)
    calls = [
        ToolJob(session_id=session_id, team="pair", member="bob", call=ToolCall(call_id="c1", name="look"))
        for session_id in ("odd", "even")
    ]
    odd, even = [dispatch.call(call, "far", _report) for call in calls]
    await until(lambda: [entry.job.session_id for entry in jobs._entries.values()] == ["even"])
    odd.cancel()
    even.cancel()
    await until(lambda: not jobs._entries)
    assert dispatch._watch
    dispatch._watch.cancel()
