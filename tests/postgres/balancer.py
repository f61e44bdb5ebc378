"""A load balancer for one machine: one address for several servers; those that do not answer are passed over."""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


async def balance(port: int, targets: Sequence[int]) -> asyncio.Server:
    """Listen on a port of the loopback interface and pass each connection to one of the targets, in turn."""
    turns = itertools.count()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = next(turns)
        try:
            for at in range(len(targets)):
                with suppress(OSError):
                    back, forth = await asyncio.open_connection("127.0.0.1", targets[(first + at) % len(targets)])
                    break
            else:
                return
            carrying = [asyncio.ensure_future(_carry(reader, forth)), asyncio.ensure_future(_carry(back, writer))]
            await asyncio.wait(carrying, return_when=asyncio.FIRST_COMPLETED)
            for task in carrying:
                task.cancel()
            forth.transport.abort()
        finally:
            writer.transport.abort()

    return await asyncio.start_server(serve, "127.0.0.1", port)
