"""Server-sent events: the same frames as over WebSocket, for proxies, scripts and `EventSource`."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import aclosing, suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moot.core.codec import Event, frame
from moot.core.session.principal import Principal
from moot.core.session.team import Language
from moot.gateway.bodies import parse_number, read_number
from moot.gateway.metrics import Metrics
from moot.protocol.command_table import MAX_SEQ
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.ports import Log

HEARTBEAT_S = 15.0
CHUNK_BYTES = 64 * 1024
CLOSING_S = 1.0
OPENING = b"retry: 1000\n\n"
HEARTBEAT = b": alive\n\n"
HASH_CHARS = 16  # of an event's hash, in the id of its message
_CHECKSUM = re.compile(rf"[0-9a-f]{{{HASH_CHARS}}}")


def read_cursor(request: Request, session_id: str) -> tuple[int, str | None]:
    """Return the seq after which to start, and the start of that event's hash if the client names it.

    That is `Last-Event-ID` (the id of a message, an event_id or a seq), else `?after=`, else 0. The header takes
    precedence because an `EventSource` that reconnects repeats its old URL. Raises ProtocolError `bad_cursor` for
    anything else.
    """
    last_event_id = request.headers.get("last-event-id")
    if last_event_id is None:
        return read_number(request, "after", 0, "bad_cursor", MAX_SEQ), None
    seq, dot, checksum = last_event_id.removeprefix(f"{session_id}-").partition(".")
    if dot and not _CHECKSUM.fullmatch(checksum):
        raise ProtocolError("bad_cursor")
    return parse_number(seq, "Last-Event-ID", "bad_cursor", MAX_SEQ), checksum if dot else None


class Streams:
    """The open streams, each as an event that ends it, so that they can be ended by token or all at once."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Event, Principal] = {}
        self._is_closed = False

    def add(self, principal: Principal) -> asyncio.Event:
        """Register a stream. Return the event that is set when it has to end."""
        end = asyncio.Event()
        self._open[end] = principal
        if self._is_closed:
            end.set()
        return end

    def remove(self, end: asyncio.Event) -> None:
        del self._open[end]

    def close_token(self, token_id: str) -> None:
        for end, principal in self._open.items():
            if principal.token_id == token_id:
                end.set()

    def close_login(self, login_id: str) -> None:
        for end, principal in self._open.items():
            if principal.login_id == login_id:
                end.set()

    def open_logins(self) -> set[str]:
        return {principal.login_id for principal in self._open.values() if principal.login_id}

    def close(self) -> None:
        self._is_closed = True
        for end in self._open:
            end.set()


class _Over(Exception):
    """The stream ends: the client has disconnected or does not read, or the server closes it."""


class EventStream(Response):
    """The events after `after`, then live ones, until the client, its token, the session or the server is gone.

    `notice` is a frame to send first: `system.connected`, if the client's history is not ours.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        log: Log,
        session_id: str,
        after: int,
        language: Language,
        *,
        streams: Streams,
        principal: Principal,
        metrics: Metrics,
        send_timeout_s: float,
        notice: str | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._log = log
        self._session_id = session_id
        self._after = after
        self._language = language
        self._streams = streams
        self._principal = principal
        self._metrics = metrics
        self._send_timeout_s = send_timeout_s
        self._notice = notice

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as responses are
        end = self._streams.add(self._principal)
        self._metrics.streams.inc()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_wait_for_disconnect(receive))
                tasks.create_task(_wait_for_end(end))
                tasks.create_task(self._beat(send))
                tasks.create_task(self._write(send))
        except* _Over:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING_S):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._metrics.streams.dec()
            self._streams.remove(end)

    async def _write(self, send: Send) -> None:
        await self._send(send, OPENING)
        if self._notice:
            await self._send(send, b"event: system.connected\ndata: %b\n\n" % self._notice.encode())
        async with aclosing(self._log.follow(self._session_id, self._after)) as batches:
            async for events in batches:
                for count, chunk in self._chunks(events):
                    await self._send(send, chunk)
                    self._metrics.frames_sent.inc(count)
        raise _Over

    def _chunks(self, events: list[Event]) -> Iterator[tuple[int, bytes]]:
        """Yield chunks of whole messages, each with their number; small messages share a chunk."""
        chunk, count = bytearray(), 0
        for event in events:
            chunk += b"id: %d.%b\nevent: %b\ndata: %b\n\n" % (
                event.seq,
                event.hash[:HASH_CHARS].encode(),
                event.name.encode(),
                frame(event, self._language),
            )
            count += 1
            if len(chunk) >= CHUNK_BYTES:
                yield count, bytes(chunk)
                chunk, count = bytearray(), 0
        if chunk:
            yield count, bytes(chunk)

    async def _beat(self, send: Send) -> None:
        """Send comments, so that proxies do not close an idle stream. They may stand between any two messages."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._send(send, HEARTBEAT)

    async def _send(self, send: Send, chunk: bytes) -> None:
        try:
            async with asyncio.timeout(self._send_timeout_s):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TimeoutError:
            self._metrics.sends_timed_out.inc()
            raise _Over from None


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    raise _Over


async def _wait_for_end(end: asyncio.Event) -> None:
    await end.wait()
    raise _Over
