"""Resuming: no hole, no double, the same bytes for everybody, however the link is lost."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.server import FULL, SOLO, Peer, Server, run, serve

EVENTS = 500
STEP = 1 if FULL else 7
STORM = 200


async def follow_from(server: Server, session_id: str, seq: int, checksum: str | None, until: int) -> Peer:
    """Connect, resume behind `seq`, read up to `until`, leave."""
    async with server.client() as peer:
        answer = await peer.resume(session_id, seq, checksum)
        assert answer["event"] == "system.connected"
        assert answer["metadata"] == {"session_id": session_id, "resumed": True, "from": seq + 1}
        if until > seq:
            await peer.until_seq(until)
        return peer


@run
async def test_a_drop_after_every_event(tmp_path: Path) -> None:
    """Whoever drops behind event k resumes at k+1: no hole, no double, the same hash chain."""
    async with serve(tmp_path, messages_per_s=10_000, message_burst=10_000) as server:
        async with server.client() as first:
            session_id = await first.create()
            head = await server.append(session_id, EVENTS - 1)
            await first.until_seq(head)
            assert head == EVENTS
            assert first.check(session_id) == list(range(1, EVENTS + 1))
        hashes = [frame["hash"] for frame in first.frames if "seq" in frame]
        for seq in range(0, EVENTS + 1, STEP):
            checksum = hashes[seq - 1] if seq else None
            peer = await follow_from(server, session_id, seq, checksum, EVENTS)
            if seq < EVENTS:
                assert peer.check(session_id, checksum or "") == list(range(seq + 1, EVENTS + 1))
            assert peer.lines.get(session_id, []) == first.lines[session_id][seq:]


@run
async def test_a_client_that_keeps_dropping(tmp_path: Path) -> None:
    """One client that drops after every few live events has, in the end, every event once."""
    async with serve(tmp_path, connections=500, connections_per_user=500) as server:
        async with server.client() as first:
            session_id = await first.create()
        append = asyncio.create_task(server.append(session_id, EVENTS, at_once=1))
        lines, seq, checksum, drops = [*first.lines[session_id]], 1, first.frames[-1]["hash"], 0
        while seq <= EVENTS:
            async with server.client() as peer:
                answer = await peer.resume(session_id, seq, checksum)
                assert answer["metadata"]["resumed"] is True
                for _ in range(min(1 + drops % 30, EVENTS + 1 - seq)):
                    frame = await peer.next()
                    seq, checksum = frame["seq"], frame["hash"]
                lines += peer.lines[session_id][: seq - len(lines)]
                drops += 1
        await append
        whole = await follow_from(server, session_id, 0, None, EVENTS + 1)
        assert lines == whole.lines[session_id]
        assert whole.check(session_id) == list(range(1, EVENTS + 2))
        assert drops >= 20


@run
async def test_events_appended_during_a_replay(tmp_path: Path) -> None:
    """1,000 events that arrive while history is sent come behind it, each once."""
    async with serve(tmp_path) as server:
        async with server.client() as first:
            session_id = await first.create()
        head = await server.append(session_id, 3_000)
        async with server.client() as peer, server.client("&batch=1") as batched:
            await peer.resume(session_id, 0)
            await batched.resume(session_id, 0)
            append = asyncio.create_task(server.append(session_id, 1_000, at_once=3))
            await peer.until_seq(head)
            was_under_way = not append.done()
            await asyncio.gather(peer.until_seq(head + 1_000), batched.until_seq(head + 1_000))
            await append
            assert was_under_way, "the replay was over before anything was appended: this run shows nothing"
            assert peer.check(session_id) == list(range(1, head + 1_001))
            assert batched.check(session_id) == list(range(1, head + 1_001))
            assert await peer.is_silent()


@run
async def test_nothing_stands_between_the_answer_and_the_replay(tmp_path: Path) -> None:
    """Behind system.connected{resumed} come the missed events at once, whatever else is asked meanwhile."""
    async with serve(tmp_path, heartbeat_s=0.3) as server, server.client() as peer:
        other = await peer.create()
        session_id = await peer.create()
        head = await server.append(session_id, 2_000)
        await peer.until_seq(head)
        await peer.send("user.reconnect_with_state", session_id=session_id, last_seq=4)
        await peer.send("user.message", session_id=other, content="[NEXT: alice] hi", command_id="c1")
        await peer.send("user.message", session_id=session_id, content="[NEXT: alice] hi", command_id="c2")
        await peer.send("user.request_state", session_id=other)
        append = asyncio.create_task(server.append(other, 200, at_once=1))
        before = await peer.until("system.connected")
        replay = [await peer.next() for _ in range(head - 4)]
        assert before[-1]["metadata"]["from"] == 5
        assert [frame.get("seq") for frame in replay] == list(range(5, head + 1))
        assert {frame["session_id"] for frame in replay} == {session_id}
        await append
        await peer.until("agent.state_exported")


@pytest.mark.parametrize("lag", [0, 40])
@run
async def test_three_clients_of_one_session(tmp_path: Path, lag: int) -> None:
    """Three tabs of one session, one acks, one never does, one sleeps: each is sent all of it."""
    async with serve(tmp_path) as server, server.client() as acking, server.client() as silent:
        session_id = await acking.create()
        await silent.resume(session_id, 0)
        async with server.client() as sleeper:
            await sleeper.resume(session_id, 0)
            await sleeper.until_seq(1)
        middle = await server.append(session_id, 300)
        await acking.until_seq(middle - lag)
        await acking.send("user.ack", last_seq=middle - lag)
        head = await server.append(session_id, 1_300)
        await asyncio.gather(acking.until_seq(head), silent.until_seq(head))
        assert acking.check(session_id) == silent.check(session_id) == list(range(1, head + 1))
        woken = await follow_from(server, session_id, 1, sleeper.frames[-1]["hash"], head)
        assert sleeper.lines[session_id] + woken.lines[session_id] == silent.lines[session_id]
        assert server.counted("ignored_acks") == 0


@run
async def test_a_storm_of_reconnects(tmp_path: Path) -> None:
    """200 clients drop at once and come back at once; each goes on where it was, and nobody is kept waiting."""
    settings: dict[str, Any] = {"connections": 500, "connections_per_user": 500, "message_burst": 500}
    async with serve(tmp_path, **settings) as server:
        async with server.client() as first:
            session_id = await first.create()
            head = await server.append(session_id, 600)
            await first.until_seq(head)
        lines = first.lines[session_id]
        hashes = [frame["hash"] for frame in first.frames if "seq" in frame]

        async def come_back(seq: int) -> float:
            started = asyncio.get_running_loop().time()
            peer = await follow_from(server, session_id, seq, hashes[seq - 1], head)
            assert peer.lines[session_id] == lines[seq:]
            return asyncio.get_running_loop().time() - started

        for _ in range(2):
            took = sorted(await asyncio.gather(*(come_back(500 + n % 90) for n in range(STORM))))
            assert took[int(STORM * 0.99)] < 60  # 2 s for the server; the clients share its process and a noisy machine
        assert server.counted("resumes", outcome="resumed") == 2 * STORM


@run
async def test_ahead_and_diverged(tmp_path: Path) -> None:
    """A client with another history is told so and sent all of ours; it is counted."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id = await peer.create()
        head = await server.append(session_id, 10)
        await peer.until_seq(head)
        right = peer.frames[-1]["hash"]
        cases: list[tuple[int, str | None, dict[str, Any]]] = [
            (head, right, {"resumed": True, "from": head + 1}),
            (head, None, {"resumed": True, "from": head + 1}),
            (0, "anything", {"resumed": True, "from": 1}),
            (head, right.upper(), {"resumed": False, "reason": "diverged", "from": 1}),
            (head - 1, right, {"resumed": False, "reason": "diverged", "from": 1}),
            (head + 1, right, {"resumed": False, "reason": "ahead", "from": 1}),
            (2**53 - 1, None, {"resumed": False, "reason": "ahead", "from": 1}),
        ]
        for seq, checksum, told in cases:
            async with server.client() as another:
                answer = await another.resume(session_id, seq, checksum)
                assert answer["metadata"] == {"session_id": session_id, **told}
                if told["from"] == 1:
                    await another.until_seq(head)
                    assert another.check(session_id) == list(range(1, head + 1))
                assert await another.is_silent(0.05)
        assert server.counted("resumes", outcome="diverged") == 2
        assert server.counted("resumes", outcome="ahead") == 2


@run
async def test_the_whole_history(tmp_path: Path) -> None:
    """user.reconnect gives the whole history, from far behind the window in memory, twice if asked twice."""
    async with serve(tmp_path, window_events=100) as server, server.client() as peer:
        session_id = await peer.create()
        head = await server.append(session_id, 2_500)
        await peer.until_seq(head)
        for _ in range(2):
            peer.lines.clear()
            answer = await peer.ask("user.reconnect", session_id=session_id)
            assert answer["metadata"]["resumed"] is False
            await peer.until_seq(head)
            assert peer.check(session_id) == list(range(1, head + 1))
        assert await server.append(session_id, 1) == head + 1
        assert (await peer.next())["seq"] == head + 1


@run
async def test_resuming_by_event_id(tmp_path: Path) -> None:
    """last_event_id is as good as last_seq; that of another session is no cursor."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id, other = await peer.create(), await peer.create()
        head = await server.append(session_id, 5)
        await peer.until_seq(head)
        named = {"session_id": session_id, "metadata": {"last_event_id": f"{session_id}-{head - 1}"}}
        answer = await peer.ask("user.reconnect_with_state", **named)
        assert answer["metadata"]["from"] == head
        assert (await peer.next())["seq"] == head
        refused = await peer.ask("user.reconnect_with_state", session_id=session_id, last_event_id=f"{other}-1")
        assert refused["metadata"]["code"] == "bad_cursor"


@run
async def test_a_damaged_history(tmp_path: Path) -> None:
    """What lies before a damaged event is sent, then an error; those who follow behind it are not disturbed."""
    async with serve(tmp_path, SOLO, window_events=10) as server, server.client() as alive:
        session_id = await alive.create()
        head = await server.append(session_id, 1_000, at_once=10)
        await alive.until_seq(head)
        with closing(sqlite3.connect(tmp_path / "moot.db")) as file, file:
            damage = "CAST(replace(CAST(data AS TEXT), '\"seq\":501,', '\"seq\":501 ') AS BLOB)"
            file.execute(f"UPDATE appends SET data = {damage}")  # noqa: S608 - it is ours
        async with server.client() as peer:
            await peer.send("user.reconnect", session_id=session_id)
            frames = await peer.until("agent.error")
            assert [frame["seq"] for frame in frames if "seq" in frame] == list(range(1, 501))
            assert frames[-1]["session_id"] == session_id
            assert frames[-1]["metadata"]["code"] == "unavailable"
            await peer.create()  # the connection goes on
        assert await server.append(session_id, 1) == head + 1
        assert (await alive.next())["seq"] == head + 1
