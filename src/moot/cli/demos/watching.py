"""A watched demo, in the terminal UI or in the browser."""

import sys

from moot.cli import exits
from moot.cli.demos.director import Director
from moot.cli.demos.stage import staged
from moot.cli.screen import say_goodbye
from moot.cli.user_settings import read_keys
from moot.client.client import connect
from moot.gateway.opening import open_page
from moot.gateway.signals import stopping
from moot.telling.demos.scenes import Demo
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


async def show_in_browser(demo: Demo, flow: str) -> int:
    """Serve a page that plays the demo, until Ctrl-C. Everybody who has it open may take part."""
    with stopping(STOP_S) as stop:
        async with staged(demo.team) as stage:
            url = stage.page(flow)
            print(url, flush=True)
            print("Ctrl-C ends the demo; nothing of it is kept.", file=sys.stderr)
            open_page(stage.folder, url)
            await stop.wait()
    return exits.OK
