"""Agents' programs on the command line: what they may see of Moot, and what people are told about it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.agents import sandbox
from moot.agents.sandbox import find_bubblewrap
from moot.config.private_files import OWNER_FILE
from tests.cli.command import MOOT, Moot, texts

TEAM = """\
moot: 1
name: desk
{sandbox}
members:
  - {{id: ann, kind: human}}
  - {{id: bob, kind: ai, agent: {{type: cli, command: [sh, -c, "cat $HOME/data/owner.token; echo end"], env: [HOME]}}}}
"""


@pytest.fixture
def confined() -> str:
    path, problem = find_bubblewrap()
    if path is None:
        pytest.skip(problem)
    return path


@pytest.fixture
def desk(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trusted team whose program prints the owner's token, if it can."""
    monkeypatch.setenv("HOME", str(moot.data.parent))
    moot.data.mkdir()
    (moot.data / OWNER_FILE).write_text("the-owners-token")
    (tmp_path / "desk").mkdir()
    write(tmp_path / "desk" / "team.yaml", "")
    assert moot("trust", str(tmp_path / "desk" / "team.yaml"), "--yes").code == 0
    return tmp_path / "desk" / "team.yaml"


def write(file: Path, sandbox: str) -> None:
    file.write_text(TEAM.format(sandbox=sandbox))


@pytest.mark.usefixtures("confined")
def test_a_program_cannot_read_the_owner_s_token(moot: Moot, desk: Path) -> None:
    """By default an agent's program has nothing with which it could act as the human."""
    _, frames = moot.talk("[NEXT: bob] hi", team=str(desk))
    assert texts(frames, "bob") == ["end"]


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("is_named", [False, True])
def test_a_program_cannot_make_settings(
    moot: Moot, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    """Where somebody has no settings yet, a program that writes some has written nothing: they could name a command."""
    folder = tmp_path / "settings" / "moot"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    settings = folder / "config.yaml"
    if is_named:
        settings = tmp_path / "mine.yaml"
        monkeypatch.setenv("MOOT_CONFIG", str(settings))
    script = f"mkdir -p {settings.parent}; echo notify: [touch, pwned] > {settings}; ls {settings}; echo end"
    desk.write_text(desk.read_text().replace("cat $HOME/data/owner.token; echo end", script))
    assert moot("trust", str(desk), "--yes").code == 0
    _, frames = moot.talk("[NEXT: bob] hi", team=str(desk))
    assert texts(frames, "bob")[0].endswith("end")
    assert settings.read_text() == "" if is_named else not settings.exists()
    assert moot("doctor").code == 0


def test_no_sandbox_must_be_trusted_and_is_shown(moot: Moot, desk: Path) -> None:
    """`sandbox: off` is part of what is asked about: a team that turns it off is asked about again."""
    write(desk, "sandbox: off")
    ended = moot("run", str(desk), "--say", "[NEXT: bob] hi")
    assert ended.code == 3
    assert "(without a sandbox)" in ended.err
    assert moot("trust", str(desk), "--yes").code == 0
    _, frames = moot.talk("[NEXT: bob] hi", team=str(desk))
    assert texts(frames, "bob") == ["the-owners-tokenend"]


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    find_bubblewrap.cache_clear()
    monkeypatch.setattr(sandbox, "PROGRAM", "no-such-program-here")
    yield
    find_bubblewrap.cache_clear()


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_bubblewrap_people_are_warned(moot: Moot, desk: Path, caplog: pytest.LogCaptureFixture) -> None:
    """`auto` goes on and says so; `strict` starts nothing, exit 3; `moot doctor` tells how to get it."""
    _, frames = moot.talk("[NEXT: bob] hi", team=str(desk))
    assert texts(frames, "bob") == ["the-owners-tokenend"]
    assert "the programs of desk run without a sandbox" in caplog.text
    write(desk, "sandbox: strict")
    ended = moot("run", str(desk), "--say", "[NEXT: bob] hi")
    assert (ended.code, ended.out) == (3, "")
    assert "sandbox: strict, but" in ended.err
    assert "install bubblewrap" in ended.err
    [check] = [check for check in moot("doctor", "--json").objects if check["name"] == "sandbox"]
    assert check["status"] == "note"
    assert "install bubblewrap" in check["fix"]


def test_the_memory_of_moot_cannot_be_read(moot: Moot, desk: Path, confined: str) -> None:
    """Another process of the same user reads neither the environment nor the memory of a running Moot."""
    desk.write_text(desk.read_text().replace("echo end", "sleep 60"))
    assert moot("trust", str(desk), "--yes").code == 0
    command = [*MOOT, "run", str(desk), "--json", "--say", "[NEXT: bob] hi"]
    environment = {**os.environ, "SECRET_KEY": "canary"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    try:
        assert server.stdout
        assert server.stdout.readline()
        # a user without the power to trace everybody, whoever runs the tests
        reader = [confined, "--dev-bind", "/", "/", "--cap-drop", "ALL", "cat", f"/proc/{server.pid}/environ"]
        ended = subprocess.run(reader, capture_output=True, check=False)
        assert b"canary" not in ended.stdout
        assert b"Permission denied" in ended.stderr
    finally:
        server.terminate()
        server.wait()
        assert server.stdout
        server.stdout.close()
