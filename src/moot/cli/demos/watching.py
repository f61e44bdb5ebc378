"""A demo that somebody watches: in the terminal UI, or in the browser."""

import asyncio
import sys
from collections.abc import Callable

from moot.cli import exits
from moot.cli.demos.director import Director
from moot.cli.demos.scenes import Demo
from moot.cli.demos.stage import staged
from moot.cli.screen import say_goodbye
from moot.cli.settings import read_keys
from moot.cli.transcript import Transcript
from moot.client.client import connect
from moot.gateway.opening import open_page
from moot.gateway.signals import stopping
from moot.tui.demo import DemoApp
from moot.tui.remote_host import There

STOP_S = 5.0


async def show_on_screen(demo: Demo) -> int:
    """Through a server on loopback, so that the link can be cut and seen to heal."""
    keys = read_keys()
    async with staged(demo.team) as stage, connect(stage.url, stage.token) as client:
        session = await stage.app.session(title="Demo")
        host = There(client, demo.team, "Demo")
        ui = DemoApp(
            host,
            await host.open(session.id),
            Transcript,
            play=lambda screen: Director(session, demo, screen).play(),
            cut=client.cut,
            keys=keys,
        )
        await ui.run_async()
        say_goodbye(ui.seat, session.id, None, stage.folder)
        return ui.return_code or exits.OK


class Captions:
    """What to look at, on stderr: the page shows the rest."""

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
    """Serves until Ctrl-C; whoever looks at the page may take part."""
    with stopping(STOP_S) as stop:
        async with staged(demo.team) as stage:
            session = await stage.app.session(title="Demo")
            url = stage.page(session.id)
            print(url, flush=True)
            print("Ctrl-C ends the demo; nothing of it is kept.", file=sys.stderr)
            open_page(stage.folder, url)
            playing = asyncio.create_task(Director(session, demo, Captions(stage.cut)).play())
            await stop.wait()
            playing.cancel()
    return exits.OK
