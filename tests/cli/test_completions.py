"""What Tab offers."""

import subprocess

import pytest

from moot.cli.main import COMMANDS
from tests.cli.command import Moot


def complete(script: str, *words: str) -> list[str]:
    """What bash would offer for these words, the last one being typed."""
    typed = " ".join(f"'{word}'" for word in words)
    asked = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _moot; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True).stdout.split()


def test_bash_offers_commands_actions_and_options(moot: Moot) -> None:
    """Issue 8: every command, its actions and options, made from the parsers; files where nothing else fits."""
    script = moot("completions", "bash").out
    assert set(complete(script, "moot", "")) == set(COMMANDS)
    assert complete(script, "moot", "se") == ["serve", "sessions"]
    assert {"fork", "import", "verify"} <= set(complete(script, "moot", "sessions", ""))
    assert "--at" in complete(script, "moot", "sessions", "fork", "--")
    assert "--connect" in complete(script, "moot", "run", "x.yaml", "--c")
    assert set(complete(script, "moot", "demo", "--flow", "c")) >= {"chat"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_theirs(moot: Moot, shell: str) -> None:
    """Issue 8: zsh and fish get theirs too; every command is in it."""
    said = moot("completions", shell)
    assert said.code == 0
    assert all(command in said.out for command in COMMANDS)
    assert f"moot completions {shell}" in said.out
