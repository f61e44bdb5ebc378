"""kill -9 in the middle of a supervisor's job, for real: the next process comes to the same end."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import MOOT, Moot, check_chain

GOAL = "A post about growing herbs on a balcony, with two pictures."
_DEADLINE_S = 180


@pytest.fixture
def moot(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    return Moot(capsys, monkeypatch, tmp_path / "data")


def start(moot: Moot, *arguments: str) -> "subprocess.Popen[str]":
    command = [*MOOT, "run", "content-studio-demo", "--json", "--data", str(moot.data), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def kill_after(process: "subprocess.Popen[str]", frames: int) -> list[Any]:
    """What it had shown when it was killed, in the middle of a turn."""
    assert process.stdout
    shown = [json.loads(process.stdout.readline()) for _ in range(frames)]
    time.sleep(0.1)
    process.kill()
    assert process.wait(_DEADLINE_S) == -signal.SIGKILL
    process.stdout.close()
    return shown


def test_a_job_that_is_killed_twice_comes_to_its_end(moot: Moot) -> None:
    """Nothing shown is lost, each turn ends once, the answer is not asked for again, the post is there."""
    shown = kill_after(start(moot, "--say", GOAL, "--answer", "beginners"), 25)
    session_id = shown[0]["session_id"]
    shown += kill_after(start(moot, "--session", session_id, "--answer", "beginners"), 20)
    last = start(moot, "--session", session_id, "--answer", "beginners")
    rest, _ = last.communicate(timeout=_DEADLINE_S)
    shown += [json.loads(line) for line in rest.splitlines()]
    log = moot("sessions", "export", session_id)
    check_chain(log.lines)
    assert [frame for frame in shown if frame not in log.objects] == []
    events = [frame["event"] for frame in log.objects]
    turns = [frame["metadata"]["turn_id"] for frame in log.objects if frame["event"] == "turn.completed"]
    assert turns == [f"t{number}" for number in range(1, events.count("turn.started") + 1)]
    assert events.count("agent.user_confirm") == 1
    ended = log.objects[events.index("supervisor.ended")]["metadata"]
    assert (ended["outcome"], ended["reason"]) == ("complete", "review_agent")
    assert ended["deliverable"]["title"] == "Five pots, one Saturday"
    assert [picture["asset_id"] for picture in ended["deliverable"]["pictures"]] == [
        "asset-cover-1",
        "asset-watering-1",
    ]
    assert moot("sessions", "verify").code == 0
