"""The fixtures that pytest finds where Moot is installed."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.tidy.sources import ROOT

TESTS = """
import moot


def test_the_default_team_answers(moot_record):
    recording = moot_record("@bob hello")
    assert recording.said("bob") == ["Done."]
    assert recording.view.waiting_for == "ann"
    assert recording.names[-1] == "session.paused"


def test_a_function_plays_a_member(moot_record):
    async def bob(turn):
        raise ValueError("broken")

    (failure,) = moot_record("@bob hello", agents={"bob": bob}).find(moot.events.TurnFailed)
    assert failure.member == "bob"


def test_an_export_is_a_recording(moot_recording):
    assert moot_recording("session.jsonl").said("bob") == ["exported"]


def test_the_clock_is_virtual(moot_clock):
    assert moot_clock.monotonic() == moot_clock.monotonic()
"""


def test_the_fixtures_work_in_a_project(tmp_path: Path) -> None:
    """A team, a virtual clock, a session that is recorded and one that was exported."""
    (tmp_path / "test_team.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "team.yaml").write_text(
        "moot: 1\nname: t\nmembers:\n- {id: ann, kind: human}\n"
        "- {id: bob, kind: ai, agent: {type: script, replies: [exported]}}\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "MOOT_DATA": str(tmp_path / "data"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(*arguments: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    run("moot", "run", "team.yaml", "--say", "@bob hello")
    session_id = json.loads(run("moot", "sessions", "list", "--json").splitlines()[0])["session_id"]
    run("moot", "sessions", "export", session_id, "--out", "session.jsonl")
    assert "4 passed" in run("pytest", "-q", "-p", "moot.pytest_plugin", "test_team.py")


def test_pytest_finds_the_plugin() -> None:
    """The package declares its plugin."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"moot": "moot.pytest_plugin"}
