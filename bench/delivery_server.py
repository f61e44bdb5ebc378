"""The server's side of bench/delivery.py, in a process of its own: Moot's gateway, or the barest server there is.

Both are told on stdin what to do, one JSON array a line, and answer on stdout.
"""

import asyncio
import ctypes
import gc
import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import uvicorn
import uvloop

from bench.turns import SAID, TEAM
from moot.app import App, open_app
from moot.core.codec import Event, Head, frame, stamp
from moot.core.session.events import MessagePosted
from moot.gateway.auth import Tokens
from moot.gateway.metrics import Metrics
from moot.gateway.serving import bind
from moot.gateway.settings import GatewaySettings
from moot.gateway.uvicorn_port import make_config
from moot.gateway.ws import WebSocketEndpoint

TOKEN = "token-of-the-bench"  # noqa: S105
MARK = "THE-END"
AT = "2026-01-01T00:00:00.000Z"
LAG_EVENTS = 400  # clients may be so far behind before more is said: as far as a server would let them
REPLAY_BATCH = 64  # frames in a message


def make_events(session_id: str, head: Head, texts: list[str]) -> list[Event]:
    facts = [MessagePosted(member="alice", text=text) for text in texts]
    return stamp(TEAM.team(), session_id, head, facts, AT)


def make_texts(count: int) -> list[str]:
    """The last one says that it is."""
    return [SAID.format(next="bob")] * (count - 1) + [MARK]


class Side(Protocol):
    """What both servers can be told to do."""

    async def broadcast(self, events: int, burst: int, is_batched: bool) -> None: ...

    async def fill(self, events: int) -> str: ...


class MootSide:
    def __init__(self, app: App, endpoint: WebSocketEndpoint) -> None:
        self._app = app
        self._endpoint = endpoint
        self._session_id = ""

    async def begin(self) -> str:
        """A new session that clients can follow."""
        self._session_id = (await self._app.session()).id
        return self._session_id

    async def broadcast(self, events: int, burst: int, is_batched: bool) -> None:  # noqa: ARG002 - clients ask for it
        texts, log = make_texts(events), self._app.log
        head = await log.head(self._session_id)
        for number, at in enumerate(range(0, events, burst)):
            stamped = make_events(self._session_id, head, texts[at : at + burst])
            await log.append(self._session_id, head, stamped)
            head = stamped[-1].head
            await asyncio.sleep(0)
            while number % 10 == 0 and self._lag() > LAG_EVENTS:  # noqa: ASYNC110 - to look costs less than to tell
                await asyncio.sleep(0.001)

    def _lag(self) -> int:
        return max((client.connection.outbox.lag_events for client in self._endpoint._clients), default=0)

    async def fill(self, events: int) -> str:
        """A session with so many events, as turns write them: five at a time."""
        await self.begin()
        await self.broadcast(events - 1, 5, is_batched=False)
        return self._session_id

    async def tell_times(self, count: int) -> None:
        """Append events that say when that began."""
        head = await self._app.log.head(self._session_id)
        for _ in range(count):
            await asyncio.sleep(0.002)
            [event] = make_events(self._session_id, head, [f"@{time.monotonic_ns()}@ {SAID}"])
            await self._app.log.append(self._session_id, head, [event])
            head = event.head

    async def open_sessions(self, count: int) -> None:
        for _ in range(count):
            await self._app.session()


class BareSide:
    """An ASGI application that sends the same bytes to everybody, or reads rows and sends them."""

    def __init__(self, folder: Path) -> None:
        self._sends: list[Any] = []
        self._rows = sqlite3.connect(folder / "rows.db", isolation_level=None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self._sends.append(send)
        is_batched = b"batch=1" in scope["query_string"]
        while (message := await receive())["type"] == "websocket.receive":
            text = message["text"]
            if "user.reconnect" in text:
                await self._replay(send, is_batched)
            else:
                await send({"type": "websocket.send", "text": text})
        self._sends.remove(send)

    async def broadcast(self, events: int, burst: int, is_batched: bool) -> None:
        frames = [frame(event, "en").decode() for event in make_events("s_bare", Head(), make_texts(events))]
        for at in range(0, events, burst):
            texts = frames[at : at + burst]
            if is_batched:
                texts = [f"[{','.join(texts)}]"]
            for send in self._sends:
                for text in texts:
                    await send({"type": "websocket.send", "text": text})
            await asyncio.sleep(0)

    async def fill(self, events: int) -> str:
        rows = [(frame(event, "en"),) for event in make_events("s_bare", Head(), make_texts(events))]
        self._rows.execute("PRAGMA journal_mode=WAL")
        self._rows.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)")
        self._rows.execute("BEGIN")
        self._rows.executemany("INSERT INTO rows (data) VALUES (?)", rows)
        self._rows.execute("COMMIT")
        return ""

    async def _replay(self, send: Any, is_batched: bool) -> None:
        cursor = self._rows.execute("SELECT data FROM rows ORDER BY id")
        while rows := cursor.fetchmany(REPLAY_BATCH):
            texts = [row[0].decode() for row in rows]
            for text in [f"[{','.join(texts)}]"] if is_batched else texts:
                await send({"type": "websocket.send", "text": text})
            await asyncio.sleep(0)


def rss_bytes() -> int:
    """After what is not needed was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def read_orders() -> AsyncIterator[list[Any]]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield json.loads(line)


def answer(value: Any) -> None:
    print(json.dumps(value), flush=True)


async def main(kind: str, folder: Path, log: str) -> None:
    with bind("127.0.0.1", 0) as bound:
        async with AsyncExitStack() as stack:
            metrics, settings = Metrics(), generous_settings(bound.getsockname()[1])
            if kind == "moot":
                app = await stack.enter_async_context(open_app(TEAM, data=folder if log == "durable" else None))
                endpoint = WebSocketEndpoint(app, Tokens(folder, owner_token=TOKEN), settings, metrics)
                stack.push_async_callback(endpoint.close)
                side: Any = MootSide(app, endpoint)
                config: uvicorn.Config = make_config(endpoint, settings, metrics)
            else:
                side = BareSide(folder)
                config = uvicorn.Config(
                    side, ws="websockets-sansio", ws_per_message_deflate=False, lifespan="off", log_level="warning"
                )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve([bound]))
            answer(settings.port)
            async for name, *arguments in read_orders():
                answer(rss_bytes() if name == "rss" else await getattr(side, name)(*arguments))
            server.should_exit = True
            server.force_exit = True
            await serving


def generous_settings(port: int) -> GatewaySettings:
    """Nothing that would stop a thousand clients of one user, or close one that waits for its turn."""
    return GatewaySettings(
        port=port,
        connections=5_000,
        connections_per_user=5_000,
        message_burst=5_000,
        lag_events=10**6,
        lag_bytes=2**40,
        heartbeat_s=3_600,
    )


if __name__ == "__main__":
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    uvloop.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
