"""The server of a watched demo: a scripted team on loopback, with a temporary folder."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from moot.app import App, open_app
from moot.gateway.auth import Tokens
from moot.gateway.serving import bind, build_server
from moot.gateway.settings import GatewaySettings


class Stage(Struct, frozen=True):
    app: App
    url: str
    token: str
    folder: Path  # deleted when the demo is over

    def page(self, flow: str) -> str:
        """The address at which the page plays the demo of a flow."""
        return f"{self.url.rstrip('/')}/?demo={flow}#token={quote(self.token, safe='')}"


@asynccontextmanager
async def staged(team: str) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="moot-demo-") as folder, bind("127.0.0.1", 0) as bound:
        settings = GatewaySettings(port=bound.getsockname()[1])
        stop, ready = asyncio.Event(), asyncio.Event()
        failure: BaseException | None = None
        async with open_app(team) as app, asyncio.TaskGroup() as tasks:
            tokens = Tokens(Path(folder))
            server = build_server(app, tokens, settings)
            tasks.create_task(server.serve([bound], stop, ready.set))
            try:
                await ready.wait()
                yield Stage(app, server.url, tokens.owner_token, Path(folder))
            except BaseException as error:  # raised again below, after the server has stopped in order
                failure = error
            stop.set()
    if failure:
        raise failure
