"""The only module that depends on the inside of uvicorn, whose version `pyproject.toml` therefore caps.

uvicorn has no public way to do what a server of many slow and strange clients needs, so its protocols are subclassed:

- HTTP: a head that proxies read in different ways is refused: a line that ends with a bare LF, a folded line, a length
  together with chunks (RFC 9112, sections 2.2, 5.2 and 6.1).
- HTTP: a timeout for the head of a request to arrive, and one for a client that does not read its answer.
- WebSocket: `send` waits until the socket takes bytes, also for the close frame, so that a stalled reader could never
  be closed. Here the close frame is put behind what the socket still holds, and the link is cut if the client does
  not read that far.
- WebSocket: messages are written as they are on the wire, so that what many clients are sent is encoded only once.
- WebSocket: a message in many small pieces, or one whose end does not come, is refused.
- The server announces that it listens, tells everybody when it stops, and leaves the signals alone.

Relied upon, beyond what is documented: of `H11Protocol` `cycle`, `transport`, `loop`, `handle_websocket_upgrade`; of
`WebSocketsSansIOProtocol` `conn`, `queue`, `writable`, `close_sent`, `read_paused`, `disconnected`,
`handshake_complete`, `frames`, `curr_msg_data_type`, `send_receive_event_to_app`, `close_timer`, `stop_keepalive`,
`keepalive_timeout`, `shutdown` and the methods `handle_*`; of `Server` `startup`, `shutdown`, `servers`,
`capture_signals`; of `h11.Connection` its buffer. After raising a cap run `tests/gateway`, which covers them.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn import Server
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request

from moot.gateway.guard import PRIVATE
from moot.gateway.metrics import Metrics
from moot.gateway.settings import GatewaySettings
from moot.runtime.private_socket import find_peer

if TYPE_CHECKING:
    from starlette.types import ASGIApp

REQUEST_TIMEOUT_S = 10.0  # for the head of a request
CLOSING_S = 2.0  # of the shutdown time, to close the connections of clients
WIRE = "moot.wire"  # the extension in the scope that gives an application its ClosableProtocol
LINGER_S = 20.0
ABORT_S = 1.0  # after the server began to stop
DRAIN_S = 2.0  # how long data for a failed connection is still read and discarded
FRAGMENTS = 1_000  # most fragments of one message
FRAGMENTED_S = 30.0  # for all of them to arrive
_TEXT = 0x80 | Opcode.TEXT
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\n[ \t]")  # a line that ends with a bare LF, or goes on on the next one
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:", re.IGNORECASE)
_CHUNKED = re.compile(rb"\ntransfer-encoding[ \t]*:", re.IGNORECASE)


class ServerConfig(Config):
    """uvicorn's configuration with what our two protocols need besides."""

    def __init__(self, app: Any, *, send_timeout_s: float, metrics: Metrics, **options: Any) -> None:
        super().__init__(app, **options)
        self.send_timeout_s = send_timeout_s
        self.metrics = metrics


def find_client(transport: asyncio.BaseTransport, client: tuple[str, int] | None) -> tuple[str, int] | None:
    """Return who is at the other end, for the scope: on the private socket PRIVATE and the process, 0 if unknown."""
    connected: socket.socket | None = transport.get_extra_info("socket")
    if connected is None or connected.family != socket.AF_UNIX:
        return client
    return PRIVATE, find_peer(connected) or 0


class Timeout:
    """A callback that runs after a delay unless it is cancelled. Starting it while it runs has no effect."""

    def __init__(self, loop: asyncio.AbstractEventLoop, then: Callable[[], object]) -> None:
        self._loop = loop
        self._then = then
        self._timer: asyncio.TimerHandle | None = None

    def start(self, delay_s: float) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(delay_s, self._then)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class StrictBuffer(ReceiveBuffer):
    """Refuses a head that other servers and proxies might read differently."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        held = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None:
            head = held[: len(held) - len(self)]
            if _AMBIGUOUS.search(head) or (_LENGTH.search(head) and _CHUNKED.search(head)):
                raise h11.RemoteProtocolError("ambiguous request head", error_status_hint=400)
        return lines


class TimedProtocol(H11Protocol):
    config: ServerConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self.client = find_client(transport, self.client)
        self.conn._receive_buffer = StrictBuffer()
        self._arrival = Timeout(self.loop, transport.abort)
        self._stall = Timeout(self.loop, self._drop)
        self._is_upgraded = False
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrival.cancel()
        self._stall.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._expect_request()
        else:
            self._arrival.cancel()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._is_upgraded = True  # from here on the connection is another protocol's
        self._arrival.cancel()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall.start(self.config.send_timeout_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stall.cancel()

    def _expect_request(self) -> None:
        if not self._is_upgraded and not self.transport.is_closing():
            self._arrival.start(REQUEST_TIMEOUT_S)

    def _drop(self) -> None:
        """Abort a connection whose client has stopped reading; bytes that were not sent are discarded."""
        self.config.metrics.sends_timed_out.inc()
        self.transport.abort()


def text_message(payload: bytes) -> bytes:
    """Encode a text message as one unmasked frame, as servers send them (RFC 6455, section 5.2)."""
    size = len(payload)
    if size < 126:
        return b"%c%c%b" % (_TEXT, size, payload)
    if size < 65_536:
        return b"%c\x7e%b%b" % (_TEXT, size.to_bytes(2, "big"), payload)
    return b"%c\x7f%b%b" % (_TEXT, size.to_bytes(8, "big"), payload)


class ClosableProtocol(WebSocketsSansIOProtocol):
    _fragments = 0
    _is_refused = False
    _fragmented_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.client = find_client(transport, self.client)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:  # the application has not started yet, so it will see the extension
            extensions: Any = self.scope["extensions"]
            extensions[WIRE] = self

    def write(self, message: bytes) -> None:
        """Send an encoded message (`text_message`). The caller waits for `writable` first.

        Raises ClientDisconnected if the connection is closed or closing.
        """
        if self.disconnected or self.transport.is_closing():
            raise ClientDisconnected
        self.transport.write(message)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and not self.writable.is_set():
            self._close_stalled(message.get("code", 1000), message.get("reason") or "")
            return
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # it was refused: uvicorn would log an error for every client that is

    def _close_stalled(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.stop_keepalive()
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
            if self.read_paused:  # the client's close frame must be read
                self.read_paused = False
                self.transport.resume_reading()
        self._cut_later()

    def keepalive_timeout(self) -> None:
        """Abort a dead connection: closing it would wait until the unsent bytes are delivered."""
        super().keepalive_timeout()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.INTERNAL_ERROR})
        self._cut_later()

    def shutdown(self) -> None:
        """Close because the server stops; abort after ABORT_S, as unsent bytes would keep the server from ending."""
        super().shutdown()
        if not self.disconnected:
            self.loop.call_later(ABORT_S, self.transport.abort)

    def _cut_later(self) -> None:
        if self.close_timer is None and not self.disconnected:
            self.close_timer = self.loop.call_later(LINGER_S, self.transport.abort)

    def handle_text(self, event: Frame) -> None:
        self._start_message(event)
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        self._start_message(event)
        super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        self._fragments += 1
        if event.fin:
            self._stop_waiting()
        elif self._fragments > FRAGMENTS:
            self._refuse_message("too many fragments")
            return
        super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Refuse text that is not UTF-8 in silence: uvicorn logs a traceback for every such message."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.conn.fail(CloseCode.INVALID_DATA)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        """Send the close frame but discard further data for DRAIN_S before closing.

        If the socket were closed while the client still sends, the reset could overtake the close frame.
        """
        assert self.conn.close_sent is not None  # noqa: S101 - the parser fails the connection on bad data
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._is_refused = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(DRAIN_S, self.transport.close)

    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _start_message(self, event: Frame) -> None:
        self._fragments = 1
        if not event.fin:
            self._fragmented_timer = self.loop.call_later(FRAGMENTED_S, self._refuse_message, "its end did not come")

    def _stop_waiting(self) -> None:
        if self._fragmented_timer:
            self._fragmented_timer.cancel()
            self._fragmented_timer = None

    def _refuse_message(self, reason: str) -> None:
        self._stop_waiting()
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(CloseCode.MESSAGE_TOO_BIG, reason)
        self.handle_parser_exception()


class AnnouncedServer(Server):
    """Calls `announce` when clients may connect, and `close_clients` before it closes their connections."""

    def __init__(
        self, config: ServerConfig, announce: Callable[[], None], close_clients: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._close_clients = close_clients

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handlers: ours are in place. uvicorn's would end the process by the signal instead of with 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await self._close_clients()
        await super().shutdown(sockets)


def make_config(app: "ASGIApp", settings: GatewaySettings, metrics: Metrics) -> ServerConfig:
    """Return the configuration of uvicorn. Every option here differs from its default on purpose."""
    return ServerConfig(
        app,
        send_timeout_s=settings.send_timeout_s,
        metrics=metrics,
        http=TimedProtocol,
        ws=ClosableProtocol,
        ws_max_size=settings.frame_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping_s,
        ws_ping_timeout=settings.ping_timeout_s,
        timeout_graceful_shutdown=max(1, int(settings.shutdown_s - CLOSING_S)),
        lifespan="off",
        log_config=None,
        log_level="error",  # a warning is a line for each request that is none; below are URLs and headers, with tokens
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
