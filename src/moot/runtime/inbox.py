"""Commands that wait to be decided, and the batches in which they are."""

import asyncio
from collections import deque

from msgspec import Struct

from moot.core.session.commands import Command
from moot.runtime.ports import CommandKey, Receipt
from moot.runtime.worker_jobs import JobRef

BATCH = 100  # commands that are decided together and logged with one append


class PendingCommand(Struct, eq=False):
    """A command and its outcome: a receipt, or the error that refused it or kept it from being logged.

    `is_report`: an agent or a timer of this process sends it, not a person. `job`: the worker that has this claim does.
    """

    command: Command
    key: CommandKey | None = None
    is_report: bool = False
    job: JobRef | None = None
    outcome: Receipt | Exception | None = None  # None until it is settled
    # Made when somebody waits: most are settled before. An error is a result too, because nobody may be left to
    # retrieve an exception.
    _waiter: asyncio.Future[Receipt | Exception] | None = None

    def settle(self, outcome: Receipt | Exception) -> None:
        self.outcome = outcome
        if self._waiter and not self._waiter.done():  # it is done if whoever waited was cancelled
            self._waiter.set_result(outcome)

    @property
    def is_logged(self) -> bool:
        return isinstance(self.outcome, Receipt)

    async def receipt(self) -> Receipt:
        """Wait for the outcome. Raises the error that the command failed with."""
        outcome = self.outcome
        if outcome is None:
            self._waiter = asyncio.get_running_loop().create_future()
            outcome = await self._waiter
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Inbox:
    """A queue of commands, first come, first served."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[PendingCommand] = deque()

    def take(self) -> list[PendingCommand]:
        """Remove and return the next batch. A command with a key ends it: an append can record one key.

        What a worker on another machine reports is a batch of its own.
        """
        waiting = self.waiting
        batch = [waiting.popleft()]
        job = batch[0].job
        while waiting and batch[-1].key is None and len(batch) < BATCH and waiting[0].job is job:
            batch.append(waiting.popleft())
        return batch
