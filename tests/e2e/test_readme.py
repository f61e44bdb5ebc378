"""The README tells the truth: its commands run, they print what it shows, and its picture is the demo's.

`<!-- file: NAME -->` above a fenced block is a file that the reader saves; `<!-- checked -->` marks a console session.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import draw_demo

ROOT = Path(__file__).parents[2]
PLAYED = {  # pages whose commands are played, and how many of them at least
    ROOT / "README.md": 7,
    ROOT / "README.zh.md": 6,
    ROOT / "docs" / "terminal.md": 4,
}
BLOCK = re.compile(r"<!-- (file: (?P<name>\S+)|checked) -->\n```\w+\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PAGES = [ROOT / name for name in ("README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))


def blur(text: str) -> list[str]:
    """What differs from run to run: ids of sessions, and times."""
    text = re.sub(r"s_[0-9a-f]{4,16}", "s_", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text).splitlines()


def run(command: str, folder: Path) -> list[str]:
    """A shell with `moot` on its path, a home of its own and no other settings."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return blur(done.stdout)


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_the_first_five_minutes_work(page: Path, tmp_path: Path) -> None:
    """README and guides: every command exits 0 and prints every line that is shown below it, in that order."""
    commands = 0
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["name"]:
            (tmp_path / block["name"]).write_text(block["body"], encoding="utf-8")
            continue
        for part in block["body"].removeprefix("$ ").split("\n$ "):
            command, *shown = blur(part)
            printed = iter(run(command, tmp_path))
            assert [line for line in shown if line not in printed] == [], f"$ {command}"
            commands += 1
    assert commands >= PLAYED[page]  # the blocks are really found


def test_the_picture_is_fresh() -> None:
    """docs/demo.svg shows the demo as it is; `python docs/draw_demo.py` draws it again."""
    assert draw_demo.PICTURE.read_text(encoding="utf-8") == draw_demo.draw()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Documentation: a relative link names a file that exists."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
