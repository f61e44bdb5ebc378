"""A log in memory, for tests and for sessions that need not survive the process."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, LogError, NotFound
from moot.runtime.ports import CommandKey, Listing, Receipt, Snapshot, Store, Summary

_PAGE_EVENTS = 1_000


class _Session:
    __slots__ = ("commands", "ended", "events", "removed_at", "snapshot", "summary", "touched", "wake")

    def __init__(self, summary: Summary) -> None:
        self.events: list[Event] = []
        self.commands: dict[str, Receipt] = {}
        self.summary = summary
        self.snapshot: Snapshot | None = None
        self.touched = 0
        self.wake: asyncio.Event | None = None  # made when a follower waits
        self.ended = False
        self.removed_at: str | None = None

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
        expected_seq: int,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        if self._closed:
            raise LogError("the log is closed")
        if not events or events[0].seq != expected_seq + 1:
            raise ValueError(f"events must be at least one and start at seq {expected_seq + 1}")
        session = self._sessions.get(session_id)
        if session is not None and session.removed_at:
            if expected_seq:
                raise NotFound(f"no session {session_id}")
            raise Conflict(f"session {session_id} is in the trash; restore it, or delete it for good")
        if session is None:
            session = self._create(session_id, expected_seq, summary)
        elif len(session.events) != expected_seq:
            raise Conflict(
                f"session {session_id} is at seq {len(session.events)}, not {expected_seq}; read, then retry"
            )
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

    def _create(self, session_id: str, expected_seq: int, summary: Summary | None) -> _Session:
        if expected_seq != 0:
            raise NotFound(f"no session {session_id}")
        if summary is None:
            raise ValueError("the first append of a session needs a summary")
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
