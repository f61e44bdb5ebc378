"""kill -9 of a plan at any moment: every task is completed exactly once, and the answer is the same.

MOOT_CRASH_ROUNDS says how many sessions are tried (`make crash`: 100); MOOT_CRASH_SEED repeats the moments of a run.
"""

import asyncio
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.client.session import RemoteSession
from tests.cli.command import Moot
from tests.client.real_server import TOKEN, RealServer
from tests.e2e.plan_runs import GOAL, TEAM, PlanRun, check
from tests.e2e.runs import Moment

ROUNDS = int(os.environ.get("MOOT_CRASH_ROUNDS", "4"))
SEED = int(os.environ.get("MOOT_CRASH_SEED", time.time_ns() % 1_000_000))
MOST_KILLS = 4  # of a server before it may finish


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    return Moot(capsys, monkeypatch, tmp_path / "data")


def pick_moment(chance: random.Random) -> Moment:
    """At a frame or a little later; one in four without regard to frames, while it starts or recovers."""
    if chance.random() < 0.25:
        return Moment(0, chance.uniform(0.1, 0.6))
    return Moment(chance.randint(1, 60), chance.choice([0, chance.uniform(0, 0.05)]))


class Trial:
    """One plan, from what is wanted to the answer, through any number of dead processes."""

    def __init__(self, command: Moot, team: Path) -> None:
        self._command = command
        self._team = team
        self._known = self._list()
        self._session_id: str | None = None
        self._shown: set[str] = set()
        self.frames: list[Any] = []

    def start(self) -> PlanRun:
        """Go on where the log ends."""
        is_said = any(frame["event"] == "message.posted" for frame in self.frames)
        return PlanRun(self._team, self._command.data, self._session_id, says=not is_said)

    def look(self, process: PlanRun) -> None:
        """What is in the log after a process has gone; what it showed must be there, byte for byte."""
        self._shown |= set(process.lines)
        if self._session_id is None:
            self._session_id = next(iter(self._list() - self._known), None)
        if self._session_id is None:
            assert not self._shown
            return
        log = self._command("sessions", "export", self._session_id)
        assert self._shown <= set(log.lines)
        self.frames = log.objects

    @property
    def is_at_work(self) -> bool:
        """Whether somebody had a task when the log ended."""
        ends = ("solver.completed", "task.failed", "task.lease_expired")
        names = [frame["event"] for frame in self.frames]
        return names.count("solver.start") > sum(names.count(end) for end in ends)

    def _list(self) -> set[str]:
        if not self._command.data.exists():
            return set()
        return {each["session_id"] for each in self._command("sessions", "list", "--json").objects}


def test_moot_run_is_killed(command: Moot, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each session is killed one to three times, goes on each time, and ends as if nothing had happened."""
    with capsys.disabled():
        print(f"\nMOOT_CRASH_SEED={SEED} MOOT_CRASH_ROUNDS={ROUNDS}", end=" ", flush=True)
    chance = random.Random(SEED)  # noqa: S311 - it must be repeatable, not secret
    team = tmp_path / "team.yaml"
    team.write_text(TEAM, encoding="utf-8")
    kills, at_work = 0, 0
    for _ in range(ROUNDS):
        trial = Trial(command, team)
        for _ in range(chance.randint(1, 3)):
            process = trial.start()
            was_killed = process.kill_at(pick_moment(chance))
            trial.look(process)
            kills += was_killed
            at_work += was_killed and trial.is_at_work
        process = trial.start()
        assert process.finish() == 0, process.talk
        trial.look(process)
        check(trial.frames)
    with capsys.disabled():
        print(f"{kills} kills, {at_work} with tasks at work")
    assert command("sessions", "verify").code == 0
    assert kills >= ROUNDS // 2, "too few kills happened for this to mean anything"


async def follow(session: RemoteSession) -> None:
    """Bring a plan to its end, whatever happens to the server meanwhile; the client says everything once."""
    async for _ in session.say(GOAL):
        pass
    [question] = (await session.view()).questions
    async for _ in session.answer(question.step_id, confirmed=True):
        pass


async def play(server: RealServer, chance: random.Random) -> int:
    """Six plans on a server that is killed until they are done; how often it was."""
    kills = 0
    async with moot.connect(server.url, token=TOKEN, give_up_s=120) as client, asyncio.timeout(90):
        sessions = [await client.session(team="tea") for _ in range(6)]
        plans = asyncio.gather(*(follow(session) for session in sessions))
        while not plans.done() and kills < MOST_KILLS:
            await asyncio.sleep(chance.uniform(0.1, 0.6))
            await server.stop(signal.SIGKILL)
            await server.start()
            kills += 1
        await plans
        for session in sessions:
            check([json.loads(event.data) async for event in session.history()])
    return kills


def test_moot_serve_is_killed(tmp_path: Path) -> None:
    """A server that is killed again and again while six plans run brings all of them to their end."""
    chance = random.Random(SEED)  # noqa: S311

    async def serve() -> int:
        server = RealServer(tmp_path, 0)
        (tmp_path / "team.yaml").write_text(TEAM, encoding="utf-8")
        await server.start()
        try:
            return sum([await play(server, chance) for _ in range(max(1, ROUNDS // MOST_KILLS))])
        finally:
            await server.stop()

    assert asyncio.run(serve()) >= 1
