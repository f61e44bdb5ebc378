"""Group commit: changes that arrive while a commit runs are committed together by the next one.

Handing a commit to a thread and waiting for it costs as much as a commit on a fast disk. So while commits are fast, the
event loop runs them itself; when they are slow (a slow disk, or many sessions in one batch), a thread runs them.
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
_LEARN = 0.2  # weight of the last commit in the moving average
# Checkpoint before SQLite would (at 1,000 pages): it would do so inside a commit, on the event loop.
_CHECKPOINT_BYTES = 3 << 20
_CHANGE_BYTES = 3 * 4096  # estimate: a small change touches three pages


class _Job(NamedTuple):
    change: Change
    future: asyncio.Future[None]
    then: Callable[[], None]


class GroupCommit:
    """Queues changes and commits them in batches. Only this class uses the writer, from one thread at a time.

    Args:
        inline_below_s: commit on the event loop while the average commit is faster than this.
    """

    def __init__(self, writer: Writer, *, inline_below_s: float) -> None:
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "moot-log-writer")
        self._waiting: deque[_Job] = deque()
        self._is_taken = False  # a flush runs or is scheduled
        self._is_alone = True  # the last batch had one change: do not wait for others
        self._inline_below_s = inline_below_s
        self._average_s = 0.0
        self._unchecked_bytes = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(self, change: Change, then: Callable[[], None]) -> asyncio.Future[None]:
        """Queue a change; the future is done when it is on disk.

        `then` runs on the event loop as soon as the change is on disk, even if the caller was cancelled.
        """
        future = self._loop.create_future()
        self._waiting.append(_Job(change, future, then))
        if not self._is_taken:
            self._is_taken = True
            self._idle.clear()
            if self._is_alone and self._is_fast:
                self._flush()
            else:
                self._loop.call_soon(self._flush)  # so that others of this loop iteration join the batch
        return future

    @property
    def _is_fast(self) -> bool:
        return self._average_s < self._inline_below_s

    async def drain(self) -> None:
        """Wait for the queued changes and stop the thread. Nothing may be submitted after this."""
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
        self._average_s += (time.perf_counter() - began - self._average_s) * _LEARN
        return outcomes

    def _settle(self, jobs: list[_Job], outcomes: list[Outcome]) -> None:
        self._unchecked_bytes += sum([_size(job.change) for job in jobs])
        if self._unchecked_bytes > _CHECKPOINT_BYTES:
            self._unchecked_bytes = 0
            self._thread.submit(self._checkpoint_on_thread)
        elif self._waiting and not self._is_fast:
            self._flush()  # the thread commits the next batch while this one is acknowledged
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
