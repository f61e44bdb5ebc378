"""uvicorn's HTTP protocol, with the two timeouts that it lacks: for a request to arrive, and for a client to read."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from moot.gateway.metrics import Metrics

REQUEST_TIMEOUT_S = 10.0  # for the head of a request (E35)


class ServerConfig(Config):
    """What uvicorn knows, and what our protocols need besides."""

    def __init__(self, app: Any, *, send_timeout_s: float, metrics: Metrics, **options: Any) -> None:
        super().__init__(app, **options)
        self.send_timeout_s = send_timeout_s
        self.metrics = metrics


class Timeout:
    """Something that happens unless it is cancelled in time; starting it again while it runs does nothing."""

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


class TimedProtocol(H11Protocol):
    config: ServerConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
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
        """It took nothing for so long: what waits for it is thrown away."""
        self.config.metrics.sends_timed_out.inc()
        self.transport.abort()
