"""A process to be killed: appends to one session for ever and prints each seq once it is acknowledged."""

import asyncio
import sys

from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import append, make_events


async def main(path: str, inline_below_s: float) -> None:
    log = await SqliteLog.open(path, inline_below_s=inline_below_s)
    head = (await append(log, "a"))[-1].head
    while True:
        print(head.seq, flush=True)
        events = make_events("a", head, 3)
        await log.append("a", head, events)
        head = events[-1].head


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
