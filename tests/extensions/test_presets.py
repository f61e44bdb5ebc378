"""A command-line agent that is known by name is one value; packages may add one."""

import asyncio
import sys
from pathlib import Path

import pytest

import moot
from moot.agents.starts import list_starts
from moot.config.loading import InvalidTeam, load_team
from moot.config.team_schema import team_schema
from tests.cli.command import Moot
from tests.extensions.conftest import Install

PARROT = """
from moot.agents.cli.presets import Login, Preset
from moot.runtime.ports import Delta, Result
from moot.core.session.usage import Usage

class Reader:
    spent = Usage()
    session_id = None

    def __init__(self, spent):
        self.text = ""

    def read(self, event):
        self.text += event["word"]
        yield Delta(event["word"])

    def result(self):
        return Result(text=self.text)

ENTRY = Preset(
    name="{name}",
    argv=lambda model, permissions, resume: ("{name}", "--model", model or "grey", "--may", permissions),
    reader=Reader,
    names=(),
    keys=("PARROT_KEY",),
    login=Login(folder=".{name}", file="login"),
    install="apt install {name}",
    tested_with="1.2.3",
)
"""
PROGRAM = """#!{python}
import sys
if sys.argv[1:] == ["--version"]:
    print("{name} 1.2.3")
else:
    sys.stdin.read()
    print('{{"type": "x", "word": "' + " ".join(sys.argv[1:]) + '"}}')
"""


@pytest.fixture
def parrot(request: pytest.FixtureRequest, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a preset whose package and program are installed; modules are cached, so each test has its own."""
    name = f"parrot{abs(hash(request.node.name)) % 10**8}"
    install("moot.presets", name, PARROT.format(name=name))
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable, name=name))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return name


def team(preset: str) -> dict[str, object]:
    bob = {"id": "bob", "kind": "ai", "agent": {"type": "cli", "preset": preset, "permissions": "edit"}}
    return {"members": [{"id": "ann", "kind": "human"}, bob]}


def test_an_installed_preset_plays_a_member(parrot: str) -> None:
    """It is started by its own command line, and what it writes is read by its own reader."""

    async def play() -> list[str]:
        async with moot.open(team(parrot)) as app:
            session = await app.session()
            async for _ in session.say("[NEXT: bob] hello"):
                pass
            return [message.text for message in (await session.state()).history]

    assert asyncio.run(play())[-1] == "--model grey --may edit"
    assert [str(start) for start in list_starts(load_team(team(parrot)))] == [f"bob: {parrot} --model grey --may edit"]


def test_an_installed_preset_is_offered_everywhere(parrot: str, moot: Moot, tmp_path: Path) -> None:
    """The doctor finds its program, `moot init` writes it, editors know its name."""
    assert f"· {parrot}: 1.2.3, not logged in" in moot("doctor", "--port", "0").out
    assert moot("init", str(tmp_path / "new"), "--agents", parrot, "--yes").code == 0
    assert f"preset: {parrot}" in (tmp_path / "new" / "moot.yaml").read_text()
    preset = team_schema()["$defs"]["CliAgent"]["properties"]["preset"]
    assert preset["anyOf"][0] == {"enum": ["claude", "codex", "gemini", "opencode", parrot, "qwen"]}


def test_an_unknown_preset_names_those_there_are() -> None:
    """The sentence lists every preset that is installed."""
    with pytest.raises(InvalidTeam, match="acceptable: claude, codex, gemini"):
        load_team(team("aider"))
