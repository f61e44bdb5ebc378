"""Frames that no proper client sends: the sender is closed with the right code, others go on."""

import asyncio
from pathlib import Path

import pytest

from moot.gateway import uvicorn_port
from tests.gateway.raw_socket import BINARY, CONTINUE, PING, TEXT, RawSocket, make_frame, make_handshake, make_header
from tests.gateway.server import SOLO, TOKEN, run, serve, until

MIB = 1024 * 1024
HELLO = b'{"event": "user.create_session"}'
BAD: dict[str, tuple[bytes, int]] = {
    "not UTF-8": (make_frame(TEXT, b'{"event": "\xff\xfe"}'), 1007),
    "a surrogate in UTF-8": (make_frame(TEXT, b'{"event": "\xed\xa0\x80"}'), 1007),
    "one byte more than a MiB": (make_header(0x81, MIB + 1) + b"mask", 1009),
    "one byte more than the setting": (make_header(0x81, 256 * 1024 + 1) + b"mask", 1009),
    "100 MB": (make_header(0x81, 100_000_000) + b"mask", 1009),
    "a header of 2^63 - 1": (make_header(0x81, 2**63 - 1) + b"mask", 1009),
    "a header of 2^63": (make_header(0x81, 2**63) + b"mask", 1009),
    "too much in fragments": (
        make_frame(TEXT, b"x" * 200_000, fin=False) + make_frame(CONTINUE, b"x" * 200_000, fin=False),
        1009,
    ),
    "5,000 tiny fragments": (
        make_frame(TEXT, b"", fin=False) + make_frame(CONTINUE, b" ", fin=False) * 4_998 + make_frame(CONTINUE, HELLO),
        1009,
    ),
    "not masked": (make_frame(TEXT, HELLO, masked=False), 1002),
    "a reserved bit": (make_frame(TEXT, HELLO, rsv=4), 1002),
    "a ping of 126 bytes": (make_frame(PING, b"x" * 126), 1002),
    "a ping in fragments": (make_frame(PING, b"x", fin=False), 1002),
    "opcode 3": (make_frame(3, b"x"), 1002),
    "a continuation of nothing": (make_frame(CONTINUE, b"x"), 1002),
    "binary": (make_frame(BINARY, HELLO), 1003),
}


@run
async def test_bad_frames(tmp_path: Path) -> None:
    """Each ends its own connection with its close code; nothing is created, a bystander goes on."""
    async with serve(tmp_path, connections_per_user=100) as server, server.client() as bystander:
        session_id = await bystander.create()
        for name, (data, code) in BAD.items():
            raw = await RawSocket.open(server.port, TOKEN)
            await raw.write(data)
            assert (name, await raw.closed_with()) == (name, code)
        assert len(await server.app.log.sessions()) == 1
        await bystander.send("user.message", session_id=session_id, content="[NEXT: bob] [FROM: alice] hi")
        await bystander.until("session.paused")
        await until(lambda: server.count_connections() == 1)


@run
async def test_what_is_allowed_is_taken(tmp_path: Path) -> None:
    """RFC 6455: fragments, pings between them, and a frame of just the allowed size are all right."""
    async with serve(tmp_path) as server:
        raw = await RawSocket.open(server.port, TOKEN)
        await raw.write(make_frame(TEXT, HELLO[:5], fin=False) + make_frame(PING, b"?"))
        await raw.write(make_frame(CONTINUE, HELLO[5:]))
        names = [(await raw.read_frame())[1] for _ in range(3)]
        assert b"system.connected" in names[0]
        assert b"agent.session_created" in names[2] or b"agent.session_created" in names[1]
        await raw.write(make_frame(TEXT, HELLO.ljust(256 * 1024)))
        assert b"agent.session_created" in (await raw.read_frame())[1]
        raw.shut()


@run
async def test_a_message_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message whose end does not come in 30 s (here: 0.3 s) closes the connection."""
    monkeypatch.setattr(uvicorn_port, "FRAGMENTED_S", 0.3)
    async with serve(tmp_path) as server:
        raw = await RawSocket.open(server.port, TOKEN)
        await raw.write(make_frame(TEXT, HELLO, fin=False))
        assert await raw.closed_with() == 1009
        patient = await RawSocket.open(server.port, TOKEN)
        await patient.write(make_frame(TEXT, HELLO[:9], fin=False) + make_frame(CONTINUE, HELLO[9:]))
        await asyncio.sleep(0.5)  # its end came: the clock was stopped
        await patient.write(make_frame(TEXT, b"{}"))
        await patient.write(make_frame(BINARY))
        texts, code = await patient.read_texts_until_close()
        assert code == 1003
        assert [text["event"] for text in texts] == ["system.connected", "agent.session_created", "system.error"]


@run
async def test_memory_of_announced_frames(tmp_path: Path) -> None:
    """What a header announces is not reserved, and what is too large is not taken in."""
    async with serve(tmp_path, connections_per_user=100) as server:
        before = server.rss_bytes()
        for size in (100_000_000, 2**62):
            for _ in range(10):
                raw = await RawSocket.open(server.port, TOKEN)
                await raw.write(make_header(0x81, size) + b"mask" + b"x" * 100_000)
                assert await raw.closed_with() in (1009, 1006)  # unread bytes may reset the link before it is read
        assert server.rss_bytes() - before < 2 * MIB


@run
async def test_a_whole_frame_that_is_too_large(tmp_path: Path) -> None:
    """A client that sends a MiB too much in good faith is told why."""
    async with serve(tmp_path) as server, server.client() as peer:
        session_id = await peer.create()
        await peer.send("user.message", session_id=session_id, content="x" * MIB)
        assert await peer.closed_with() == 1009


@run
async def test_a_handshake_of_64_kilobytes(tmp_path: Path) -> None:
    """Headers beyond any measure are not read to their end."""
    async with serve(tmp_path) as server:
        raw = await RawSocket.dial(server.port)
        await raw.write(make_handshake(server.port, f"/ws?token={TOKEN}", "X-Large: " + "x" * 200_000))
        try:
            head = await raw.read_head()
            assert b" 101 " not in head.splitlines()[0]
        except (EOFError, ConnectionError):
            pass
        raw.shut()


@run
async def test_a_link_that_is_dead(tmp_path: Path) -> None:
    """Who answers no ping is gone after ping and timeout (40 s, here 0.6 s), and is counted no more."""
    async with serve(tmp_path, ping_s=0.3, ping_timeout_s=0.3) as server, server.client() as alive:
        raw = await RawSocket.open(server.port, TOKEN)
        assert server.count_connections() == 2
        async with asyncio.timeout(3):
            await until(lambda: server.count_connections() == 1)
        assert await raw.closed_with() == 1011
        assert (await alive.ask("user.set_language", language="zh", command_id="c"))["event"] == "system.accepted"


@pytest.mark.parametrize("wrong", ["1970-01-01T00:00:00.000Z", "2999-12-31T23:59:59.999Z", "yesterday", 0])
@run
async def test_a_clients_clock_has_no_effect(tmp_path: Path, wrong: object) -> None:
    """The server stamps the time, and a seq says the order, whatever a client believes."""
    async with serve(tmp_path, SOLO) as server, server.client() as peer:
        session_id = await peer.create()
        fields = {"timestamp": wrong, "seq": 999, "event_id": "x", "hash": "y"}
        await peer.send("user.message", session_id=session_id, content="[NEXT: alice] hi", command_id="c", **fields)
        await peer.until("system.accepted")
        events = await server.app.log.read(session_id)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        times = [event.timestamp for event in events]
        assert times == sorted(times)
        assert str(wrong)[:4] not in {time[:4] for time in times}
