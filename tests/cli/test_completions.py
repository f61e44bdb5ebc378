"""What Tab offers."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from moot.cli.main import COMMANDS
from moot.config.loading import list_built_in_teams
from tests.cli.command import Moot


@pytest.fixture
def tab(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Tab":
    """In a folder with a team, a note and a folder; `moot` is on the path."""
    monkeypatch.chdir(tmp_path)
    Path("team.yaml").touch()
    Path("notes.txt").touch()
    Path("folder").mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "moot").write_text(f'#!/bin/sh\nexec {sys.executable} -m moot.cli.main "$@"\n')
    (programs / "moot").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return Tab(moot("completions", "bash").out)


class Tab:
    def __init__(self, script: str) -> None:
        self._script = script

    def __call__(self, *words: str) -> set[str]:
        """What bash offers for these words, the last one being typed."""
        typed = shlex.join(("moot", *words))
        asked = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _moot; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "-c", f"{self._script}\n{asked}"], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return set(done.stdout.split())


def test_commands_actions_and_options(tab: Tab) -> None:
    """Made from the parsers: nothing is offered that does not exist, and nothing is left out."""
    assert tab("") == set(COMMANDS)
    assert tab("se") == {"serve", "sessions"}
    assert tab("sessions", "") >= {"list", "fork", "import", "verify"}
    assert tab("sessions", "re") == {"replay", "rename", "restore"}
    assert tab("sessions", "fork", "--") == {"--help", "--at", "--with-work", "--data", "--store"}
    assert tab("run", "x.yaml", "--c") == {"--connect"}
    assert tab("route", "s") == {"supervisor"}
    assert tab("trust", "") == {"add", "list", "remove"}
    assert tab("schema", "") == set()


def test_values_of_options(tab: Tab) -> None:
    """Choices where there are some, folders for --data, nothing where nobody can know."""
    assert tab("demo", "--flow", "") == {"chat", "supervisor", "plan"}
    assert tab("sessions", "export", "--format", "") == {"jsonl", "md", "html"}
    assert tab("run", "--data", "") == {"folder", "bin"}
    assert tab("sessions", "export", "--out", "n") == {"notes.txt"}
    assert tab("run", "--say", "") == set()


def test_team_files(tab: Tab) -> None:
    """Team files, folders on the way to one, and the built-in teams; no other files."""
    assert tab("run", "") == {"team.yaml", "folder", "bin", *list_built_in_teams()}
    assert tab("validate", "t") == {"team.yaml"}
    assert tab("sessions", "import", "n") == {"notes.txt"}


def test_session_ids(tab: Tab, moot: Moot, tmp_path: Path) -> None:
    """Those that there are, also in the folder that --data names; none where there is no log, and nothing is said."""
    assert tab("sessions", "show", "") == set()
    ids = {moot.talk("alice: hello")[0] for _ in range(2)}
    assert tab("sessions", "show", "") == ids
    assert tab("run", "chat-demo", "--session", "s_") == ids
    one = min(ids)
    assert tab("sessions", "fork", one[:8]) == {one}
    other = str(tmp_path / "other")
    (there,) = moot("run", "chat-demo", "--say", "hi", "--data", other).err.split()[1:2]
    assert tab("sessions", "rm", "--data", other, "s") == {there}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_theirs(moot: Moot, shell: str) -> None:
    """Every command, how to switch it on, and where ids and teams come from."""
    said = moot("completions", shell)
    assert said.code == 0
    assert all(command in said.out for command in COMMANDS)
    assert f"moot completions {shell}" in said.out
    assert "sessions list" in said.out
    assert "plan-demo" in said.out
