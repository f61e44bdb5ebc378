"""WebSocket clients of a whole site."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import websockets
from websockets.typing import Origin, Subprotocol

from tests.gateway.server import Peer
from tests.gateway.sites import Site


@asynccontextmanager
async def socket_client(site: Site, token: str, query: str = "") -> AsyncIterator[Peer]:
    """A connection that has read its greeting."""
    url = f"ws://{site.host}/ws?token={token}{query}"
    async with websockets.connect(url, max_size=None, max_queue=None, compression=None, proxy=None) as link:
        peer = Peer(link)
        assert (await peer.next())["event"] == "system.connected"
        yield peer


@asynccontextmanager
async def browser_client(
    site: Site, headers: dict[str, str], secret: str, *, greeted: bool = True
) -> AsyncIterator[Peer]:
    """A connection as the page opens it: with the cookie in a header and the secret in a subprotocol."""
    async with websockets.connect(
        f"ws://{site.host}/ws",
        origin=Origin(headers["origin"]),
        additional_headers={"cookie": headers["cookie"]},
        subprotocols=[Subprotocol("moot"), Subprotocol(f"moot.login.{secret}")],
        compression=None,
        proxy=None,
    ) as link:
        peer = Peer(link)
        if greeted:
            assert (await peer.next())["event"] == "system.connected"
        yield peer
