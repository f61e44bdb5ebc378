"""The server process: a bound socket, uvicorn with our bounds, and an end that keeps its promises (E08)."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from uvicorn import Server

from moot.core.errors import ConfigError, MootError
from moot.gateway.app import Gateway
from moot.gateway.http_protocol import ServerConfig, TimedProtocol
from moot.gateway.metrics import Metrics
from moot.gateway.settings import GatewaySettings
from moot.gateway.socket_protocol import ClosableProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

BACKLOG = 512
LAST_WORDS_S = 2.0  # of the shutdown time, for clients to be told


class PortInUse(MootError):
    """Somebody else listens there."""


def check_exposure(host: str, *, insecure: bool) -> None:
    """There is no TLS here: whoever is on the way could read the token (E56). Raises ConfigError."""
    if insecure or is_loopback(host):
        return
    raise ConfigError(
        f"--host {host} would offer this server to the network without TLS: anybody on the way can read the token and "
        "take over every session; stay on 127.0.0.1 behind a TLS proxy, or say --insecure if the network is yours alone"
    )


def is_loopback(host: str) -> bool:
    """Every address that the name stands for is of this machine alone."""
    if host == "":
        return False
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(address[4][0]).is_loopback for address in found)


def bind(host: str, port: int) -> socket.socket:
    """A listening place. Raises PortInUse, or ConfigError when there is no such host."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"--host {host} is no address of this machine ({error.strerror})") from error
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)  # now, and not later: two that bind and then listen would both believe to be alone
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use; stop what listens there or use --port N") from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return bound


class GatewayServer(Server):
    """uvicorn, told when to stop by us and not by signals."""

    def __init__(self, config: ServerConfig, gateway: Gateway, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._gateway = gateway
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ours are in place already; uvicorn's would end the process by the signal instead of with 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await self._gateway.close()
        await super().shutdown(sockets)


def make_config(app: "ASGIApp", settings: GatewaySettings, metrics: Metrics) -> ServerConfig:
    """uvicorn's defaults are for other servers: each of these was measured or is asked for by spec/5."""
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
        timeout_graceful_shutdown=max(1, int(settings.shutdown_s - LAST_WORDS_S)),
        lifespan="off",
        log_config=None,
        log_level="warning",  # below that uvicorn and websockets write URLs and headers, with tokens in them
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )


async def serve(
    gateway: Gateway,
    settings: GatewaySettings,
    metrics: Metrics,
    *,
    bound: socket.socket,
    stop: asyncio.Event,
    announce: Callable[[], None],
) -> None:
    """Until `stop` is set: then nobody new is let in, everybody is told, and this returns within `shutdown_s`.

    `announce` is called when clients may come.
    """
    server = GatewayServer(make_config(gateway, settings, metrics), gateway, announce)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(gateway.watch_tokens())
        obeying = tasks.create_task(_stop_when(stop, server))
        await server.serve(sockets=[bound])
        watching.cancel()
        obeying.cancel()


async def _stop_when(stop: asyncio.Event, server: Server) -> None:
    await stop.wait()
    server.should_exit = True
