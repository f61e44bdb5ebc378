"""Pictures of every screen, at three sizes and in both languages, compared with the files in `snapshots/`.

`MOOT_SNAPSHOTS=update pytest tests/tui/test_snapshots.py` draws them anew; people look at the difference. Nothing in
them depends on the time or on how fast the machine is: the sessions are recorded ones, and clocks stand still.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from moot.core.session.team import Language
from moot.core.session.workspace_view import WorkspaceView
from moot.tui.terminal import MootApp
from tests.client.deadline import run
from tests.tui.recorded import RecordedHost, chat, new, permission, plan, work
from tests.tui.screens import AMPLE, NARROW, WIDE, Playing

SNAPSHOTS = Path(__file__).parent / "snapshots"
IS_UPDATE = os.environ.get("MOOT_SNAPSHOTS") == "update"
SIZES = {"80x24": NARROW, "120x32": WIDE, "200x50": AMPLE}
# the session, the keys that lead to the screen, and what is seen on it in each language
SCREENS: dict[str, tuple[Callable[[Language], Any], tuple[str, ...], tuple[str, str]]] = {
    "new": (new, (), ("Say something.", "说点什么")),
    "conversation": (chat, (), ("Nothing else was changed.", "没有改动其他内容。")),
    "tool": (chat, ("shift+tab", "up", "up", "enter"), ("every number counts", "every number counts")),
    "stopped": (lambda language: chat(language, is_stopped=True), (), ("Paused", "已暂停")),
    "plan-card": (plan, (), ("Find rooms", "找场地")),
    "plan-editor": (plan, ("alt+e",), ("Ctrl+S", "Ctrl+S")),
    "permission": (permission, (), ("Allow once", "允许一次")),
    "work": (work, (), ("Ben", "Ben")),
    "task": (work, ("f3", "home", "enter"), ("Run again", "重新执行")),
    "state": (chat, ("f4",), ("human_input", "human_input")),
    "palette": (chat, ("ctrl+p",), ("Find a command", "查找命令")),
    "diff": (chat, ("alt+d",), ("every number counts", "every number counts")),
    "timeline": (chat, ("f2",), ("Routed", "路由")),
    "tasks": (work, ("f3",), ("Tasks", "任务")),
    "help": (chat, ("f1",), ("Ctrl+G", "Ctrl+G")),
    "inbox": (chat, ("f8",), ("Needs you", "需要你处理")),
    "switcher": (chat, ("ctrl+o",), ("Reading night", "读书之夜")),
}


@pytest.fixture(autouse=True)
def _stand_still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock shows the same in every place of the world."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr(MootApp, "utc_now", lambda _: datetime(2026, 1, 2, 3, 4, 47, tzinfo=UTC))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def draw(ui: MootApp) -> str:
    """The screen as a picture, without what makes each drawing unique."""
    return re.sub(r"terminal-\d+-", "terminal-", ui.export_screenshot(title="Moot")) + "\n"


async def settle(here: Playing) -> AsyncIterator[str]:
    """Yield pictures until two in a row are the same."""
    last = ""
    while True:
        await here.pilot.pause()
        await asyncio.sleep(0.15)
        picture = draw(here.ui)
        if picture == last:
            yield picture
        last = picture


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_screens_look_as_they_did(name: str, size: str, language: Language) -> None:
    """The screen comes to look like its picture."""
    make, keys, seen = SCREENS[name]
    path = SNAPSHOTS / f"{name}-{size}-{language}.svg"
    expected = path.read_text(encoding="utf-8") if path.exists() else ""

    async def play() -> None:
        workspace = WorkspaceView(branch="moot/s_1", has_work=True, added=4, removed=2) if name == "diff" else None
        host = RecordedHost(make(language), language, workspace)
        ui = MootApp(host, await host.create())
        async with ui.run_test(size=SIZES[size]) as pilot:
            here = Playing(ui, pilot)
            await here.until(lambda: ui.viewer_state.seq and ui.entries)
            for key in keys:
                await here.press(key)
            await here.until(lambda: seen[language == "zh"] in here.screen)
            if IS_UPDATE:
                async for picture in settle(here):
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(picture, encoding="utf-8")
                    return
            try:
                await here.until(lambda: draw(ui) == expected)
            except AssertionError:
                raise AssertionError(f"{path.name} looks different now:\n{here.screen}") from None

    run(play())
