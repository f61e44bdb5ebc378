"""The clients' side of bench/delivery.py, in a process of its own: sockets that look for the end and count bytes."""

import asyncio
import json
import re
import resource
import time
from typing import Any

import uvloop

from bench.delivery_server import MARK, TOKEN, answer, read_orders
from tests.gateway.raw_socket import TEXT, make_frame, make_handshake

_END = MARK.encode()
_REFUSED = re.compile(rb'"event":"(agent|system)\.error"')
_TIME = re.compile(rb"@(\d+)@")


class Socket(asyncio.Protocol):
    """Takes everything; `ended` is done when the last event was in it, and fails if the server refuses to send it."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.is_open: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.transport: Any = None
        self._tail = b""
        self.kept: list[bytes] | None = None  # everything, if anybody wants to look
        self.latencies: list[int] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        if not self.is_open.done() and b"\r\n\r\n" in data:
            assert data.startswith(b"HTTP/1.1 101"), data
            self.is_open.set_result(None)
        if self.kept is not None:
            self.kept.append(data)
            self.latencies += [now - int(at) for at in _TIME.findall(data)]
        if not self.ended.done():
            if _END in self._tail + data[-1_000:]:
                self.ended.set_result(None)
            elif _REFUSED.search(data[:1_000]):
                self.ended.set_exception(ConnectionRefusedError(data[:1_000].decode(errors="replace")))
        self._tail = data[-len(_END) :]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(exc or ConnectionResetError("the server has closed the connection"))

    def say(self, **frame: Any) -> None:
        self.transport.write(make_frame(TEXT, json.dumps(frame).encode()))


class Clients:
    def __init__(self) -> None:
        self._sockets: list[Socket] = []

    async def connect(self, port: int, count: int, query: str, session_id: str) -> None:
        loop = asyncio.get_running_loop()
        for at in range(count):
            _, opened = await loop.create_connection(Socket, "127.0.0.1", port)
            opened.transport.write(make_handshake(port, f"/ws?token={TOKEN}{query}"))
            await opened.is_open
            if session_id:
                opened.say(event="user.reconnect", session_id=session_id)
            self._sockets.append(opened)
            if at == 0:
                opened.kept = []
        await asyncio.sleep(0.3)  # what it is greeted with

    async def wait_for_end(self, events: int) -> float:
        """Seconds until all have had everything; the first one really has."""
        start = time.perf_counter()
        await asyncio.gather(*(each.ended for each in self._sockets))
        took = time.perf_counter() - start
        found = b"".join(self._sockets[0].kept or []).count(b'"event":"message.posted"')
        assert found == events, f"{found} of {events} came"
        return took

    async def replay(self, session_id: str, events: int) -> float:
        self._sockets[0].say(event="user.reconnect", session_id=session_id)
        return await self.wait_for_end(events)

    async def stall(self) -> None:
        """Let nobody but the first read on, as clients that hang."""
        for each in self._sockets[1:]:
            each.transport.pause_reading()

    async def take_latencies(self, count: int) -> list[int]:
        """Nanoseconds from the beginning of an append to here."""
        while len(self._sockets[0].latencies) < count:  # noqa: ASYNC110 - nobody waits for it
            await asyncio.sleep(0.01)
        return self._sockets[0].latencies[:count]

    async def echo(self, count: int, size: int) -> list[int]:
        """Nanoseconds there and back."""
        socket, latencies = self._sockets[0], []
        for n in range(count):
            await asyncio.sleep(0.002)
            start = time.monotonic_ns()
            socket.say(text="x" * size, at=f"@{start}@")
            while len(socket.latencies) <= n:  # noqa: ASYNC110 - awake, so that its waking is not measured
                await asyncio.sleep(0)
            latencies.append(socket.latencies[n])
        return latencies

    async def close(self) -> None:
        for socket in self._sockets:
            socket.ended.cancel()
            socket.transport.abort()
        self._sockets.clear()
        await asyncio.sleep(0.2)


async def main() -> None:
    clients = Clients()
    async for name, *arguments in read_orders():
        answer(await getattr(clients, name)(*arguments))


if __name__ == "__main__":
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    uvloop.run(main())
