"""A watched demo, in the terminal UI or in the browser."""

import asyncio
import sys
from collections.abc import Callable

from moot.cli import exits
from moot.cli.demos.director import Director
from moot.cli.demos.scenes import Demo
from moot.cli.demos.stage import staged
from moot.cli.screen import say_goodbye
from moot.cli.user_settings import read_keys
from moot.client.client import connect
from moot.gateway.opening import open_page
from moot.gateway.signals import stopping
from moot.tui.demo import DemoApp
from moot.tui.remote_host import RemoteHost

STOP_S = 5.0


async def show_on_screen(demo: Demo) -> int:
    """Show a demo in the terminal UI, through a server on loopback so that its connection can be cut and restored."""
    keys = read_keys()
    async with staged(demo.team) as stage, connect(stage.url, stage.token) as client:
        session = await stage.app.session(title="Demo")
        host = RemoteHost(client, demo.team, "Demo")
        ui = DemoApp(
            host,
            await host.open(session.id),
            play=lambda screen: Director(session, demo, screen).play(),
            cut=client.cut,
            keys=keys,
        )
        await ui.run_async()
        say_goodbye(ui.viewer_state, session.id, None, stage.folder)
        return ui.return_code or exits.OK


class Captions:
    """The screen of a demo in the browser: the captions go to stderr, the page shows the rest."""

    def __init__(self, cut: Callable[[], None]) -> None:
        self.cut = cut

    def show_caption(self, caption: str, *, may_cut: bool = False) -> None:  # noqa: ARG002 - it is cut by itself
        print(f"» {caption}", file=sys.stderr, flush=True)

    def prepare(self, text: str) -> None:
        """Nothing to prepare."""

    async def wait(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return False


async def show_in_browser(demo: Demo) -> int:
    """Show a demo in the browser until Ctrl-C. Everybody who has the page open may take part."""
    with stopping(STOP_S) as stop:
        async with staged(demo.team) as stage:
            session = await stage.app.session(title="Demo")
            url = stage.page(session.id)
            print(url, flush=True)
            print("Ctrl-C ends the demo; nothing of it is kept.", file=sys.stderr)
            open_page(stage.folder, url)
            director_task = asyncio.create_task(Director(session, demo, Captions(stage.cut)).play())
            await stop.wait()
            director_task.cancel()
    return exits.OK
