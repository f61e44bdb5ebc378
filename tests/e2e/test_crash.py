"""kill -9 at any moment: nothing that was shown is taken back, nothing that was accepted is lost or done twice.

MOOT_CRASH_ROUNDS says how many sessions are tried (`make crash`: 100); MOOT_CRASH_SEED repeats the moments of a run.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Moot, check_chain, texts
from tests.e2e.runs import TEXTS, Moment, Run, pick_moment

ROUNDS = int(os.environ.get("MOOT_CRASH_ROUNDS", "8"))
SEED = int(os.environ.get("MOOT_CRASH_SEED", time.time_ns() % 1_000_000))
TURN_ENDS = ("turn.completed", "turn.failed", "turn.cancelled")


class Trial:
    """One session, from its first text to its last, through any number of dead processes."""

    def __init__(self, moot: Moot) -> None:
        self._moot = moot
        self._known = set(self._list())
        self.session_id: str | None = None
        self.shown: list[str] = []
        self.log: list[str] = []
        self.frames: list[Any] = []

    def start(self) -> Run:
        """Go on where the log ends: with the texts that are not in it."""
        said = texts(self.frames, "alice")
        assert said == TEXTS[: len(said)]
        return Run(self._moot.data, self.session_id, TEXTS[len(said) :])

    def look(self, run: Run) -> None:
        """What is in the log after a process has gone; what it showed must be there, byte for byte."""
        self.shown += run.lines
        if self.session_id is None:
            new = [session_id for session_id in self._list() if session_id not in self._known]
            assert len(new) <= 1
            self.session_id = new[0] if new else None
        if self.session_id is None:
            assert self.shown == []
            return
        self.log = self._moot("sessions", "export", self.session_id).lines
        self.frames = self._moot("sessions", "export", self.session_id).objects
        lost = set(self.shown) - set(self.log)
        assert lost == set()
        assert len(self.shown) == len(set(self.shown))

    @property
    def running(self) -> set[str]:
        """Turns that have started and not ended."""
        started = {frame["metadata"]["turn_id"] for frame in self.frames if frame["event"] == "turn.started"}
        return started - {frame["metadata"]["turn_id"] for frame in self.frames if frame["event"] in TURN_ENDS}

    def check(self) -> None:
        """The whole session, when it has come to rest."""
        assert [frame["seq"] for frame in self.frames] == list(range(1, len(self.frames) + 1))
        check_chain(self.log)
        assert texts(self.frames, "alice") == TEXTS
        for member in ("bob", "carol", "dave"):
            assert texts(self.frames, member) == [f"{member} {n}" for n in range(1, len(TEXTS) + 1)]
        turns = Counter((f["event"], f["metadata"]["turn_id"]) for f in self.frames if f["event"].startswith("turn."))
        ids = [f"t{n}" for n in range(1, 3 * len(TEXTS) + 1)]
        assert [turns["turn.started", turn_id] for turn_id in ids] == [1] * len(ids)
        assert [sum(turns[end, turn_id] for end in TURN_ENDS) for turn_id in ids] == [1] * len(ids)
        assert {turn_id for _, turn_id in turns} == set(ids)
        assert self.frames[-1]["event"] == "session.paused"
        assert self.frames[-1]["metadata"]["waiting_for"] == "alice"

    def _list(self) -> list[str]:
        if not self._moot.data.exists():
            return []
        return [each["session_id"] for each in self._moot("sessions", "list", "--json").objects]


@pytest.fixture
def moot(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    return Moot(capsys, monkeypatch, tmp_path / "data")


def test_kill_at_random_moments(moot: Moot, capsys: pytest.CaptureFixture[str]) -> None:
    """Each session is killed one to three times, goes on each time, and ends as if nothing had happened."""
    with capsys.disabled():
        print(f"\nMOOT_CRASH_SEED={SEED} MOOT_CRASH_ROUNDS={ROUNDS}", end=" ", flush=True)
    chance = random.Random(SEED)  # noqa: S311 - it must be repeatable, not secret
    places: list[int] = []
    hits: Counter[str] = Counter()
    for _ in range(ROUNDS):
        trial = Trial(moot)
        for _ in range(chance.randint(1, 3)):
            run = trial.start()
            was_killed = run.kill_at(pick_moment(chance))
            trial.look(run)
            if was_killed:
                places.append(len(trial.frames))
                hits["in a turn" if trial.running else "between turns" if trial.frames else "before the session"] += 1
        run = trial.start()
        assert run.finish() == 0, run.talk
        trial.look(run)
        trial.check()
    with capsys.disabled():
        print(f"{len(places)} kills at {len(set(places))} places: {dict(hits)}")
    reports = moot("sessions", "verify", "--json")
    assert reports.code == 0
    assert [report["ok"] for report in reports.objects] == [True] * ROUNDS
    assert len(places) >= ROUNDS // 2, "too few kills happened for this to mean anything"
    assert len(set(places)) >= min(len(places) // 3, 10)
    assert hits["in a turn"] >= len(places) // 4


def test_recovery_may_be_killed_too(moot: Moot) -> None:
    """Five processes in a row that die while they recover leave the session as it was, or further on."""
    chance = random.Random(SEED)  # noqa: S311
    trial = Trial(moot)
    moments = [Moment(8, 0), *[Moment(0, chance.uniform(0.02, 0.3)) for _ in range(5)]]
    kills = 0
    for moment in moments:
        before = trial.log
        run = trial.start()
        kills += run.kill_at(moment)
        trial.look(run)
        assert trial.log[: len(before)] == before
    assert kills >= 3
    run = trial.start()
    assert run.finish() == 0, run.talk
    trial.look(run)
    trial.check()
    assert moot("sessions", "verify").code == 0
