"""A WebSocket client made of bytes, for what a proper one would never send, and for one that stops reading."""

import asyncio
import json
import os
import socket
import struct
from typing import Any, Self

TEXT, BINARY, CLOSE, PING, CONTINUE = 1, 2, 8, 9, 0
SMALL_BUFFER_BYTES = 4_096
WAIT_S = 60.0


def make_frame(opcode: int, payload: bytes = b"", *, fin: bool = True, rsv: int = 0, masked: bool = True) -> bytes:
    """RFC 6455 §5.2, whether it makes sense or not."""
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    mask = os.urandom(4) if masked else b""
    if masked:
        key = mask * (len(payload) // 4 + 1)
        payload = bytes(a ^ b for a, b in zip(payload, key, strict=False))
    return make_header(first, len(payload), masked=masked) + mask + payload


def make_header(first: int, size: int, *, masked: bool = True) -> bytes:
    bit = 0x80 if masked else 0
    if size < 126:
        return struct.pack("!BB", first, bit | size)
    if size < 65_536:
        return struct.pack("!BBH", first, bit | 126, size)
    return struct.pack("!BBQ", first, bit | 127, size)


class RawSocket:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._read = b""

    @classmethod
    async def dial(cls, port: int, *, receive_bytes: int | None = None) -> Self:
        """A TCP connection, nothing more."""
        sock = socket.socket()
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.setblocking(False)
        raw = cls(sock)
        await raw._loop.sock_connect(sock, ("127.0.0.1", port))
        return raw

    @classmethod
    async def open(cls, port: int, token: str, *, receive_bytes: int | None = None, query: str = "") -> Self:
        """A WebSocket connection."""
        raw = await cls.dial(port, receive_bytes=receive_bytes)
        await raw.write(make_handshake(port, f"/ws?token={token}{query}"))
        head = await raw.read_head()
        assert head.startswith(b"HTTP/1.1 101"), head
        return raw

    async def write(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._sock, data)

    async def say(self, event: str, **fields: Any) -> None:
        await self.write(make_frame(TEXT, json.dumps({"event": event, **fields}).encode()))

    async def read_head(self) -> bytes:
        while b"\r\n\r\n" not in self._read:
            await self._fill()
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        return head

    async def read_frame(self) -> tuple[int, bytes]:
        """The next frame of the server: opcode and payload. EOFError when the link is over."""
        first, second = await self._take(2)
        size = second & 0x7F
        if size == 126:
            [size] = struct.unpack("!H", await self._take(2))
        elif size == 127:
            [size] = struct.unpack("!Q", await self._take(8))
        return first & 0x0F, await self._take(size)

    async def read_texts_until_close(self) -> tuple[list[Any], int]:
        """What still comes, and the code of the close frame; 1006 when there is none. The socket is closed then."""
        texts = []
        try:
            while True:
                opcode, payload = await self.read_frame()
                if opcode == TEXT:
                    texts.append(json.loads(payload))
                if opcode == CLOSE:
                    await self.write(make_frame(CLOSE, payload[:2]))
                    return texts, int.from_bytes(payload[:2], "big")
        except (EOFError, ConnectionError):
            return texts, 1006
        finally:
            self.shut()

    async def closed_with(self) -> int:
        return (await self.read_texts_until_close())[1]

    def shut(self) -> None:
        self._sock.close()

    async def _take(self, count: int) -> bytes:
        while len(self._read) < count:
            await self._fill()
        taken, self._read = self._read[:count], self._read[count:]
        return taken

    async def _fill(self) -> None:
        async with asyncio.timeout(WAIT_S):
            data = await self._loop.sock_recv(self._sock, 262_144)
        if not data:
            raise EOFError
        self._read += data


def make_handshake(port: int, path: str, *more: str) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
