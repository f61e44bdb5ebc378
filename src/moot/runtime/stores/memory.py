"""A log in memory, for tests and for sessions that need not survive the process."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence

from moot.core import limits
from moot.core.codec import Event, Head
from moot.core.errors import Conflict, LogError, NotFound
from moot.core.search_words import Term, matches
from moot.runtime.ports import CommandKey, Listing, Place, Project, Receipt, Snapshot, Store, Summary
from moot.runtime.stores.conflicts import check_append, explain_conflict
from moot.runtime.stores.said import Said, read_said

_PAGE_EVENTS = 1_000


class _Session:
    __slots__ = (
        "commands",
        "ended",
        "events",
        "files",
        "indexed",
        "project",
        "removed_at",
        "said",
        "snapshot",
        "summary",
        "touched",
        "wake",
    )

    def __init__(self, summary: Summary) -> None:
        self.events: list[Event] = []
        self.commands: dict[str, Receipt] = {}
        self.summary = summary
        self.snapshot: Snapshot | None = None
        self.touched = 0
        self.wake: asyncio.Event | None = None  # made when a follower waits
        self.ended = False
        self.removed_at: str | None = None
        self.project: Project | None = None
        self.files: dict[str, bytes] = {}
        self.said: list[Said] = []  # in the first `indexed` events
        self.indexed = 0

    def list_said(self) -> list[Said]:
        for event in self.events[self.indexed :]:
            self.said += read_said(self.summary.flow, event.seq, event.data)
        self.indexed = len(self.events)
        return self.said

    def end(self) -> None:
        self.ended = True
        self.wake_followers()

    def wake_followers(self) -> None:
        if self.wake:
            self.wake.set()
            self.wake = None


class MemoryLog:
    """Implements the Log port. Events are kept as objects, so reading verifies nothing."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._appends = 0
        self._closed = False

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self._closed:
            raise LogError("the log is closed")
        check_append(expected, events, summary)
        session = self._sessions.get(session_id)
        if session is not None and session.removed_at:
            if expected.seq:
                raise NotFound(f"no session {session_id}")
            raise Conflict(f"session {session_id} is in the trash; restore it, or delete it for good")
        if session is None:
            session = self._create(session_id, expected, summary)
        elif session.events[-1].head != expected:
            raise Conflict(explain_conflict(session_id, session.events[-1].head, expected))
        elif command is not None and command.command_id in session.commands:
            raise Conflict(f"session {session_id} has taken command {command.command_id} before; look it up")
        elif summary is not None:
            session.summary = summary
        session.events.extend(events)
        if command is not None:
            session.commands[command.command_id] = Receipt(command.digest, len(session.events))
        self._appends += 1
        session.touched = self._appends
        session.wake_followers()

    def _create(self, session_id: str, expected: Head, summary: Summary | None) -> _Session:
        if expected.seq != 0 or summary is None:
            raise NotFound(f"no session {session_id}")
        session = self._sessions[session_id] = _Session(summary)
        return session

    async def read(self, session_id: str, after: int = 0, limit: int = _PAGE_EVENTS) -> list[Event]:
        return self._find(session_id).events[after : after + limit]

    async def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        session = self._find(session_id)
        while not session.ended:
            batch = session.events[after : after + _PAGE_EVENTS]
            if batch:
                after = batch[-1].seq
                yield batch
            else:
                session.wake = session.wake or asyncio.Event()
                await session.wake.wait()

    async def head(self, session_id: str) -> Head:
        return self._find(session_id).events[-1].head

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        session = self._sessions.get(session_id)
        return session.commands.get(command_id) if session else None

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        newest_first = sorted(self._sessions.values(), key=lambda session: -session.touched)
        return [_list(session) for session in newest_first if bool(session.removed_at) == removed]

    async def list_page(self, limit: int, *, before: str | None = None, removed: bool = False) -> list[Listing]:
        listings = [each for each in await self.sessions(removed=removed) if before is None or each.place < before]
        return sorted(listings, key=lambda listing: listing.place, reverse=True)[:limit]

    async def remove(self, session_id: str, at: str) -> None:
        session = self._find(session_id)
        session.end()
        session.removed_at = at

    async def restore(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is None or not session.removed_at:
            raise NotFound(f"no session {session_id} in the trash")
        session.removed_at, session.ended = None, False

    async def delete(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        if session is None:
            raise NotFound(f"no session {session_id}")
        session.end()

    async def set_project(self, session_id: str, project: Project) -> None:
        self._find(session_id).project = project

    async def search(
        self, terms: Sequence[Term], *, session_id: str | None = None, limit: int = limits.FOUND
    ) -> list[Place]:
        found: list[tuple[str, int, str]] = []
        for id_, session in self._sessions.items():
            if not session.removed_at and session_id in (None, id_):
                found += [(said.at, said.seq, id_) for said in session.list_said() if matches(terms, said.tokens)]
        return [Place(id_, seq) for _, seq, id_ in sorted(found, reverse=True)[:limit]] if terms else []

    async def put_file(self, session_id: str, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._find(session_id).files[digest] = data
        return digest

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        session = self._sessions.get(session_id)
        return session.files.get(sha256) if session else None

    async def list_files(self, session_id: str) -> dict[str, int]:
        return {digest: len(data) for digest, data in self._find(session_id).files.items()}

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        self._find(session_id).snapshot = snapshot

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        session = self._sessions.get(session_id)
        return session.snapshot if session else None

    async def close(self) -> None:
        self._closed = True
        for session in self._sessions.values():
            session.end()

    def _find(self, session_id: str) -> _Session:
        if self._closed:
            raise LogError("the log is closed")
        session = self._sessions.get(session_id)
        if session is None or session.removed_at:
            raise NotFound(f"no session {session_id}")
        return session


def _list(session: _Session) -> Listing:
    last = session.events[-1]
    return Listing(
        session_id=last.session_id,
        created_at=session.events[0].timestamp,
        updated_at=last.timestamp,
        head=last.head,
        summary=session.summary,
        removed_at=session.removed_at,
        project=session.project,
    )


class MemoryStore(Store):
    """`memory:` is a new, empty log at each opening."""

    def __init__(self, url: str = "memory:") -> None:
        self._url = url

    def __str__(self) -> str:
        return self._url

    async def open(self, *, read_only: bool = False) -> MemoryLog:  # noqa: ARG002 - nobody else can write to it
        return MemoryLog()

    def exists(self) -> bool:
        return False
