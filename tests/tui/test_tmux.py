"""The terminal UI in a real terminal: tmux, with Chinese text, at the sizes people have."""

import shutil
import subprocess
import sys
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.screens import ai, chat_team

WAIT_S = 60.0
pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed (.ci/run installs it)")


class Terminal:
    """A tmux server of its own; `read` is the screen as text."""

    def __init__(self, folder: Path, columns: int, rows: int, *arguments: str) -> None:
        self._socket = f"moot-{uuid.uuid4().hex[:8]}"
        command = " ".join([sys.executable, "-m", "moot.cli.main", *arguments])
        environment = f"MOOT_DATA={folder / 'data'} LC_ALL=C.UTF-8"
        self._tmux(
            "new-session", "-d", "-x", str(columns), "-y", str(rows), f"{environment} {command}; echo END=$?; cat"
        )

    def _tmux(self, *arguments: str) -> str:
        asked = ["tmux", "-L", self._socket, "-u", *arguments]
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout

    def read(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def until(self, is_so: Callable[[str], object]) -> str:
        deadline = time.monotonic() + WAIT_S
        while not is_so(screen := self.read()):
            assert time.monotonic() < deadline, screen
            time.sleep(0.1)
        return screen

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture(params=[(120, 32), (80, 24)], ids=["120x32", "80x24"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    import json

    team = {
        "moot": 1,
        **chat_team(ai("bai", "好的：[bold]周日[/]开放。[NEXT: Ann]", name="小白"), language="zh", name="海报"),
    }
    (tmp_path / "team.yaml").write_text(json.dumps(team, ensure_ascii=False), encoding="utf-8")
    started = Terminal(tmp_path, *request.param, "chat", str(tmp_path / "team.yaml"))
    yield started
    started.close()


def cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def test_a_chinese_session_in_a_terminal(terminal: Terminal) -> None:
    """Typed, sent, answered, aligned; leaving prints what was said, the id and how to go on."""
    terminal.until(lambda screen: "第 1 条" in screen)
    terminal.type("@小")
    terminal.until(lambda screen: "▸ 小白" in screen)
    terminal.press("Tab")
    terminal.type("写一张海报，说说图书馆五月起周日开放的消息，要友好、简短。")
    terminal.press("Enter")
    screen = terminal.until(lambda screen: "好的：[bold]周日[/]开放。" in screen and "等你" in screen)
    edges = {cells(line[: line.index("│")]) for line in screen.splitlines() if "│" in line and line[0] != "│"}
    assert len(edges) <= 1  # the border of the panes is a straight line
    terminal.press("C-q")
    left = terminal.until(lambda screen: "END=0" in screen)
    assert "小白 → Ann: 好的：[bold]周日[/]开放。" in left
    assert "会话 s_" in left
    assert "moot chat" in left
    assert "--session" in left
