"""The log as one SQLite file: durable when `append` returns, checked when it is read.

A connection for writing (group.py), one on the event loop for look-ups of a single row, one on a thread for the rest.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from moot.core.codec import Event, Head
from moot.core.errors import LogError, NotFound, Unusable
from moot.runtime.ports import CommandKey, Listing, Receipt, Snapshot, Summary
from moot.runtime.stores import schema, wal
from moot.runtime.stores.changes import Append, Change, Delete, Remove, Restore, SaveSnapshot
from moot.runtime.stores.group import GroupCommit
from moot.runtime.stores.lock import FileLock
from moot.runtime.stores.reader import Reader
from moot.runtime.stores.tails import Tails
from moot.runtime.stores.writer import Writer

T = TypeVar("T")
INLINE_BELOW_S = 0.0005  # the event loop may be held up this long for a commit


class _Writing:
    """What only a log that is open for writing has: the lock, the writer and its queue."""

    def __init__(self, path: Path, inline_below_s: float) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(
                f"{path.parent} cannot be made ({error.strerror}); make it yourself or use --data DIR"
            ) from error
        self.lock = FileLock(path)
        try:
            schema.create(path)
            wal.keep_damaged(path)
            self.writer = Writer(path)
        except BaseException:
            self.lock.release()
            raise
        self.queue = GroupCommit(self.writer, inline_below_s=inline_below_s)

    async def close(self) -> None:
        await self.queue.drain()
        await asyncio.to_thread(self.writer.checkpoint, "TRUNCATE")
        self.writer.close()
        self.lock.release()


class SqliteLog:
    """Made by `open`."""

    def __init__(self, path: Path, writing: _Writing | None) -> None:
        self._path = path
        self._writing = writing
        self._lookups = Reader(path)
        self._reader = Reader(path)
        self._reading = ThreadPoolExecutor(1, "moot-log-reader")
        self._tails = Tails()
        self._is_closed = False

    @classmethod
    async def open(cls, path: Path | str, *, read_only: bool = False, inline_below_s: float = INLINE_BELOW_S) -> Self:
        """Raises Unusable, or Locked when another process writes to it; `read_only` needs no lock and takes none.

        While commits take less than `inline_below_s` the event loop runs them itself: 0 never, infinity always.
        """
        path = Path(path)
        if read_only:
            return cls(path, None)
        writing = _Writing(path, inline_below_s)
        try:
            return cls(path, writing)
        except BaseException:
            await writing.close()
            raise

    @property
    def commit_count(self) -> int:
        """Commits since opening; many appends may share one."""
        return self._writing.writer.commit_count if self._writing else 0

    async def append(
        self,
        session_id: str,
        expected_seq: int,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if not events or events[0].seq != expected_seq + 1:
            raise ValueError(f"events must be at least one and start at seq {expected_seq + 1}")
        if expected_seq == 0 and summary is None:
            raise ValueError("the first append of a session needs a summary")
        change = Append(
            session_id=session_id, expected_seq=expected_seq, events=events, command=command, summary=summary
        )
        await self._commit(change, lambda: self._tails.push(session_id, events))

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        return await self._on_thread(lambda: self._reader.read(session_id, after, limit))

    async def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        self._check_open()
        # No await between asking for the head and following it: no append can come in between.
        tail = self._tails.add(session_id, self._lookups.head(session_id).seq)
        try:
            while not tail.is_ended:
                if after >= tail.head_seq:
                    await tail.wait()
                    continue
                batch = tail.take(after) or await self.read(session_id, after)
                if batch:
                    after = batch[-1].seq
                    yield batch
        except NotFound:  # deleted while history was read
            return
        finally:
            self._tails.remove(session_id, tail)

    async def head(self, session_id: str) -> Head:
        self._check_open()
        return self._lookups.head(session_id)

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        self._check_open()
        return self._lookups.find_command(session_id, command_id)

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        return await self._on_thread(lambda: self._reader.sessions(removed=removed))

    async def remove(self, session_id: str, at: str) -> None:
        await self._commit(Remove(session_id, at), lambda: self._tails.end(session_id))

    async def restore(self, session_id: str) -> None:
        await self._commit(Restore(session_id), lambda: None)

    async def delete(self, session_id: str) -> None:
        await self._commit(Delete(session_id), lambda: self._tails.end(session_id))

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        await self._commit(SaveSnapshot(session_id, snapshot), lambda: None)

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        return await self._on_thread(lambda: self._reader.load_snapshot(session_id))

    async def close(self) -> None:
        """Commit what waits, empty the WAL, let the file go. Followers are ended."""
        if self._is_closed:
            return
        self._is_closed = True
        self._tails.end_all()
        await asyncio.to_thread(self._reading.shutdown)
        self._reader.close()
        self._lookups.close()
        if self._writing:
            await self._writing.close()

    async def _commit(self, change: Change, then: Callable[[], None]) -> None:
        self._check_open()
        if self._writing is None:
            raise LogError(f"{self._path} is open for reading only")
        await self._writing.queue.submit(change, then)

    async def _on_thread(self, call: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._reading, call)

    def _check_open(self) -> None:
        if self._is_closed:
            raise LogError(f"{self._path} is closed")
