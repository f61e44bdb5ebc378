"""`moot run` as a process that is killed at a moment of the test's choice."""

import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from tests.cli.command import MOOT, TEAMS

RELAY = str(TEAMS / "good" / "relay.yaml")
TEXTS = [f"text {n}" for n in range(1, 7)]
_DEADLINE_S = 180


class Run:
    """A process under way. `lines` are the frames that it has printed, each of them whole.

    `talk` is its stderr, once it has ended.
    """

    def __init__(self, data: Path, session_id: str | None, texts: list[str]) -> None:
        said = ["--say", *[f"[NEXT: bob] {text}" for text in texts]] if texts else []
        self._start(RELAY, data, session_id, said)

    def _start(self, team: str, data: Path, session_id: str | None, more: list[str]) -> None:
        session = ["--session", session_id] if session_id else []
        command = [*MOOT, "run", team, "--json", "--data", str(data), *session, *more]
        self._talk = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._talk)
        assert self._process.stdout
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,))
        self._reader.start()

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            if line.endswith(b"\n"):  # else it was cut off by the kill: nobody could have read it
                self.lines.append(line[:-1].decode())

    def finish(self) -> int:
        """Let it come to its end; the exit code."""
        code = self._process.wait(_DEADLINE_S)
        self._reader.join(_DEADLINE_S)
        assert self._process.stdout
        self._process.stdout.close()
        self._talk.seek(0)
        self.talk = self._talk.read().decode()
        self._talk.close()
        return code

    def kill_at(self, moment: "Moment") -> bool:
        """Kill it then, unless it has ended by itself; whether it was killed."""
        moment.wait_for(self)
        self._process.kill()
        return self.finish() == -signal.SIGKILL

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None


class Moment:
    """After so many frames, or without regard to them, and then so many seconds."""

    def __init__(self, frames: int, seconds: float) -> None:
        self.frames = frames
        self.seconds = seconds

    def wait_for(self, run: Run) -> None:
        while len(run.lines) < self.frames and not run.is_over:
            time.sleep(0.001)
        time.sleep(self.seconds)


def pick_moment(chance: random.Random) -> Moment:
    """At a frame or a little later; one in four without regard to frames, while it starts or recovers."""
    if chance.random() < 0.25:
        return Moment(0, chance.uniform(0.05, 0.4))
    return Moment(chance.randint(1, 80), chance.choice([0, chance.uniform(0, 0.03)]))
