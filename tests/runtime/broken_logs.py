"""Logs that misbehave on command."""

import asyncio
from collections.abc import Sequence

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, LogError, StorageFull
from moot.runtime.ports import CommandKey, Summary
from moot.runtime.stores.memory import MemoryLog


class FullLog(MemoryLog):
    """A disk that takes nothing while `is_full`."""

    is_full = False
    refusals = 0

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self.is_full:
            self.refusals += 1
            raise StorageFull("the disk is full")
        await super().append(session_id, expected, events, command=command, summary=summary)


class SlowLog(MemoryLog):
    """A disk that makes every append wait while its gate is shut; what was begun is finished, like a commit."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = 0

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self.gate.is_set():
            await super().append(session_id, expected, events, command=command, summary=summary)
            return
        self.waiting += 1
        commit = asyncio.ensure_future(self._commit(session_id, expected, events, command, summary))
        await asyncio.shield(commit)

    async def _commit(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        command: CommandKey | None,
        summary: Summary | None,
    ) -> None:
        await self.gate.wait()
        self.waiting -= 1
        await super().append(session_id, expected, events, command=command, summary=summary)


class ContestedLog(MemoryLog):
    """Somebody else is always faster."""

    tries = 0
    is_contested = False

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self.is_contested:
            self.tries += 1
            raise Conflict("somebody was faster")
        await super().append(session_id, expected, events, command=command, summary=summary)


class UnsureLog(MemoryLog):
    """Writes and, while `is_unsure`, says that it failed, as a disk may whose sync failed after the write."""

    is_unsure = False

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        await super().append(session_id, expected, events, command=command, summary=summary)
        if self.is_unsure:
            raise LogError("whether it was written is not known")
