"""The server process: where it listens, how it is wired, and how it serves until it is told to stop."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence

from moot.app import App
from moot.core.errors import ConfigError, MootError
from moot.gateway.app import Gateway, Sockets
from moot.gateway.auth import Tokens
from moot.gateway.bounds import Bounds
from moot.gateway.hosts import allow_hosts, make_url
from moot.gateway.metrics import Metrics
from moot.gateway.private import Holder
from moot.gateway.settings import GatewaySettings
from moot.gateway.uvicorn_port import AnnouncedServer, make_config
from moot.gateway.ws import WebSocketEndpoint
from moot.runtime.clock import SystemClock

BACKLOG = 512


class PortInUse(MootError):
    """Another process listens on the port."""


def check_exposure(host: str, *, insecure: bool) -> None:
    """Refuse to listen beyond this machine without TLS: the token could be read on its way. Raises ConfigError."""
    if insecure or is_loopback(host):
        return
    raise ConfigError(
        f"--host {host!r} would offer this server to the network without TLS: anybody on the way can read the token "
        "and take over every session; stay on 127.0.0.1 behind a TLS proxy, or say --insecure if the network is yours "
        "alone"
    )


def is_loopback(host: str) -> bool:
    """Whether every address of this name is a loopback address."""
    if host == "":
        return False
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(address[4][0]).is_loopback for address in addresses)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises PortInUse, or ConfigError if the host is not an address of this machine."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"--host {host} is no address of this machine ({error.strerror})") from error
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)  # at once: with SO_REUSEADDR two processes can bind, but only one of them can listen
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use; stop what listens there or use --port N") from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return bound


class GatewayServer:
    """The gateway of an app with everything it needs, made by `build_server`."""

    def __init__(self, gateway: Gateway, settings: GatewaySettings, metrics: Metrics, sockets: Sockets) -> None:
        self.gateway = gateway
        self.settings = settings
        self.metrics = metrics
        self.sockets = sockets

    @property
    def url(self) -> str:
        return make_url(self.settings.host, self.settings.port)

    async def serve(self, bound: Sequence[socket.socket], stop: asyncio.Event, announce: Callable[[], None]) -> None:
        """Serve clients on listening sockets until `stop` is set.

        Then refuse new clients, close all connections and return within `shutdown_s` of the settings. `announce` is
        called as soon as clients can connect.
        """
        config = make_config(self.gateway, self.settings, self.metrics)
        server = AnnouncedServer(config, announce, self.gateway.close)
        async with asyncio.TaskGroup() as tasks:
            token_watch = tasks.create_task(self.gateway.watch_tokens())
            stop_watch = tasks.create_task(_stop_when(stop, server))
            await server.serve(sockets=list(bound))
            token_watch.cancel()
            stop_watch.cancel()


def build_server(
    app: App,
    tokens: Tokens,
    settings: GatewaySettings,
    *,
    names: Iterable[str] = (),
    sockets: Sockets | None = None,
    holder: Holder | None = None,
) -> GatewayServer:
    """Wire the gateway of an app: the only place that does.

    `names` are those by which a proxy calls this server, `NAME[:PORT]`. `sockets` replaces the WebSocket endpoint.
    `holder` answers other windows on the private socket.
    """
    metrics, bounds = Metrics(), Bounds(settings, SystemClock())
    sockets = sockets or WebSocketEndpoint(app, tokens, settings, metrics, bounds=bounds)
    hosts = allow_hosts(settings.host, settings.port, names)
    gateway = Gateway(app, tokens, settings, metrics, sockets=sockets, hosts=hosts, bounds=bounds, holder=holder)
    return GatewayServer(gateway, settings, metrics, sockets)


async def _stop_when(stop: asyncio.Event, server: AnnouncedServer) -> None:
    await stop.wait()
    server.should_exit = True
