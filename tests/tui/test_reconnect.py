"""The terminal UI on a server: the link is cut and comes back, nothing is lost or shown twice."""

from pathlib import Path

from moot.client.client import connect
from moot.tui.remote_host import RemoteHost
from moot.tui.terminal import MootApp
from tests.client.deadline import run
from tests.client.real_server import TOKEN, real_server
from tests.tui.screens import EN, WIDE, Playing, messages


def test_a_cut_link_heals_on_the_screen(tmp_path: Path) -> None:
    """The line says connected, reconnecting, connected; what is said meanwhile is marked as unsent and
    sent once."""

    async def play() -> None:
        async with real_server(tmp_path) as (_, cable), connect(cable.url, TOKEN) as client:
            host = RemoteHost(client, None)
            ui = MootApp(host, await host.create(), "alice")
            async with ui.run_test(size=WIDE) as pilot:
                here = Playing(ui, pilot)
                await here.sees(EN("link.connected", seq=1, at=""))
                target, cable.target = cable.target, 1  # nobody listens there
                cable.cut()
                await here.sees("◌ Reconnecting")
                await here.say("said in the dark")
                await here.sees("1 unsent", "not sent yet")
                cable.target = target
                await here.sees(EN("link.connected", seq=5, at=""))
                await here.until(lambda: "unsent" not in here.screen)
                assert [line.text for line in messages(ui)] == ["[FROM: alice] said in the dark"]

    run(play())


def test_a_server_that_is_gone_is_said(tmp_path: Path) -> None:
    """When the link is given up, the screen stays and says so."""

    async def play() -> None:
        async with real_server(tmp_path) as (server, cable), connect(cable.url, TOKEN, give_up_s=0.5) as client:
            host = RemoteHost(client, None)
            ui = MootApp(host, await host.create(), "alice")
            async with ui.run_test(size=WIDE) as pilot:
                here = Playing(ui, pilot)
                await here.sees("● Connected")
                await server.stop()
                cable.cut()
                await here.sees("was given up")
                await here.say("hello?")
                await here.until(lambda: ui.query_one("TalkPane").composer.text == "hello?")  # type: ignore[attr-defined]

    run(play())
