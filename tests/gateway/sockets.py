"""WebSocket clients of a whole site."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import websockets

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
