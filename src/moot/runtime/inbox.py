"""Commands on their way: who waits for what, and which of them are decided together."""

import asyncio
from collections import deque

from moot.core.commands import Command
from moot.runtime.ports import CommandKey, Receipt

BATCH = 100  # commands that are decided together and logged with one append


class Asked:
    """A command on its way. Its answer is a receipt, a refusal, or why it could not be logged; it gets exactly one.

    The future is made only for who has to wait: most commands are answered before anybody asks.
    """

    __slots__ = ("_error", "_receipt", "_waiting", "command", "key")

    def __init__(self, command: Command, key: CommandKey | None = None) -> None:
        self.command = command
        self.key = key
        self._receipt: Receipt | None = None
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None

    def succeed(self, seq: int) -> None:
        self._receipt = Receipt(self.key.digest if self.key else "", seq)
        self._wake()

    def fail(self, error: Exception) -> None:
        self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():  # else nobody waits, or not any more
            self._waiting.set_result(None)

    @property
    def is_logged(self) -> bool:
        return self._receipt is not None

    async def answer(self) -> Receipt:
        if self._receipt is None and self._error is None:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        if self._error:
            raise self._error
        assert self._receipt is not None  # noqa: S101 - one of the two is set
        return self._receipt


class Inbox:
    """First come, first served."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[Asked] = deque()

    def add(self, command: Command, key: CommandKey | None = None) -> Asked:
        asked = Asked(command, key)
        self.waiting.append(asked)
        return asked

    def take(self) -> list[Asked]:
        """What waits, in order; a command that must be done once comes last, for an append remembers one id."""
        waiting = self.waiting
        batch = [waiting.popleft()]
        while waiting and batch[-1].key is None and len(batch) < BATCH:
            batch.append(waiting.popleft())
        return batch
