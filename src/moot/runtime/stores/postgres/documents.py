"""Small documents that all nodes share, with a version each."""

import asyncio
from collections.abc import Callable, Sequence

from moot.runtime.stores.postgres.links import Pool

_GET = "SELECT name, version, data FROM moot.documents WHERE name = ANY($1)"
_CREATE = (
    "INSERT INTO moot.documents (name, version, data) VALUES ($1, 1, $2)"
    " ON CONFLICT (name) DO NOTHING RETURNING version"
)
_REPLACE = (
    "UPDATE moot.documents SET version = version + 1, data = $3 WHERE name = $1 AND version = $2 RETURNING version"
)


class PgDocuments:
    """Implements the Documents port. `changed` is set when another node has changed one."""

    def __init__(self, pool: Pool, tell: Callable[[str], None]) -> None:
        self._pool = pool
        self._tell = tell
        self.changed = asyncio.Event()

    async def get(self, names: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        rows = await self._pool.fetch(_GET, list(names))
        return {row["name"]: (row["version"], row["data"]) for row in rows}

    async def put(self, name: str, version: int, data: bytes) -> bool:
        if version:
            rows = await self._pool.fetch(_REPLACE, name, version, data)
        else:
            rows = await self._pool.fetch(_CREATE, name, data)
        if rows:
            self._tell(name)
        return bool(rows)

    async def wait(self, at_most_s: float) -> None:
        try:
            await asyncio.wait_for(self.changed.wait(), at_most_s)
        except TimeoutError:
            return
        self.changed.clear()
