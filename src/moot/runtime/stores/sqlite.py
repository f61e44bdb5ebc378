"""The log as one SQLite file: durable when `append` returns, verified when it is read.

Three connections: one for writing (group.py), one for look-ups of a single row on the event loop, one for all other
reads on a thread.
"""

import asyncio
import errno
import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from moot.core import limits
from moot.core.codec import Event, Head
from moot.core.errors import ConfigError, LogError, NotFound, StorageFull
from moot.core.search_words import Term
from moot.runtime.file_lock import FileLock
from moot.runtime.ports import CommandKey, Finding, Listing, Place, Project, Receipt, Snapshot, Store, Summary
from moot.runtime.private_folder import make_private
from moot.runtime.stores import log_tables, wal
from moot.runtime.stores.changes import Append, Change, Delete, Remove, Restore, SaveSnapshot, SetProject
from moot.runtime.stores.conflicts import check_append
from moot.runtime.stores.file_folder import FOLDER, FileFolder
from moot.runtime.stores.group import GroupCommit
from moot.runtime.stores.reader import Reader
from moot.runtime.stores.salvage import salvage
from moot.runtime.stores.search_index import ENDING, SearchIndex
from moot.runtime.stores.tails import Tails
from moot.runtime.stores.writer import Writer

logger = logging.getLogger(__name__)

T = TypeVar("T")
DATABASE = "moot.db"
INLINE_BELOW_S = 0.0005  # commits that take less run on the event loop


class _Writing:
    """What a log has only while it is open for writing: the lock, the writer and its queue."""

    def __init__(self, path: Path, inline_below_s: float) -> None:
        make_private(path.parent)
        self.lock = FileLock(path)
        try:
            log_tables.create(path)
            wal.keep_damaged(path)
            self.writer = Writer(path)
        except BaseException:
            self.lock.release()
            raise
        self.queue = GroupCommit(self.writer, inline_below_s=inline_below_s)
        self._path = path
        self._identity = _identify(path)
        self._is_missed = False

    def check_present(self) -> None:
        """Raise LogError if the file was removed or replaced: SQLite would go on writing to one that nobody can open.

        It costs a microsecond or two, so that every operation can do it.
        """
        if _identify(self._path) == self._identity:
            self._is_missed = False
            return
        gone = LogError(
            f"{self._path} was removed or replaced while it was open; what is written now would be lost; "
            "put it back, or stop this process"
        )
        if not self._is_missed:
            self._is_missed = True
            logger.error("%s", gone)
        raise gone

    async def close(self) -> None:
        await self.queue.drain()
        await asyncio.to_thread(self.writer.checkpoint, "TRUNCATE")
        self.writer.close()
        self.lock.release()


class SqliteLog:
    """Implements the Log port; created by `open`."""

    def __init__(self, path: Path, writing: _Writing | None) -> None:
        self._path = path
        self._writing = writing
        self._lookups = Reader(path)
        self._reader = Reader(path)
        self._reading = ThreadPoolExecutor(1, "moot-log-reader")
        self._tails = Tails()
        self._files = FileFolder(path.with_name(FOLDER))
        self._is_closed = False
        self._searching: ThreadPoolExecutor | None = None
        self._index: SearchIndex | None = None

    @classmethod
    async def open(cls, path: Path | str, *, read_only: bool = False, inline_below_s: float = INLINE_BELOW_S) -> Self:
        """Open the log at `path`; create it if it is missing.

        Args:
            path: the SQLite file.
            read_only: take no lock, so that the file may be read while a server writes to it.
            inline_below_s: run commits on the event loop while they take less; 0: never, infinity: always.

        Raises:
            Locked: another process has it open for writing.
            Unusable: the file cannot be opened, or is not a log of Moot.
        """
        path = Path(path)
        if read_only:
            return cls(path, None)
        writing = _Writing(path, inline_below_s)
        try:
            log = cls(path, writing)
            await log._forget_lost(log._files.list_sessions())
        except BaseException:
            await writing.close()
            raise
        return log

    @property
    def commit_count(self) -> int:
        """Number of commits since opening; one commit may hold many appends."""
        return self._writing.writer.commit_count if self._writing else 0

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        check_append(expected, events, summary)
        change = Append(session_id=session_id, expected=expected, events=events, command=command, summary=summary)
        await self._commit(change, lambda: self._tails.push(session_id, events))

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        return await self._on_thread(lambda: self._reader.read(session_id, after, limit))

    async def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        self._check_open()
        # No await between reading the head and adding the tail, so that no append is missed.
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

    async def list_page(self, limit: int, *, before: str | None = None, removed: bool = False) -> list[Listing]:
        return await self._on_thread(lambda: self._reader.list_page(limit, before, removed=removed))

    async def remove(self, session_id: str, at: str) -> None:
        await self._commit(Remove(session_id, at), lambda: self._tails.end(session_id))

    async def restore(self, session_id: str) -> None:
        await self._commit(Restore(session_id), lambda: None)

    async def delete(self, session_id: str) -> None:
        await self._commit(Delete(session_id), lambda: self._tails.end(session_id))
        await asyncio.to_thread(self._files.delete, session_id)

    async def search(
        self, terms: Sequence[Term], *, session_id: str | None = None, limit: int = limits.FOUND
    ) -> list[Place]:
        self._check_open()
        if not terms:
            return []
        if self._searching is None:  # a thread of its own: the first search of a long log takes its time
            self._searching = ThreadPoolExecutor(1, "moot-search")
        call = partial(self._search, terms, session_id, limit)
        return await asyncio.get_running_loop().run_in_executor(self._searching, call)

    def _search(self, terms: Sequence[Term], session_id: str | None, limit: int) -> list[Place]:
        self._index = self._index or SearchIndex(self._path)
        return self._index.search(terms, session_id, limit)

    async def put_file(self, session_id: str, data: bytes) -> str:
        await self.head(session_id)  # raises NotFound
        if self._writing is None:
            raise LogError(f"{self._path} is open for reading only")
        try:
            digest = await asyncio.to_thread(self._files.put, session_id, data)
            await self._forget_lost([session_id])  # it may have been deleted meanwhile
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(f"the disk of {self._path.parent} is full; make room and try again") from error
            raise LogError(f"no file can be kept beside {self._path} ({error.strerror})") from error
        return digest

    async def _forget_lost(self, session_ids: Iterable[str]) -> None:
        """Delete the files of sessions that are not there: their end was interrupted, or a file came too late."""
        for session_id in session_ids:
            if not self._lookups.has_session(session_id):
                await asyncio.to_thread(self._files.delete, session_id)

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        return await asyncio.to_thread(self._files.get, session_id, sha256)

    async def list_files(self, session_id: str) -> dict[str, int]:
        await self.head(session_id)  # raises NotFound
        return await asyncio.to_thread(self._files.list_files, session_id)

    async def set_project(self, session_id: str, project: Project) -> None:
        await self._commit(SetProject(session_id, project), lambda: None)

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        await self._commit(SaveSnapshot(session_id, snapshot), lambda: None)

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        return await self._on_thread(lambda: self._reader.load_snapshot(session_id))

    async def close(self) -> None:
        """End all followers, commit what is queued, empty the WAL and release the file."""
        if self._is_closed:
            return
        self._is_closed = True
        self._tails.end_all()
        await asyncio.to_thread(self._reading.shutdown)
        if self._searching:
            await asyncio.to_thread(self._searching.shutdown)
        if self._index:
            self._index.close()
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
        if self._writing:
            self._writing.check_present()


def _identify(path: Path) -> tuple[int, int] | None:
    """The file behind a path, None if there is none. Its number is not used again while SQLite has the file open."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class SqliteStore(Store):
    """`sqlite:DIR`, where the log is the file `moot.db`, or `sqlite:FILE.db`."""

    def __init__(self, url: str) -> None:
        written = url.removeprefix("sqlite:")
        if not written:
            raise ConfigError("sqlite: names no folder; write sqlite:DIR")
        path = Path(written)
        self.path = path if path.suffix == ".db" and not path.is_dir() else path / DATABASE

    def __str__(self) -> str:
        return str(self.path.parent if self.path.name == DATABASE else self.path)

    async def open(self, *, read_only: bool = False) -> SqliteLog:
        return await SqliteLog.open(self.path, read_only=read_only)

    def exists(self) -> bool:
        return self.path.exists()

    def list_files(self) -> list[Path]:
        log = [self.path.with_name(f"{self.path.name}{ending}") for ending in ("", "-wal", "-shm")]
        index = [self.path.with_name(f"{self.path.stem}{ENDING}.db{ending}") for ending in ("", "-wal", "-shm")]
        return [*log, *index, self.path.with_name(FOLDER)]

    def examine(self) -> Iterator[Finding]:
        """Report what the write-ahead log has lost, now or at an earlier start. A sound one is not mentioned."""
        name = "write-ahead log"
        lost = self._count_lost_pages()
        if lost:
            yield Finding(
                name=name,
                text=f"{lost} pages were written and cannot be read; what was said last is missing",
                fix=f"see whether a copy of {self.path.name}-wal is whole; the next start goes on without them, "
                "and keeps the file",
                is_damage=True,
            )
        for kept in wal.list_kept(self.path):
            yield Finding(
                name=name,
                text=f"a part of it could not be read at a start, so that something said then is missing: {kept}",
                fix="move the file away when you have seen this",
                is_damage=False,
            )

    def salvage(self) -> Iterator[list[Event]]:
        return salvage(self.path)

    def _count_lost_pages(self) -> int:
        try:
            lock = FileLock(self.path)
        except LogError:
            return 0  # the process that holds the lock has examined the file, and goes on writing it
        try:
            return wal.examine(self.path)
        finally:
            lock.release()
