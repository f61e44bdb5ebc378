"""A disk that tears and loses writes that were not synced, and a log on it.

The log is one file of records; a record is durable when it is synced, and only then acknowledged. What a crash leaves
of the last records is up to the disk, and reading stops at the first record that is not whole.
"""

import asyncio
import hashlib
import random
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from moot.core.codec import Event, Head, decode
from moot.core.errors import LogError, StorageFull
from moot.runtime.ports import CommandKey, Snapshot, Summary
from moot.runtime.stores.memory import MemoryLog
from sim.faults import Faults

T = TypeVar("T")
_HEADER_BYTES = 4 + 32  # length and digest of a record


class Disk:
    """One file. `synced` survives a crash; of `unsynced` a crash leaves what it pleases."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.unsynced: list[bytes] = []
        self.snapshots: dict[str, Snapshot] = {}

    def write(self, data: bytes) -> None:
        self.unsynced.append(data)

    def sync(self) -> None:
        for data in self.unsynced:
            self.synced += data
        self.unsynced.clear()

    def forget(self) -> None:
        """Undo the writes that were not synced, as a database does after an error."""
        self.unsynced.clear()

    def crash(self, faults: Faults) -> None:
        """Lose power: each unsynced write is kept, lost or torn; after a lost one the next ones land behind a hole."""
        for data in self.unsynced:
            fate = faults.chance.choice(["kept", "lost", "torn"])
            faults.count(f"unsynced write {fate}")
            match fate:
                case "kept":
                    self.synced += data
                case "torn":
                    size = faults.chance.randrange(1, len(data))
                    self.synced += data[:size] + bytes(len(data) - size)
                case _:
                    self.synced += bytes(len(data))
        self.unsynced.clear()


class Record(Struct, frozen=True, kw_only=True):
    """One append as it is stored."""

    session_id: str
    expected: Head
    lines: list[tuple[str, bytes]]  # hash and stored bytes of each event
    command: CommandKey | None
    summary: Summary | None


_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Record)


def pack(record: Record) -> bytes:
    body = _encoder.encode(record)
    return len(body).to_bytes(4, "big") + hashlib.sha256(body).digest() + body


def unpack(data: bytes) -> list[tuple[Record, int]]:
    """The whole records at the start of a file, each with the place where it ends."""
    records, start = list[tuple[Record, int]](), 0
    while start + _HEADER_BYTES <= len(data):
        end = start + _HEADER_BYTES + int.from_bytes(data[start : start + 4], "big")
        digest, body = data[start + 4 : start + _HEADER_BYTES], data[start + _HEADER_BYTES : end]
        if end > len(data) or hashlib.sha256(body).digest() != digest:
            break
        records.append((_decoder.decode(body), end))
        start = end
    return records


class DiskLog(MemoryLog):
    """Implements the Log port on a Disk. Opening it reads the file up to the first damaged record."""

    def __init__(self, disk: Disk, faults: Faults) -> None:
        super().__init__()
        self._disk = disk
        self._faults = faults
        self._writing = asyncio.Lock()
        self._commits: set[asyncio.Task[None]] = set()
        records = unpack(bytes(disk.synced))
        del disk.synced[records[-1][1] if records else 0 :]
        for record, _ in records:
            events = [decode(data, hash_) for hash_, data in record.lines]
            appending = super().append(
                record.session_id, record.expected, events, command=record.command, summary=record.summary
            )
            run_now(appending)

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        commit = asyncio.get_running_loop().create_task(self._commit(session_id, expected, events, command, summary))
        self._commits.add(commit)
        commit.add_done_callback(self._commits.discard)
        await asyncio.shield(commit)  # a commit that has begun is finished, whoever waits for it

    async def _commit(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        command: CommandKey | None,
        summary: Summary | None,
    ) -> None:
        async with self._writing:
            if self._is_next(session_id, expected, command):
                lines = [(event.hash, event.data) for event in events]
                record = Record(session_id=session_id, expected=expected, lines=lines, command=command, summary=summary)
                is_reported = await self._write(pack(record))
            else:
                is_reported = True
            await super().append(session_id, expected, events, command=command, summary=summary)
        if not is_reported:
            raise LogError("the disk failed; whether it was written is not known")

    async def _write(self, data: bytes) -> bool:
        """Write and sync. Return False if the write is durable but the disk says that it failed."""
        faults, disk = self._faults, self._disk
        if faults.strikes("disk full"):
            raise StorageFull("the disk is full")
        disk.write(data)
        await asyncio.sleep(faults.chance.choice([0.5, 5.0]) if faults.strikes("slow sync") else 0.0)
        if faults.strikes("write failed"):
            disk.forget()
            raise LogError("the disk failed; nothing was written")
        disk.sync()
        if faults.strikes("sync failed after the write"):
            return False
        await asyncio.sleep(0)  # durable, and nobody knows it yet
        return True

    def _is_next(self, session_id: str, expected: Head, command: CommandKey | None) -> bool:
        session = self._sessions.get(session_id)
        if session is None:
            return expected.seq == 0
        is_new = command is None or command.command_id not in session.commands
        return not session.removed_at and session.events[-1].head == expected and is_new

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        if self._faults.strikes("snapshot lost"):
            return
        if self._faults.strikes("snapshot damaged"):
            at = self._faults.chance.randrange(len(snapshot.state))
            flipped = bytes([snapshot.state[at] ^ 0x10])
            damaged = snapshot.state[:at] + flipped + snapshot.state[at + 1 :]
            snapshot = Snapshot(snapshot.head, snapshot.version, damaged)
        self._disk.snapshots[session_id] = snapshot

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        return self._disk.snapshots.get(session_id)

    def events_of(self, session_id: str) -> list[Event]:
        """Every event of a session that is durable."""
        session = self._sessions.get(session_id)
        return session.events if session else []

    def session_ids(self) -> list[str]:
        return list(self._sessions)


def restore_backup(disk: Disk, chance: random.Random) -> int:
    """Put back an earlier copy of the file, with every session in it; return how many records are gone."""
    records = unpack(bytes(disk.synced))
    births = [at for at, (record, _) in enumerate(records, start=1) if record.expected.seq == 0]
    kept = chance.randint(max([len(records) // 2, *births]), len(records))
    del disk.synced[records[kept - 1][1] if kept else 0 :]
    return len(records) - kept


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing; it may let others have their turn."""
    try:
        while coroutine.send(None) is None:
            pass
    except StopIteration as end:
        return cast("T", end.value)
    raise AssertionError("it waits")
