"""Commands that wait to be decided, and the batches in which they are."""

import asyncio
from collections import deque

from moot.core.session.commands import Command
from moot.runtime.ports import CommandKey, Receipt

BATCH = 100  # commands that are decided together and logged with one append


class PendingCommand:
    """A command and its outcome: a receipt, or the error that refused it or kept it from being logged."""

    __slots__ = ("_outcome", "command", "key")

    def __init__(self, command: Command, key: CommandKey | None = None) -> None:
        self.command = command
        self.key = key
        # An error is stored as a result: nobody may be left to retrieve an exception.
        self._outcome: asyncio.Future[Receipt | Exception] = asyncio.get_running_loop().create_future()

    def succeed(self, seq: int) -> None:
        self._settle(Receipt(self.key.digest if self.key else "", seq))

    def fail(self, error: Exception) -> None:
        self._settle(error)

    def _settle(self, outcome: Receipt | Exception) -> None:
        if not self._outcome.done():  # it is if whoever waited was cancelled
            self._outcome.set_result(outcome)

    @property
    def is_logged(self) -> bool:
        return self._outcome.done() and isinstance(self._outcome.result(), Receipt)

    async def receipt(self) -> Receipt:
        """Wait for the outcome. Raises the error that the command failed with."""
        outcome = await self._outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Inbox:
    """A queue of commands, first come, first served."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[PendingCommand] = deque()

    def add(self, command: Command, key: CommandKey | None = None) -> PendingCommand:
        pending = PendingCommand(command, key)
        self.waiting.append(pending)
        return pending

    def take(self) -> list[PendingCommand]:
        """Remove and return the next batch. A command with a key ends it: an append can record one key."""
        waiting = self.waiting
        batch = [waiting.popleft()]
        while waiting and batch[-1].key is None and len(batch) < BATCH:
            batch.append(waiting.popleft())
        return batch
