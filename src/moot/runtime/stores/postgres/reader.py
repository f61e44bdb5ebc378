"""Reads the log from PostgreSQL. Events are returned only if the hash chain confirms them."""

from collections.abc import Callable
from typing import Any

from moot.core.codec import Event, Head
from moot.core.errors import Diverged, NotFound
from moot.runtime.cluster import PAGE_EVENTS, News, Standing
from moot.runtime.ports import Listing, Project, Receipt, Snapshot
from moot.runtime.snapshots import snapshot_version
from moot.runtime.stores.postgres import statements
from moot.runtime.stores.postgres.links import Pool
from moot.runtime.stores.rows import read_summary, unpack_segment
from moot.runtime.stores.walk import Row, Walk


class Reader:
    """Queries on a pool of connections. Methods raise LogError if the server cannot be reached.

    Args:
        node_id: this node as of now, if it is one.
    """

    def __init__(self, pool: Pool, node_id: Callable[[], int | None]) -> None:
        self._pool = pool
        self._node_id = node_id

    async def read(self, session_id: str, after: int, limit: int) -> list[Event]:
        rows = await self._pool.fetch(statements.READ, session_id, after, limit + 1)
        if not rows:
            raise NotFound(f"no session {session_id}")
        return Walk(session_id, after, limit).through(read_rows(rows))

    async def catch_up(self, session_id: str, after: Head) -> News:
        rows = await self._pool.fetch(statements.CATCH_UP, session_id, after.seq, PAGE_EVENTS + 1)
        return read_news(session_id, after, rows, self._node_id())

    async def head(self, session_id: str) -> Head:
        rows = await self._pool.fetch(statements.HEAD, session_id)
        if not rows:
            raise NotFound(f"no session {session_id}")
        return Head(rows[0]["seq"], rows[0]["hash"].hex())

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        rows = await self._pool.fetch(statements.FIND_COMMAND, session_id, command_id)
        return Receipt(rows[0]["digest"], rows[0]["seq"]) if rows else None

    async def sessions(self, *, removed: bool) -> list[Listing]:
        return [_listing(row) for row in await self._pool.fetch(statements.LIST, removed)]

    async def list_page(self, limit: int, before: str | None, *, removed: bool) -> list[Listing]:
        return [_listing(row) for row in await self._pool.fetch(statements.PAGE, removed, before, limit)]

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        rows = await self._pool.fetch(statements.LOAD_SNAPSHOT, session_id, snapshot_version())
        if not rows:
            return None
        return Snapshot(Head(rows[0]["seq"], rows[0]["hash"]), rows[0]["version"], rows[0]["state"])


def read_news(session_id: str, after: Head, rows: list[Any], node_id: int | None) -> News:
    """The answer to CATCH_UP as events and standing. Raises NotFound, Diverged or Corrupt."""
    if not rows:
        raise NotFound(f"no session {session_id}")
    walk = Walk(session_id, after.seq, PAGE_EVENTS)
    events = walk.through(read_rows(rows))
    if after.seq and walk.began_behind != after:
        raise Diverged(f"session {session_id} has another event {after.seq} than the one that was read")
    is_mine = node_id is not None and rows[0]["owner"] == node_id
    return News(events, Standing(is_mine, rows[0]["epoch"]))


def read_rows(rows: list[Any]) -> list[Row]:
    """The stored rows in an answer, with segments of the archive unpacked."""
    return [
        (row["seq"], row["hashes"], row["data"])
        if row["to_seq"] is None
        else unpack_segment(row["seq"], row["to_seq"], row["data"])
        for row in rows
        if row["seq"] is not None
    ]


def _listing(row: Any) -> Listing:
    summary, is_damaged = read_summary(row["summary"])
    file = row["project_file"]
    return Listing(
        session_id=row["id"],
        created_at=row["created_at"],
        updated_at=row["at"],
        head=Head(row["seq"], row["hash"].hex()),
        summary=summary,
        removed_at=row["removed_at"],
        project=Project(file, row["project_folder"] or "") if file is not None else None,
        is_summary_damaged=is_damaged,
    )
