"""Writes sessions to a log and notes, in a file beside it, what was acknowledged: the process whose power is cut.

python -m tests.power.workload FOLDER APPENDS
"""

import asyncio
import os
import random
import sys
from pathlib import Path

from moot.core.codec import Head
from moot.runtime.ports import CommandKey, Snapshot
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import SUMMARY, make_events

ACKS = "acks"
SESSIONS = ("s_aaaaaaaa", "s_bbbbbbbb", "s_cccccccc")


class Writer:
    """Appends to several sessions and writes a line for each acknowledged append: session, seq, hash."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "moot.db"
        self._acks = os.open(folder / ACKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._heads = dict.fromkeys(SESSIONS, Head())
        self._chance = random.Random(1)  # noqa: S311 - it must be repeatable, not secret

    async def live(self, appends: int) -> None:
        """Open the log, append, and close it, which empties the write-ahead log into the file."""
        log = await SqliteLog.open(self._path)
        try:
            for _ in range(appends // len(SESSIONS)):
                await asyncio.gather(*(self._append(log, session_id) for session_id in SESSIONS))
        finally:
            await log.close()

    async def _append(self, log: SqliteLog, session_id: str) -> None:
        head = self._heads[session_id]
        text = "x" * self._chance.choice([10, 500, 9_000])
        events = make_events(session_id, head, self._chance.randint(1, 3), text)
        key = CommandKey(f"c{head.seq}", "digest")
        await log.append(session_id, head, events, command=key, summary=None if head.seq else SUMMARY)
        head = self._heads[session_id] = events[-1].head
        os.write(self._acks, f"{session_id} {head.seq} {head.hash}\n".encode())
        if self._chance.random() < 0.05:
            await log.save_snapshot(session_id, Snapshot(head, "test", b"state" * 100))


async def main(folder: Path, appends: int) -> None:
    writer = Writer(folder)
    for _ in range(3):
        await writer.live(appends // 3)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
