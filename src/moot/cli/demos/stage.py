"""Where a demo plays when it is watched: a team of scripts, a server on loopback, nothing kept."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from moot.app import App, open_app
from moot.gateway.app import Gateway
from moot.gateway.auth import Tokens
from moot.gateway.hosts import allow_hosts, make_url
from moot.gateway.metrics import Metrics
from moot.gateway.serving import bind, serve
from moot.gateway.settings import GatewaySettings
from moot.gateway.ws import WebSocketEndpoint


class Stage(Struct, frozen=True):
    app: App
    url: str
    token: str
    folder: Path  # gone when the demo is over
    cut: Callable[[], None]  # every link to it

    def page(self, session_id: str) -> str:
        return f"{self.url.rstrip('/')}/s/{session_id}#token={quote(self.token, safe='')}"


@asynccontextmanager
async def staged(team: str) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="moot-demo-") as folder, bind("127.0.0.1", 0) as bound:
        settings = GatewaySettings(port=bound.getsockname()[1])
        stop, ready = asyncio.Event(), asyncio.Event()
        failure: BaseException | None = None
        async with open_app(team) as app, asyncio.TaskGroup() as tasks:
            tokens, metrics = Tokens(Path(folder)), Metrics()
            sockets = WebSocketEndpoint(app, tokens, settings, metrics)
            hosts = allow_hosts(settings.host, settings.port)
            gateway = Gateway(app, tokens, settings, metrics, sockets=sockets, hosts=hosts)
            serving = serve(gateway, settings, metrics, bound=bound, stop=stop, announce=ready.set)
            tasks.create_task(serving)
            try:
                await ready.wait()
                yield Stage(app, make_url(settings.host, settings.port), tokens.owner_token, Path(folder), sockets.cut)
            except BaseException as error:  # raised below: the server is asked to stop, not torn down
                failure = error
            stop.set()
    if failure:
        raise failure
