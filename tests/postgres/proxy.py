"""A proxy between a node and PostgreSQL that can cut, stop and reset connections, and sees what is sent."""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

_CANCEL_REQUEST = struct.pack("!ii", 16, 80877102)
ROUNDS = 10  # of the loop, until what was accepted is a task and what was aborted is closed


class Proxy:
    """Listens on a port of its own. `url` leads through it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 5432
        self._parts = parts
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.cancel_requests = 0
        self.drops_answer_to: Callable[[bytes], bool] = lambda _: False  # then the connection is cut before the answer
        self.cuts = 0
        self.swallows: Callable[[bytes], bool] = lambda _: False  # what a client sends; it waits for an answer
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        user = f"{self._parts.username}@" if self._parts.username else ""
        return urlunsplit(self._parts._replace(netloc=f"{user}127.0.0.1:{port}"))

    def stop_flow(self) -> None:
        """Nothing passes and nothing is closed, as when a cable is pulled."""
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    def reset_all(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._flowing.wait()
            up_reader, up_writer = await asyncio.open_connection(self._host, self._port)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
            return
        self._writers |= {writer, up_writer}
        is_doomed = asyncio.Event()
        pumps = [
            asyncio.ensure_future(self._pump(reader, up_writer, is_doomed, is_from_client=True)),
            asyncio.ensure_future(self._pump(up_reader, writer, is_doomed, is_from_client=False)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for end in (writer, up_writer):
                self._writers.discard(end)
                end.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        is_doomed: asyncio.Event,
        *,
        is_from_client: bool,
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._flowing.wait()
                if is_from_client:
                    self.cancel_requests += data.startswith(_CANCEL_REQUEST)
                    if self.drops_answer_to(data):
                        is_doomed.set()
                    if self.swallows(data):
                        continue
                elif is_doomed.is_set():
                    self.cuts += 1
                    return  # the server has answered; the client does not hear it
                writer.write(data)
                await writer.drain()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(asyncio.CancelledError):  # when the proxy is closed
                await self._serve(reader, writer)
        finally:
            self._tasks.discard(task)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for _ in range(ROUNDS):
            await asyncio.sleep(0)


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(url)
    proxy._server = await asyncio.start_server(proxy._handle, "127.0.0.1", 0)
    try:
        yield proxy
    finally:
        await proxy.close()
