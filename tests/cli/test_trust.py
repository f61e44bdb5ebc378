"""`moot trust`, and the commands that open team files: nothing runs before it is trusted."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moot.cli import trusting
from tests.agents.programs import list_started
from tests.cli.command import MOOT, Moot, texts

TEAM = """\
moot: 1
name: pwned
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: cli, command: [./pwn.sh, "a b"]}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a team file and the program that it names, which leaves a trace."""
    place = tmp_path / "found"
    place.mkdir()
    (place / "team.yaml").write_text(TEAM)
    (place / "other.yaml").write_text("not: a team")
    (place / "pwn.sh").write_text('#!/bin/sh\ntouch "$0.ran"\necho "hello from $1"\n')
    (place / "pwn.sh").chmod(0o755)
    return place


def ran(folder: Path) -> bool:
    return (folder / "pwn.sh.ran").exists()


def test_an_untrusted_team_runs_nothing(moot: Moot, folder: Path) -> None:
    """Exit 3, the exact argv, how to trust it; no program and no session."""
    file = str(folder / "team.yaml")
    said = moot("run", file, "--say", "[NEXT: bob] hi")
    assert (said.code, said.out) == (3, "")
    assert "bob: ./pwn.sh 'a b'" in said.err
    assert f"moot trust {file}" in said.err
    assert not ran(folder)
    assert moot("serve", file, "--port", "0").code == 3
    assert not moot.data.exists()


def test_trust_lets_it_run_until_it_changes(moot: Moot, folder: Path) -> None:
    """Trusted once, it runs in its own folder; another command is asked about again."""
    file = folder / "team.yaml"
    assert moot("trust", str(folder), "--yes").code == 0
    _, frames = moot.talk("[NEXT: bob] hi", team=str(file))
    assert texts(frames, "bob") == ["hello from a b"]
    assert ran(folder)
    file.write_text(TEAM.replace('"a b"', '"c d"'))
    assert moot("run", str(file), "--say", "[NEXT: bob] hi").code == 3


def test_without_a_terminal_nobody_can_say_yes(moot: Moot, folder: Path) -> None:
    """No prompts without a TTY: --yes says it; trusting twice and trusting nothing are no failures."""
    said = moot("trust", str(folder))
    assert said.code == 3
    assert "--yes" in said.err
    assert moot("trust", str(folder / "team.yaml"), "--yes").code == 0
    assert "trusted already" in moot("trust", str(folder)).err
    (folder / "team.yaml").write_text(TEAM.replace('cli, command: [./pwn.sh, "a b"]', "script"))
    assert "needs no trust" in moot("trust", str(folder)).err


def test_trust_is_listed_and_taken_back(moot: Moot, folder: Path) -> None:
    """`list` for people and programs; `remove` by folder; what is not there is said."""
    moot("trust", "add", str(folder), "--yes")
    listed = moot("trust", "list")
    assert listed.lines == [str(folder), "  bob: ./pwn.sh 'a b'"]
    [entry] = moot("trust", "list", "--json").objects
    assert entry == {"folder": str(folder), "commands": [{"argv": ["./pwn.sh", "a b"], "cwd": "", "env": []}]}
    assert moot("trust", "remove", str(folder)).code == 0
    assert moot("trust", "list").out == ""
    assert moot("trust", "remove", str(folder)).code == 4
    assert moot("run", str(folder / "team.yaml"), "--say", "hi").code == 3


@pytest.mark.parametrize("arguments", [["nowhere"], ["."]])
def test_wrong_paths_are_told(
    arguments: list[str], moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that is no team: exit 3 and a sentence."""
    monkeypatch.chdir(tmp_path)
    assert moot("trust", *arguments).code == 3


def test_a_data_folder_that_came_with_the_team_trusts_nobody(moot: Moot, folder: Path) -> None:
    """Trust lies in the person's own folder; a file that says so beside the team is not asked."""
    moot("trust", str(folder), "--yes")
    forged = folder / "data"
    moot.data.rename(forged)
    file = str(folder / "team.yaml")
    assert moot("run", file, "--data", str(forged), "--say", "[NEXT: bob] hi").code == 3
    assert not ran(folder)


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\n", 3), (b"n\n", 3), (b"", 3)])
def test_at_a_terminal_the_person_is_asked(
    answer: bytes, code: int, moot: Moot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands are shown; only yes is yes, and it is remembered."""
    monkeypatch.setattr(trusting, "is_attended", lambda: True)
    said = moot("run", str(folder / "team.yaml"), "--say", "[NEXT: bob] hi", stdin=answer)
    assert (said.code, ran(folder)) == (code, code == 0)
    assert "bob: ./pwn.sh 'a b'" in said.err
    assert bool(json.loads((moot.data / "trust.json").read_text())) if code == 0 else not moot.data.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_programs_too(number: signal.Signals, moot: Moot, folder: Path) -> None:
    """`moot run` that is told to end leaves nobody behind, and its data is in order."""
    (folder / "pwn.sh").write_text('#!/bin/sh\nsleep 60 &\ntouch "$0.ran"\nsleep 60\n')
    moot("trust", str(folder), "--yes")
    started = subprocess.Popen([*MOOT, "run", str(folder / "team.yaml"), "--say", "[NEXT: bob] hi"])
    until = time.monotonic() + 20
    while not ran(folder) and time.monotonic() < until:
        time.sleep(0.02)
    assert list_started(started.pid)
    started.send_signal(number)
    assert started.wait(10) == (130 if number == signal.SIGINT else 128 + number)
    assert list_started(started.pid) == set()
    assert list((moot.data / "processes").iterdir()) == []


def test_built_in_teams_are_trusted(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name of a built-in team means that team, whatever lies in the folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat-demo").write_text(TEAM)
    assert moot("run", "chat-demo", "--say", "hello").code == 0
    assert moot("run", "./chat-demo", "--say", "hello").code == 3


CODE = """
async def bot(turn):
    open({trace!r}, "w").close()
    return {text!r}
"""


def write_module(folder: Path, name: str, text: str) -> Path:
    """A folder with a module of this name, and the file that its function leaves when it runs."""
    folder.mkdir(exist_ok=True)
    trace = folder / "ran"
    (folder / f"{name}.py").write_text(CODE.format(trace=str(trace), text=text))
    return trace


def write_python_team(folder: Path, name: str, module: str) -> str:
    agent = f"{{type: python, call: '{module}:bot'}}"
    file = folder / "team.yaml"
    file.write_text(
        f"moot: 1\nname: {name}\nmembers: [{{id: ann, kind: human}}, {{id: bot, kind: ai, agent: {agent}}}]"
    )
    return str(file)


@pytest.fixture
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test imports is forgotten after it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


@pytest.mark.usefixtures("own_modules")
def test_python_code_comes_from_the_trusted_folder(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of the same name in the current folder is not imported: nobody trusted that folder."""
    wanted = write_module(tmp_path / "team", "desk_bot", "mine")
    foreign = write_module(tmp_path / "cloned", "desk_bot", "not mine")
    team = write_python_team(tmp_path / "team", "desk", "desk_bot")
    assert moot("trust", team, "--yes").code == 0
    monkeypatch.chdir(tmp_path / "cloned")
    _, frames = moot.talk("[NEXT: bot] hi", team="../team/team.yaml")
    assert texts(frames, "bot") == ["mine"]
    assert wanted.exists()
    assert not foreign.exists()


def test_python_started_as_a_module_does_not_import_from_the_current_folder(moot: Moot, tmp_path: Path) -> None:
    """`python -m` puts the current folder first; a team file's code is not looked for there."""
    (tmp_path / "team").mkdir()
    team = write_python_team(tmp_path / "team", "desk", "desk_bot")
    foreign = write_module(tmp_path / "cloned", "desk_bot", "not mine")
    assert moot("trust", team, "--yes").code == 0
    command = [*MOOT, "run", team, "--say", "[NEXT: bot] hi"]
    ended = subprocess.run(command, cwd=tmp_path / "cloned", capture_output=True, text=True, check=False)
    assert "No module named 'desk_bot'" in ended.stdout
    assert not foreign.exists()


@pytest.mark.usefixtures("own_modules")
def test_two_teams_do_not_share_a_module_by_accident(moot: Moot, tmp_path: Path) -> None:
    """The second team whose folder has a module of a name that is taken is told so; it never runs the other's code."""
    for name in ("one", "two"):
        write_module(tmp_path / name, "shared_bot", name)
        moot("trust", write_python_team(tmp_path / name, name, "shared_bot"), "--yes")
    _, frames = moot.talk("[NEXT: bot] hi", team=str(tmp_path / "one" / "team.yaml"))
    assert texts(frames, "bot") == ["one"]
    _, frames = moot.talk("[NEXT: bot] hi", team=str(tmp_path / "two" / "team.yaml"))
    [failed] = [frame["metadata"] for frame in frames if frame["event"] == "turn.failed"]
    assert failed["error_type"] == "config"
    assert "rename it" in failed["message"]
