"""The server itself: what it binds, what it lets time out, how it ends."""

import asyncio
import logging
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from moot.core.errors import ConfigError
from moot.core.session.principal import Role
from moot.gateway import uvicorn_port
from moot.gateway.auth import LOGIN_HEADER
from moot.gateway.serving import PortInUse, bind, check_exposure
from tests.gateway.sites import OWNER, SOLO, Site, come_true, open_site, serve_site
from tests.runtime.apps import run

MASK = b"\0\0\0\0"


def test_loopback_needs_no_permission() -> None:
    """The default, by each of its names."""
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        check_exposure(host, insecure=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "no.such.host.invalid"])  # noqa: S104
def test_the_network_needs_insecure(host: str) -> None:
    """There is no TLS here, and the refusal says why."""
    with pytest.raises(ConfigError, match="without TLS"):
        check_exposure(host, insecure=False)
    check_exposure(host, insecure=True)


def test_a_port_is_taken_by_one() -> None:
    """The second one is told so, in one sentence."""
    with bind("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} .* is in use"):
            bind("127.0.0.1", port)
    bind("127.0.0.1", port).close()
    with pytest.raises(ConfigError, match="no address"):
        bind("no.such.host.invalid", 0)


async def upgrade(site: Site, query: str = f"token={OWNER}") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
    writer.write(
        f"GET /ws?{query} HTTP/1.1\r\nHost: {site.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101"), head
    return reader, writer


def frame(opcode: int, payload: bytes = b"", *, masked: bool = True, first: int = 0x80) -> bytes:
    length = len(payload)
    if length < 126:
        size = struct.pack("!B", length | (0x80 if masked else 0))
    else:
        size = struct.pack("!BQ", 127 | (0x80 if masked else 0), length)
    return bytes([first | opcode]) + size + (MASK if masked else b"") + payload


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(1, b"\xff\xfe"), 1007),
        (frame(1, b"x", masked=False), 1002),
        (frame(1, b"x", first=0xC0), 1002),
        (frame(3, b""), 1002),
        (frame(9, b"x" * 126), 1002),
        (frame(1, b"x" * 2001), 1009),
        (bytes([0x81, 0xFF]) + struct.pack("!Q", 2**62) + MASK, 1009),
        (b"".join([frame(1, b"x" * 900, first=0), *[frame(0, b"x" * 900, first=0)] * 3]), 1009),
    ],
)
def test_broken_frames_close_with_the_right_code(sent: bytes, code: int, tmp_path: Path) -> None:
    """1007 not text, 1009 at the header or the sum of fragments, 1002 against the protocol."""

    @run
    async def check() -> None:
        async with serve_site(tmp_path, SOLO, frame_bytes=2000) as site:
            reader, writer = await upgrade(site)
            writer.write(sent)
            answer = await reader.readexactly(4)
            assert answer[0] == 0x88
            assert struct.unpack("!H", answer[2:4])[0] == code
            writer.close()

    check()


@run
async def test_sockets_are_not_compressed(tmp_path: Path) -> None:
    """permessage-deflate is off, whoever asks for it."""
    async with serve_site(tmp_path, SOLO) as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
        writer.write(
            f"GET /ws?token={OWNER} HTTP/1.1\r\nHost: {site.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"deflate" not in head
        assert b"server:" not in head.lower()
        writer.close()


@run
async def test_a_wrong_origin_is_403_before_the_upgrade(tmp_path: Path) -> None:
    """An Origin or a Host that is not ours is refused with 403, before the upgrade."""
    async with serve_site(tmp_path, SOLO) as site:
        for header in ("Origin: http://evil.com", "Origin: null", "Host: evil.com"):
            reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
            host = "" if header.startswith("Host") else f"Host: {site.host}\r\n"
            writer.write(
                f"GET /ws?token={OWNER} HTTP/1.1\r\n{host}{header}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            )
            assert (await reader.readline()).startswith(b"HTTP/1.1 403"), header
            writer.close()
        assert site.sockets.scopes == []


@run
async def test_a_request_that_does_not_come_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither silence nor a head that trickles, on a new line or a used one, holds a connection."""
    assert uvicorn_port.REQUEST_TIMEOUT_S == 10.0
    monkeypatch.setattr(uvicorn_port, "REQUEST_TIMEOUT_S", 0.1)
    async with serve_site(tmp_path, SOLO) as site:
        whole = f"GET /healthz HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode()
        for before, start in ((b"", b""), (b"", b"GET / HT"), (whole, b"GET /heal")):
            reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
            writer.write(before)
            if before:
                assert await reader.readuntil(b'"ok"}')
            writer.write(start)
            async with asyncio.timeout(3):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            writer.close()
        reader, writer = await upgrade(site)  # a socket is not a request: it may be silent
        await asyncio.sleep(0.3)
        writer.write(frame(1, b"still here"))
        assert (await reader.readexactly(2))[0] == 0x81
        writer.close()


@run
async def test_a_head_that_is_too_large_is_dropped(tmp_path: Path) -> None:
    """64 KB of headers are refused before they are kept."""
    async with serve_site(tmp_path, SOLO) as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()


@run
async def test_the_server_ends_with_a_socket_that_never_does(tmp_path: Path) -> None:
    """An endpoint that ignores everything does not keep the process alive."""
    loop = asyncio.get_running_loop()
    async with serve_site(tmp_path, SOLO, shutdown_s=3.0) as site:
        _, writer = await upgrade(site)
        await come_true(lambda: len(site.sockets.scopes) == 1)
        ended_at = loop.time()
    assert loop.time() - ended_at < 5
    assert site.sockets.is_closed
    writer.close()


def test_what_does_not_stop_is_left_behind() -> None:
    """A part that ignores everything costs the deadline, not more; the exit code tells."""
    code = """if True:
        import asyncio, os, signal
        from moot.gateway.signals import stopping

        async def main():
            with stopping(0.2) as asked:
                os.kill(os.getpid(), signal.SIGTERM)
                await asked.wait()
                await asyncio.sleep(60)

        asyncio.run(main())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "did not stop within 0.2 s" in done.stderr


@run
async def test_nobody_new_is_let_in_while_it_ends(tmp_path: Path) -> None:
    """The port is closed first."""
    async with serve_site(tmp_path, SOLO) as site:
        pass
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", site.settings.port))


@run
async def test_no_secret_is_logged_however_much_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Tokens in the query, the header, the cookie and the body, over HTTP and WebSocket, at level DEBUG."""
    for name in ("httpx", "httpcore"):
        caplog.set_level(logging.CRITICAL, name)  # the client of this test, not the server
    caplog.set_level(logging.DEBUG)
    logging.getLogger("moot.gateway").debug("the level is right")
    async with serve_site(tmp_path, SOLO) as site:
        secrets = await show_secrets(site)
    assert caplog.records
    told = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert [secret for secret in secrets if secret in told] == []
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())  # noqa: ASYNC240
    assert [secret for secret in secrets if secret.encode() in kept] == []


async def show_secrets(site: Site) -> list[str]:
    """In every place, right ones and wrong ones, on paths that work and paths that fail."""
    owner = site.tokens.find(OWNER)
    assert owner
    viewer, _ = site.issue(Role.VIEWER)
    (_, cookie, login_secret), wrong = site.tokens.login(owner), "canary-of-a-wrong-token"
    session_id = await site.create()
    ways: list[dict[str, Any]] = []
    for secret in (OWNER, viewer, wrong):
        ways += [{"params": {"token": secret}}, {"headers": {"authorization": f"Bearer {secret}"}}]
    login = {"cookie": f"{site.tokens.cookie_name}={cookie}", LOGIN_HEADER: login_secret}
    ways += [{"headers": {**login, "origin": site.url}}]
    async with httpx.AsyncClient(base_url=site.url, trust_env=False) as client:
        for way in ways:
            for path in ("/", "/api/sessions", "/api/nothing", f"/api/sessions/{session_id}", "/metrics"):
                assert wrong not in (await client.get(path, **way)).text
            await client.post(f"/api/sessions/{session_id}/commands", content="{", **way)
            client.cookies.clear()
        for secret in (OWNER, viewer, wrong):
            await client.post("/api/login", json={"token": secret})
            await client.post("/api/login", content=f'{{"token":"{secret}"')
    for secret in (OWNER, viewer, wrong):
        _, writer = await upgrade(site, f"token={secret}&batch=1")
        writer.write(frame(1, b"\xff"))
        writer.close()
    return [OWNER, viewer, wrong, cookie, login_secret]


@run
async def test_what_nobody_foresaw_is_logged_without_its_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """500 with a frame for the client, a traceback for the owner, the route and not the URL in it."""
    async with open_site(tmp_path) as site, site.client(None) as client:

        async def fail(*_: object, **__: object) -> None:
            raise RuntimeError("boom")

        monkeypatch.setattr(site.app.log, "list_page", fail)
        answer = await client.get("/api/sessions", params={"token": OWNER})
        assert answer.status_code == 500
        assert "boom" not in answer.text
        assert "GET /api/sessions failed" in caplog.text
        assert OWNER not in caplog.text


GET = "GET /healthz HTTP/1.1\r\nHost: {host}"
CHUNKS = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
HEADS = {
    "a length and chunks": "POST /api/logout HTTP/1.1\r\nHost: {host}\r\n" + CHUNKS,
    "a line that ends with a bare LF": GET + "\nX: y\r\n\r\n",
    "a folded line": GET + "\r\nX: y\r\n z\r\n\r\n",
    "the second of two requests": GET + "\r\n\r\n" + GET + "\n\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: str, tmp_path: Path) -> None:
    """It is answered with 400 and the connection is closed, so that no proxy and server disagree about what follows."""

    @run
    async def scene() -> None:
        async with serve_site(tmp_path) as site:
            reader, writer = await asyncio.open_connection("127.0.0.1", site.settings.port)
            writer.write(head.format(host=site.host).encode())
            answer = await asyncio.wait_for(reader.read(), 10)
            assert answer.split(b"HTTP/1.1 ")[-1].startswith(b"400"), answer
            writer.close()

    scene()
