"""A real server on a free port of this machine, and plain sockets to it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
import websockets
from websockets.asyncio.client import ClientConnection

from moot.agents.python import AgentFunction
from moot.app import App, open_app
from moot.config.team_file import TeamFile
from moot.gateway.auth import Tokens
from moot.gateway.metrics import Metrics
from moot.gateway.settings import GatewaySettings
from moot.gateway.socket_protocol import ClosableProtocol
from moot.gateway.ws import WebSocketEndpoint
from moot.runtime.ports import Agent
from moot.testing import human, make_team, scripted

TOKEN = "owner-token-of-the-tests"  # noqa: S105
TEAM = make_team(human("alice"), scripted("bob", "hello back"), scripted("carol", "and hello from me"))


class Server:
    def __init__(self, url: str, app: App, tokens: Tokens, metrics: Metrics, endpoint: WebSocketEndpoint) -> None:
        self.url = url
        self.app = app
        self.tokens = tokens
        self.metrics = metrics
        self.endpoint = endpoint

    def connect(self, query: str = "", **options: Any) -> Any:
        return websockets.connect(f"{self.url}?token={TOKEN}{query}", max_size=None, **options)


@asynccontextmanager
async def serve(
    data: Path,
    team: TeamFile = TEAM,
    *,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    **settings: Any,
) -> AsyncIterator[Server]:
    """The WebSocket endpoint alone: what guards it is tested elsewhere."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with open_app(team, data=data, agents=agents) as app:
        tokens, metrics = Tokens(data, owner_token=TOKEN), Metrics()
        endpoint = WebSocketEndpoint(app, tokens, GatewaySettings(port=port, **settings), metrics)
        config = uvicorn.Config(
            endpoint,
            ws=ClosableProtocol,
            lifespan="off",
            log_config=None,
            ws_max_size=256 * 1024,
            ws_per_message_deflate=False,
        )
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.01)
            yield Server(f"ws://127.0.0.1:{port}/ws", app, tokens, metrics, endpoint)
        finally:
            await endpoint.close()
            server.should_exit = True
            await serving


async def receive(link: ClientConnection, deadline_s: float = 10.0) -> dict[str, Any]:
    async with asyncio.timeout(deadline_s):
        frame: dict[str, Any] = json.loads(await link.recv())
    return frame


async def until(link: ClientConnection, *names: str, deadline_s: float = 10.0) -> list[dict[str, Any]]:
    """Frames up to and with the first of one of these names."""
    frames = [await receive(link, deadline_s)]
    while frames[-1]["event"] not in names:
        frames.append(await receive(link, deadline_s))
    return frames


async def send(link: ClientConnection, event: str, **fields: Any) -> None:
    await link.send(json.dumps({"event": event, **fields}))


async def create(link: ClientConnection) -> str:
    """A new session; the frames up to its creation are read."""
    await send(link, "user.create_session")
    frames = await until(link, "agent.session_created")
    session_id: str = frames[-1]["session_id"]
    return session_id
