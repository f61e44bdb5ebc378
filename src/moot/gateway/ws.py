"""The WebSocket endpoint: accepts clients, runs a reader and a writer for each, closes those that do not keep up."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import parse_qs

from moot.app import App
from moot.core.session.principal import Principal
from moot.core.session.team import DEFAULT_LANGUAGE, Language, as_language
from moot.gateway.auth import Tokens, TooManyTries, address_of, find_credentials, pick_subprotocol
from moot.gateway.bounds import Bounds
from moot.gateway.connection import Connection, ServerContext, TooManyMessages
from moot.gateway.feeds import Feeds
from moot.gateway.metrics import Metrics
from moot.gateway.outbox import Outbox
from moot.gateway.replies import STATUS
from moot.gateway.settings import GatewaySettings
from moot.gateway.uvicorn_port import WIRE, ClosableProtocol
from moot.protocol.frames import unlogged
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Clock

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

WATCH_S = 0.25
STALL_S = 1.0  # how long a client must not have read anything before its lag can close it
RESTART, BROKEN, NOT_TEXT, UNAUTHENTICATED, FORBIDDEN, SLOW, RATE, GONE = 1012, 1011, 1003, 4401, 4403, 4408, 4429, 1006


class Close(Exception):
    """Ends a connection with a close code; GONE means that the client has disconnected already."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Client:
    """A socket and its connection. `blocked_since` is set while the socket is not writable."""

    def __init__(self, wire: ClosableProtocol, clock: Clock) -> None:
        self._wire = wire
        self._clock = clock
        self.blocked_since: float | None = None
        self.connection: Connection
        self.closing: asyncio.Future[Close] = asyncio.get_running_loop().create_future()

    def try_write(self, message: bytes) -> bool:
        """Write an encoded message if the socket is writable. Return whether it was written."""
        if not self._wire.writable.is_set():
            return False
        try:
            self._wire.write(message)
        except OSError:  # the client has disconnected; its writer will end the connection
            return False
        return True

    async def deliver(self, message: bytes) -> None:
        """Write an encoded message as soon as the socket is writable. Raises Close if the client has disconnected."""
        if not self._wire.writable.is_set():
            self.blocked_since = self._clock.monotonic()
            await self._wire.writable.wait()
            self.blocked_since = None
        try:
            self._wire.write(message)
        except OSError as error:
            raise Close(GONE) from error

    def close(self, code: int, reason: str = "") -> None:
        if not self.closing.done():
            self.closing.set_result(Close(code, reason))

    async def wait_for_close(self) -> None:
        raise await self.closing


class WebSocketEndpoint:
    """An ASGI application for WebSocket scopes that have passed the Host and Origin checks, on a ClosableProtocol."""

    def __init__(
        self,
        app: App,
        tokens: Tokens,
        settings: GatewaySettings,
        metrics: Metrics,
        clock: Clock | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._bounds = bounds or Bounds(settings, self._clock)
        self._feeds = Feeds(app.log, app.spawn, settings.window_events, self._clock.now)
        self._context = ServerContext(app, self._feeds, tokens, metrics, settings, self._clock, self._bounds)
        self._clients: set[Client] = set()
        self._watch: asyncio.Task[None] | None = None
        self._is_closing = False
        app.streams.listeners.add(self._show)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        tokens = self._context.tokens
        try:
            principal = tokens.authenticate(find_credentials(scope, tokens.cookie_name), address_of(scope))
        except TooManyTries:
            await reject(send, 429, "too many wrong tokens from this address; try again later")
            return
        if self._is_closing:
            await reject(send, 503, "the server restarts; try again later")
            return
        accept = {"type": "websocket.accept", "subprotocol": pick_subprotocol(scope)}
        if principal is None:
            await send(accept)
            await self._send_close(send, Close(UNAUTHENTICATED, "a token is needed"))
            return
        if principal.is_worker:
            await send(accept)
            await self._send_close(send, Close(FORBIDDEN, "a worker's token is for /worker"))
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        with ExitStack() as place:
            try:
                place.enter_context(self._bounds.stream(principal))
            except ProtocolError as refusal:
                await reject(send, STATUS[refusal.code], refusal.explain(_language(query) or DEFAULT_LANGUAGE))
                return
            await send(accept)
            await self._serve(scope["extensions"][WIRE], receive, send, principal, query)

    async def close(self) -> None:
        """Close every connection with 1012, after which clients reconnect, and wait until all are gone."""
        self._is_closing = True
        for client in self._clients:
            client.close(RESTART, "the server restarts")
        try:
            while self._clients:
                await self._clock.sleep(0.02)
        finally:  # also when the caller's timeout cancels the wait
            if self._watch:
                self._watch.cancel()
            self._feeds.close()
            self._context.app.streams.listeners.discard(self._show)

    def close_token(self, token_id: str) -> None:
        for client in self._clients:
            if client.connection.principal.token_id == token_id:
                client.close(UNAUTHENTICATED, "the token was revoked")

    def close_login(self, login_id: str) -> None:
        for client in self._clients:
            if client.connection.principal.login_id == login_id:
                client.close(UNAUTHENTICATED, "the login has ended")

    def count(self) -> int:
        return len(self._clients)

    def open_logins(self) -> set[str]:
        logins = {client.connection.principal.login_id for client in self._clients}
        return {login_id for login_id in logins if login_id}

    async def _serve(
        self,
        wire: ClosableProtocol,
        receive: Receive,
        send: Send,
        principal: Principal,
        query: dict[str, list[str]],
    ) -> None:
        metrics = self._context.metrics
        client = Client(wire, self._clock)
        connection = client.connection = Connection(
            self._context,
            principal,
            client.try_write,
            client.deliver,
            language=_language(query),
            takes_batches=query.get("batch") == ["1"],
            wants_views=query.get("view") == ["1"],
        )
        self._clients.add(client)
        metrics.connections.inc()
        if self._watch is None:
            self._watch = self._context.app.spawn(self._keep_watch())
        connection.greet()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_read(connection, receive))
                tasks.create_task(connection.outbox.run())
                tasks.create_task(client.wait_for_close())
        except* Close as group:
            await self._send_close(send, _first_close(group))
        except* Exception:
            logger.exception("a connection failed")
            await self._send_close(send, Close(BROKEN, "internal error; reconnect to resume"))
        finally:
            connection.leave()
            self._clients.discard(client)
            metrics.connections.dec()
            metrics.frames_sent.inc(connection.outbox.sent)

    async def _send_close(self, send: Send, close: Close) -> None:
        self._context.metrics.closed(close.code)
        if close.code == GONE:
            return
        with suppress(OSError):  # the client may have disconnected
            await send({"type": "websocket.close", "code": close.code, "reason": close.reason})

    async def _keep_watch(self) -> None:
        """Close clients that have stopped reading, and send heartbeats."""
        settings = self._context.settings
        next_beat = self._clock.monotonic() + settings.heartbeat_s
        while True:
            await self._clock.sleep(WATCH_S)
            now = self._clock.monotonic()
            for client in self._clients:
                self._check_progress(client, now)
            if now >= next_beat:
                next_beat = now + settings.heartbeat_s
                heartbeat = unlogged("system.heartbeat", self._clock.now())
                for client in self._clients:
                    client.connection.outbox.answer(heartbeat)

    def _check_progress(self, client: Client, now: float) -> None:
        outbox, metrics = client.connection.outbox, self._context.metrics
        metrics.frames_sent.inc(outbox.sent)
        outbox.sent = 0
        if client.blocked_since is not None and self._is_stalled(outbox, now - client.blocked_since):
            metrics.sends_timed_out.inc()
            client.close(SLOW, "the client does not read; reconnect to resume")

    def _is_stalled(self, outbox: Outbox, blocked_s: float) -> bool:
        settings = self._context.settings
        if blocked_s < STALL_S:
            return False
        is_too_far = outbox.lag_events > settings.lag_events or outbox.lag_bytes > settings.lag_bytes
        return is_too_far or blocked_s >= settings.send_timeout_s

    def _show(self, session_id: str, event: str, metadata: dict[str, str]) -> None:
        """Send streamed text and thoughts, which are not logged, to the followers of a session."""
        followers = self._feeds.followers(session_id)
        if followers:
            frame = unlogged(event, self._clock.now(), session_id=session_id, metadata=metadata)
            for follower in followers:
                follower.show(frame)


async def _read(connection: Connection, receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            raise Close(GONE)
        text = message.get("text")
        if text is None:
            raise Close(NOT_TEXT, "frames are text")
        try:
            await connection.receive(text)
        except TooManyMessages:
            raise Close(RATE, "too many messages") from None


async def reject(send: Send, status: int, reason: str) -> None:
    await send(
        {
            "type": "websocket.http.response.start",
            "status": status,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")],
        }
    )
    await send({"type": "websocket.http.response.body", "body": reason.encode()})


def _language(query: dict[str, list[str]]) -> Language | None:
    languages = query.get("lang", [])
    return as_language(languages[0]) if len(languages) == 1 else None


def _first_close(group: BaseExceptionGroup[Close]) -> Close:
    """Return the close that ended a connection; GONE only if there is no other."""
    closes = [error for error in _leaves(group) if isinstance(error, Close)]
    return next((close for close in closes if close.code != GONE), closes[0])


def _leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return leaves
