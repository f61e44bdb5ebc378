"""A process that appends to a session which others write, too; prints how often it did so, and how often in vain."""

import asyncio
import sys

from moot.core.errors import Conflict
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import read_address
from tests.contract.logs import make_events


async def race(url: str, session_id: str, name: str, count: int) -> None:
    log = await PgLog.open(read_address(url), read_address(url), name)
    done = refused = 0
    try:
        while done < count:
            head = await log.head(session_id)
            try:
                await log.append(session_id, head, make_events(session_id, head, 1, f"{name}-{done}"))
                done += 1
            except Conflict:
                refused += 1
    finally:
        await log.close()
    print(done, refused)


if __name__ == "__main__":
    asyncio.run(race(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
