"""Readers that stop reading: closed with 4408 in time, at a bounded price, and to nobody else's harm."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from moot.gateway import uvicorn_port
from moot.gateway.outbox import REPLIES
from tests.gateway.raw_socket import SMALL_BUFFER_BYTES, RawSocket
from tests.gateway.server import DEADLINE_S, FULL, TOKEN, Peer, Server, run, serve, until

STALLED = 200 if FULL else 50
MIB = 1024 * 1024
MANY: dict[str, Any] = {"connections": 500, "connections_per_user": 500}
SIZE = 4_000


async def stall(server: Server, session_id: str, count: int) -> list[RawSocket]:
    """Clients that follow a session and never read."""
    sockets = []
    for _ in range(count):
        raw = await RawSocket.open(server.port, TOKEN, receive_bytes=SMALL_BUFFER_BYTES)
        await raw.say("user.reconnect", session_id=session_id)
        sockets.append(raw)
    return sockets


async def measure(server: Server, peer: Peer, session_id: str, seconds: float) -> list[float]:
    """Append events at a steady pace; how long after each append a healthy client had it."""
    loop = asyncio.get_running_loop()
    end, latencies = loop.time() + seconds, []
    while loop.time() < end:
        started = loop.time()
        await server.append(session_id, 10, size=SIZE)
        for _ in range(10):
            text = await peer.link.recv()
        latencies.append(loop.time() - started)
        assert json.loads(text)["session_id"] == session_id
        await asyncio.sleep(0.01)
    return sorted(latencies)


@run
async def test_fifty_stalled_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are closed within 10 s, memory grows by far less than 2 MiB each, a healthy client is as fast as before;
    each reads its close code when it reads again, and resumes."""
    monkeypatch.setattr(uvicorn_port, "LINGER_S", DEADLINE_S)  # the first reads again when the last is closed
    async with serve(tmp_path, **MANY) as server, server.client() as healthy:
        session_id = await healthy.create()
        await measure(server, healthy, session_id, 0.5)
        base = await measure(server, healthy, session_id, 1.5)
        sockets = await stall(server, session_id, STALLED)
        await until(lambda: server.count_connections() == STALLED + 1)
        before, started = server.rss_bytes(), asyncio.get_running_loop().time()
        latencies: list[float] = []
        highest = 0
        while server.count_connections() > 1:
            latencies += await measure(server, healthy, session_id, 0.25)
            highest = max(highest, server.rss_bytes() - before)
            filling_s = STALLED / 5  # the sockets have buffers, and machines are noisy
            assert asyncio.get_running_loop().time() - started < 10 + filling_s
        assert server.counted("closes", code="4408") == STALLED
        assert server.counted("sends_timed_out") == STALLED
        assert highest < STALLED * MIB
        middle, worst = base[len(base) // 2], sorted(latencies)[int(len(latencies) * 0.99)]
        assert sorted(latencies)[len(latencies) // 2] < 2 * middle + 0.1
        assert worst < 2 * base[-1] + 1.0
        await check_that_they_resume(server, session_id, sockets[:5])
        for raw in sockets[5:]:
            raw.shut()


async def check_that_they_resume(server: Server, session_id: str, sockets: list[RawSocket]) -> None:
    """What they were sent before the close frame is whole; with it they go on where it ends."""
    head = await server.app.log.head(session_id)
    for raw in sockets:
        texts, code = await raw.read_texts_until_close()
        assert code == 4408
        seqs = [text["seq"] for text in texts if "seq" in text]
        assert seqs == list(range(1, len(seqs) + 1))
        async with server.client("&batch=1") as again:
            answer = await again.resume(session_id, seqs[-1], texts[-1]["hash"])
            assert answer["metadata"]["resumed"] is True
            await again.until_seq(head.seq)
            assert again.check(session_id, texts[-1]["hash"]) == list(range(seqs[-1] + 1, head.seq + 1))


async def closing_time(tmp_path: Path, **settings: Any) -> float:
    """Seconds from the moment that nothing more could be sent to one reader until it was closed."""
    loop = asyncio.get_running_loop()
    async with serve(tmp_path, **settings) as server, server.client() as peer:
        session_id = await peer.create()
        [raw] = await stall(server, session_id, 1)
        await until(lambda: server.count_connections() == 2)
        clients = [client for client in server.endpoint._clients if client.blocked_since is None]
        while all(client.blocked_since is None for client in clients):
            await server.append(session_id, 5, size=SIZE)
        started = loop.time()
        await server.append(session_id, 20, size=SIZE)  # now it lags, whatever it was sent before
        await until(lambda: server.count_connections() == 1)
        took = loop.time() - started
        assert await raw.closed_with() == 4408
        return took


@run
async def test_a_reader_with_little_to_read(tmp_path: Path) -> None:
    """A send that takes longer than the send timeout closes, however little is missing."""
    assert 1.0 < await closing_time(tmp_path, send_timeout_s=1.5, lag_events=100_000, lag_bytes=2**40) < 8


@run
async def test_a_reader_that_is_too_far_behind(tmp_path: Path) -> None:
    """Who takes nothing and lags by more bytes than allowed is closed before the send timeout."""
    assert await closing_time(tmp_path, send_timeout_s=60, lag_events=100_000, lag_bytes=10_000) < 8


@run
async def test_a_slow_reader_of_a_long_history(tmp_path: Path) -> None:
    """Slow is not stalled: who reads with pauses is sent all of a history far longer than the lag limit."""
    async with serve(tmp_path, lag_events=100, lag_bytes=10_000) as server, server.client() as peer:
        session_id = await peer.create()
        head = await server.append(session_id, 4_000, size=1_000)
        raw = await RawSocket.open(server.port, TOKEN, receive_bytes=SMALL_BUFFER_BYTES)
        await raw.say("user.reconnect", session_id=session_id)
        seqs: list[int] = []
        while not seqs or seqs[-1] < head:
            _, payload = await raw.read_frame()
            frame = json.loads(payload)
            if "seq" in frame:
                seqs.append(frame["seq"])
            if len(seqs) % 100 == 0:
                await asyncio.sleep(2 if len(seqs) == 100 else 0.02)
        assert seqs == list(range(1, head + 1))
        raw.shut()


@run
async def test_one_append_of_many_large_events(tmp_path: Path) -> None:
    """Sockets are not filled with more than they take, however much is said at once."""
    async with serve(tmp_path, **MANY) as server:
        session_id = (await server.app.session()).id
        sockets = await stall(server, session_id, 20)
        await until(lambda: server.count_connections() == 20)
        before = server.rss_bytes()
        await server.append(session_id, 200, size=100_000, at_once=200)
        await asyncio.sleep(0.5)
        assert server.rss_bytes() - before < 80 * MIB + 20 * 2 * MIB  # the window itself, and 2 MiB for each
        for raw in sockets:
            raw.shut()


@run
async def test_questions_of_a_client_that_reads_no_answers(tmp_path: Path) -> None:
    """Who asks for the whole history again and again without reading is listened to no more, then closed."""
    settings: dict[str, Any] = {"messages_per_s": 1e6, "message_burst": 10**6, "send_timeout_s": 1.5}
    async with serve(tmp_path, **settings) as server:
        session_id = (await server.app.session()).id
        await server.append(session_id, 2_000, size=2_000)
        [raw] = await stall(server, session_id, 1)
        await until(lambda: server.count_connections() == 1)
        [client] = server.endpoint._clients
        asking = asyncio.create_task(ask_for_ever(raw, session_id))
        most = 0
        while server.count_connections():
            most = max(most, len(client.connection.outbox._replies))
            await asyncio.sleep(0.01)
        assert REPLIES <= most <= REPLIES + 2
        asking.cancel()
        raw.shut()


async def ask_for_ever(raw: RawSocket, session_id: str) -> None:
    with suppress(ConnectionError):
        for _ in range(100_000):
            await raw.say("user.reconnect", session_id=session_id)
