"""uvicorn's WebSocket protocol, with what a server of many slow and strange clients needs besides.

- Its `send` waits until the socket takes bytes, for the close frame too: a stalled reader could never be closed. Here
  the close frame is put behind what the socket still holds, and the link is cut if the client does not read that far.
- Messages are written as they are on the wire, so that what many clients are sent is put into its frame only once.
- A message in many small pieces, or one whose end does not come, is refused.
"""

import asyncio
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request

WIRE = "moot.wire"  # the extension of the scope that offers a ClosableProtocol's `write`
LINGER_S = 20.0
LAST_WORDS_S = 1.0
HEARD_OUT_S = 2.0  # what is on its way to a connection that was refused is read and thrown away, at most so long
FRAGMENTS = 1_000  # of one message
FRAGMENTED_S = 30.0  # for all of them to come
_TEXT = 0x80 | Opcode.TEXT


def text_message(payload: bytes) -> bytes:
    """A text message of one frame on its way from a server (RFC 6455 §5.2: not masked)."""
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

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:  # the application starts when the loop turns
            extensions: Any = self.scope["extensions"]
            extensions[WIRE] = self

    def write(self, message: bytes) -> None:
        """Send a message as it is. Wait for `writable` before."""
        if self.disconnected or self.transport.is_closing():
            raise ClientDisconnected
        self.transport.write(message)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and not self.writable.is_set():
            self._close_stalled(message.get("code", 1000), message.get("reason") or "")
            return
        await super().send(message)

    def _close_stalled(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.stop_keepalive()
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
            if self.read_paused:  # the client's own close frame must be seen
                self.read_paused = False
                self.transport.resume_reading()
        self._cut_later()

    def keepalive_timeout(self) -> None:
        """The link is dead: closing alone would wait until the system has got rid of what it holds."""
        super().keepalive_timeout()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.INTERNAL_ERROR})
        self._cut_later()

    def shutdown(self) -> None:
        """The server stops. It cannot end while a socket still holds what nobody reads."""
        super().shutdown()
        if not self.disconnected:
            self.loop.call_later(LAST_WORDS_S, self.transport.abort)

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

    def handle_parser_exception(self) -> None:
        """Closing while the client still sends would reset the link, and the close code with it: hear it out."""
        assert self.conn.close_sent is not None  # noqa: S101 - that is what a parser does about bad data
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._is_refused = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(HEARD_OUT_S, self.transport.close)

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

    def _refuse_message(self, why: str) -> None:
        self._stop_waiting()
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(CloseCode.MESSAGE_TOO_BIG, why)
        self.handle_parser_exception()
