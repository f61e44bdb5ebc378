"""Group commit: what waits while one commit runs becomes the next one.

A hand-over to a thread and back costs as much as a commit on a fast disk. So while commits are fast, the event loop
runs them itself; when they get slow (a slow disk, or many sessions in one batch), a thread does, and the loop is free.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from moot.runtime.stores.changes import Append, Change
from moot.runtime.stores.writer import Outcome, Writer

_BATCH_CHANGES = 256
_LEARN = 0.2  # weight of the last commit in what is usual
_CHECKPOINT_BYTES = 3 << 20  # ahead of the 1,000 pages at which SQLite would do it inside a commit, on the event loop
_CHANGE_BYTES = 3 * 4096  # pages that a small change touches


class _Job(NamedTuple):
    change: Change
    future: asyncio.Future[None]
    then: Callable[[], None]


class GroupCommit:
    """The only user of the writer: either the loop or the thread has it, never both."""

    def __init__(self, writer: Writer, *, inline_below_s: float) -> None:
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "moot-log-writer")
        self._waiting: deque[_Job] = deque()
        self._is_taken = False  # a flush is under way, or was in this round of the loop
        self._is_alone = True  # nobody shared the last commit, so nobody is waited for
        self._inline_below_s = inline_below_s
        self._usual_s = 0.0
        self._unchecked_bytes = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(self, change: Change, then: Callable[[], None]) -> asyncio.Future[None]:
        """Done when `change` is on disk. `then` runs on the loop as soon as it is, though the caller be cancelled."""
        future = self._loop.create_future()
        self._waiting.append(_Job(change, future, then))
        if not self._is_taken:
            self._is_taken = True
            self._idle.clear()
            if self._is_alone and self._is_fast:
                self._flush()
            else:
                self._loop.call_soon(self._flush)  # not now: others of this round of the loop come along
        return future

    @property
    def _is_fast(self) -> bool:
        return self._usual_s < self._inline_below_s

    async def drain(self) -> None:
        """Commit what waits and end the thread. Nothing may be submitted any more."""
        await self._idle.wait()
        self._thread.shutdown()

    def _flush(self) -> None:
        jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH_CHANGES))]
        self._is_alone = len(jobs) == 1
        if self._is_fast:
            self._settle(jobs, self._commit(jobs))
        else:
            self._thread.submit(self._commit_on_thread, jobs)

    def _commit_on_thread(self, jobs: list[_Job]) -> None:
        self._loop.call_soon_threadsafe(self._settle, jobs, self._commit(jobs))

    def _commit(self, jobs: list[_Job]) -> list[Outcome]:
        began = time.perf_counter()
        outcomes = self._writer.commit([job.change for job in jobs])
        self._usual_s += (time.perf_counter() - began - self._usual_s) * _LEARN
        return outcomes

    def _settle(self, jobs: list[_Job], outcomes: list[Outcome]) -> None:
        self._unchecked_bytes += sum([_size(job.change) for job in jobs])
        if self._unchecked_bytes > _CHECKPOINT_BYTES:
            self._unchecked_bytes = 0
            self._thread.submit(self._checkpoint_on_thread)
        elif self._waiting and not self._is_fast:
            self._flush()  # the thread is at it while those who are done go on
        else:
            self._loop.call_soon(self._go_on)
        for job, outcome in zip(jobs, outcomes, strict=True):
            if outcome is None:
                job.then()
            if job.future.done():
                continue  # cancelled
            if outcome is None:
                job.future.set_result(None)
            else:
                job.future.set_exception(outcome)

    def _checkpoint_on_thread(self) -> None:
        self._writer.checkpoint()
        self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        if self._waiting:
            self._flush()
        else:
            self._is_taken = False
            self._idle.set()


def _size(change: Change) -> int:
    if isinstance(change, Append):
        return _CHANGE_BYTES + sum([len(event.data) for event in change.events])
    return _CHANGE_BYTES
