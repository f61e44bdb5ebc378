"""Commands that wait to be decided, and the batches in which they are."""

import asyncio
from collections import deque

from moot.core.session.commands import Command
from moot.runtime.ports import CommandKey, Receipt

BATCH = 100  # commands that are decided together and logged with one append


class PendingCommand:
    """A command and its outcome: a receipt, or the error that refused it or kept it from being logged."""

    __slots__ = ("_settled", "command", "key", "outcome")

    def __init__(self, command: Command, key: CommandKey | None = None) -> None:
        self.command = command
        self.key = key
        self.outcome: Receipt | Exception | None = None  # None until it is settled
        self._settled: asyncio.Event | None = None  # made when somebody waits: most are settled before

    def settle(self, outcome: Receipt | Exception) -> None:
        self.outcome = outcome
        if self._settled:
            self._settled.set()

    @property
    def is_logged(self) -> bool:
        return isinstance(self.outcome, Receipt)

    async def receipt(self) -> Receipt:
        """Wait for the outcome. Raises the error that the command failed with."""
        while self.outcome is None:
            self._settled = self._settled or asyncio.Event()
            await self._settled.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


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
