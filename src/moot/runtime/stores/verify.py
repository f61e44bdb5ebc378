"""Walks a whole log: `moot sessions verify`."""

from moot.core.codec import Head
from moot.runtime.ports import Log


async def verify(log: Log, session_id: str) -> Head:
    """Where the log ends, when all of it is what was written; else Corrupt. NotFound as ever."""
    head = Head()
    while events := await log.read(session_id, head.seq):
        head = events[-1].head
    return head
