"""Changing stored sessions: in the store itself or, while another process holds it, through that process."""

import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import IO, Protocol

from moot.cli.attaching import Attached, find_holder
from moot.cli.copies import Checked, import_session
from moot.cli.data import data_folder
from moot.core.codec import Event, stamp
from moot.core.decide import decide
from moot.core.errors import Locked, NotFound
from moot.core.session.commands import Rename
from moot.runtime.clock import SystemClock
from moot.runtime.cluster import log_version_of
from moot.runtime.copying import Tick, fork_session
from moot.runtime.ports import Listing, Log, Store
from moot.runtime.snapshots import load_state
from moot.runtime.summaries import summarise


class Changeable(Protocol):
    """What the actions of `moot sessions` change, wherever the sessions are."""

    async def sessions(self, *, removed: bool = False) -> list[Listing]: ...

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]: ...

    async def remove(self, session_id: str) -> None: ...

    async def restore(self, session_id: str) -> None: ...

    async def delete(self, session_id: str) -> None: ...

    async def rename(self, session_id: str, title: str) -> None: ...

    async def fork(self, session_id: str, at: int, tick: Tick) -> str: ...

    async def import_file(self, file: IO[bytes], checked: Checked, tick: Tick) -> str: ...


@asynccontextmanager
async def changing(options: Namespace, store: Store) -> AsyncIterator[Changeable]:
    """Open a store for changes. Raises Locked if a process holds it that takes no other windows."""
    try:
        log = await store.open()
    except Locked:
        holder = await find_holder(data_folder(options), store)
        if holder is None:
            raise
        yield HeldSessions(holder)
        return
    try:
        yield StoredSessions(log)
    finally:
        await log.close()


@asynccontextmanager
async def kept_if_used(
    read: Callable[[str, int], Awaitable[list[Event]]], delete: Callable[[str], Awaitable[None]], session_id: str
) -> AsyncIterator[list[Event]]:
    """Yield the first events of a new session, and delete it behind the block if nothing else has happened in it.

    Opening a window says nothing, and what was refused leaves no session behind.
    """
    created = await read(session_id, 0)
    try:
        yield created
    finally:
        with suppress(NotFound):  # somebody has removed it
            if not await read(session_id, created[-1].seq):
                await delete(session_id)


class StoredSessions:
    """The sessions of a log that this process has opened."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.sessions, self.read = log.sessions, log.read
        self.restore, self.delete = log.restore, log.delete

    async def remove(self, session_id: str) -> None:
        await self._log.remove(session_id, SystemClock().now())

    async def rename(self, session_id: str, title: str) -> None:
        state, head = await load_state(self._log, session_id)
        at = SystemClock().now()
        decided = decide(state, Rename(title=title), at, log_version=log_version_of(self._log))
        if events := stamp(state.team, session_id, head, decided.facts, at):
            await self._log.append(session_id, head, events, summary=summarise(decided.state))

    async def fork(self, session_id: str, at: int, tick: Tick) -> str:
        return await fork_session(self._log, session_id, at, tick)

    async def import_file(self, file: IO[bytes], checked: Checked, tick: Tick) -> str:
        return await import_session(self._log, file, checked, tick)


class HeldSessions:
    """The sessions of the process that holds the store."""

    def __init__(self, holder: Attached) -> None:
        from moot.cli.remote import RemoteLog  # here, because the store is mostly free

        self._holder = holder
        log = RemoteLog(holder.rest)
        self.sessions, self.read = log.sessions, log.read

    async def remove(self, session_id: str) -> None:
        await self._holder.rest.ask("DELETE", f"/api/sessions/{session_id}")

    async def restore(self, session_id: str) -> None:
        await self._holder.rest.ask("POST", f"/api/sessions/{session_id}/restore")

    async def delete(self, session_id: str) -> None:
        await self._holder.rest.ask("DELETE", f"/api/sessions/{session_id}?forever=1")

    async def rename(self, session_id: str, title: str) -> None:
        frame = {"event": "user.rename", "metadata": {"title": title}}
        await self._holder.rest.ask("POST", f"/api/sessions/{session_id}/commands", frame)

    async def fork(self, session_id: str, at: int, tick: Tick) -> str:  # noqa: ARG002 - the other process counts
        return await self._holder.fork(session_id, at)

    async def import_file(self, file: IO[bytes], checked: Checked, tick: Tick) -> str:  # noqa: ARG002
        """Hand over a copy of the file, which may be a pipe."""
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
            while chunk := file.read(1 << 20):
                copy.write(chunk)
            copy.flush()
            return await self._holder.import_file(copy.name)
