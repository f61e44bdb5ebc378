"""`moot demo` when somebody watches."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from moot.cli.demos.director import Director
from moot.cli.demos.stage import staged
from moot.client.client import connect
from moot.core.machines.session import Status
from moot.runtime.clock import SystemClock
from moot.telling.demos import chat_demo, plan_demo
from moot.telling.demos.scenes import Demo
from moot.tui.demo import DemoApp
from moot.tui.remote_host import RemoteHost
from tests.client.deadline import run
from tests.tui.screens import WIDE, Playing, messages

HURRY = 0.05  # of the time that people get to read


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = SystemClock.sleep

    async def shorter(self: SystemClock, delay_s: float) -> None:
        await sleep(self, delay_s * 0.2)

    monkeypatch.setattr(SystemClock, "sleep", shorter)


async def watch(demo: Demo, sees: str, *, press: str = "") -> None:
    """The demo on a screen; the link is cut by the viewer when it is offered, else by the demo."""
    async with staged(demo.team) as stage, connect(stage.url, stage.token) as client:
        session, cuts = await stage.app.session(title="Demo"), 0
        host = RemoteHost(client, demo.team)

        def cut() -> None:
            nonlocal cuts
            cuts += 1
            client.cut()

        play = lambda screen: Director(session, demo, screen, hurry=20 if press else HURRY).play()  # noqa: E731
        ui = DemoApp(host, await host.open(session.id), play, cut)
        async with ui.run_test(size=WIDE) as pilot:
            here = Playing(ui, pilot)
            if press:
                await here.sees("goes on by itself", "Ctrl+D cuts the connection")
                await here.press("enter")
                await here.sees("the connection breaks", "Ctrl+D cuts the connection")
                composer = ui.query_one("TalkPane").composer  # type: ignore[attr-defined]
                await here.until(lambda: composer.text)
                await here.press("D")
                assert composer.text.endswith("D")  # no letter is a key
                await here.press(press)
                await here.until(lambda: cuts)
                await here.sees("events replayed")
                return
            await here.until(lambda: ui.viewer_state.view.status is Status.COMPLETED)
            await here.sees(sees, "The demo is over", "Connected")
            assert cuts == 1
            head = (await stage.app.log.head(session.id)).seq
            assert ui.viewer_state.seq == head


def test_the_chat_demo_plays_on_the_screen() -> None:
    """A line says what to look at; a cut link heals and replays what was missed; it ends."""
    run(watch(chat_demo.DEMO, "Perfect, thank you all."))


def test_the_viewer_may_cut_the_link() -> None:
    """Ctrl+D, also while a message stands ready: it reconnects, and says how much was replayed."""
    run(watch(chat_demo.DEMO, "", press="ctrl+d"))


def test_captions_speak_the_language_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first one, whatever the locale says, with the space that its sentences have."""

    captions: list[str] = []

    def note(self: DemoApp, caption: str) -> None:
        captions.append(caption)
        show_caption(self, caption)

    show_caption = DemoApp.show_caption
    monkeypatch.setattr(DemoApp, "show_caption", note)

    async def play() -> None:
        demo = plan_demo.DEMO_ZH
        async with staged(demo.team) as stage, connect(stage.url, stage.token) as client:
            session = await stage.app.session(title="Demo")
            host = RemoteHost(client, demo.team)
            play = lambda screen: Director(session, demo, screen, hurry=HURRY).play()  # noqa: E731
            ui = DemoApp(host, await host.open(session.id), play, client.cut)
            async with ui.run_test(size=WIDE) as pilot:
                here = Playing(ui, pilot)
                await here.sees("自动继续 · Enter 立即继续 · Ctrl+D 切断连接")
                await here.sees("演示结束")

    run(play())
    assert any("等你点头。你点头的时候连接断开" in caption for caption in captions)


def test_the_plan_demo_plays_on_the_screen() -> None:
    """Plan, edit, approve, timeout, retry and answer, while the link is cut once."""
    run(watch(plan_demo.DEMO, "Lovely, thank you all."))


def test_the_viewer_may_be_faster() -> None:
    """The session of a demo is a real one: what the viewer says counts, and the story goes on from there."""

    async def play() -> None:
        demo = chat_demo.DEMO
        async with staged(demo.team) as stage, connect(stage.url, stage.token) as client:
            session = await stage.app.session(title="Demo")
            host = RemoteHost(client, demo.team)
            play = lambda screen: Director(session, demo, screen).play()  # noqa: E731
            ui = DemoApp(host, await host.open(session.id), play, client.cut)
            async with ui.run_test(size=WIDE) as pilot:
                here = Playing(ui, pilot)
                await here.sees("write the poster?", "»")
                composer = ui.query_one("TalkPane").composer  # type: ignore[attr-defined]
                composer.put("Something of my own. [DONE]")
                await here.press("f5")
                await here.sees("Something of my own.", "The demo is over")
                assert len(messages(ui)) == 1

    run(play())


def test_the_demo_plays_in_the_browser() -> None:
    """--web serves the page that plays the demo and opens it; Ctrl-C ends it with exit 0."""
    process = subprocess.Popen(
        [sys.executable, "-m", "moot.cli.main", "demo", "--web"],
        env={**os.environ, "BROWSER": "true", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout
        url = process.stdout.readline().strip()
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+)(/\?demo=plan)#token=\S+", url)
        assert found, url
        with urllib.request.urlopen(found[1] + found[2], timeout=10) as page:  # noqa: S310
            assert b"<html" in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
