"""Calling `moot` and reading what it says."""

import hashlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from moot.cli.main import main

TEAMS = Path(__file__).parents[1] / "data" / "teams"
CHAT = str(TEAMS / "good" / "chat.yaml")
MOOT = [sys.executable, "-m", "moot.cli.main"]
_TAIL = re.compile(rb'(?:,"show_content":"(?:[^"\\]|\\.)*")?,"hash":"([0-9a-f]{64})"\}\Z')


class Said(NamedTuple):
    """What a command left: its exit code, its data, its talk."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def objects(self) -> list[Any]:
        """JSON Lines."""
        return [json.loads(line) for line in self.lines]


class Moot:
    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
        self.data = data
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Said:
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        try:
            code = main(arguments)
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        return Said(code, *self._capsys.readouterr())

    def talk(self, *texts: str, team: str = CHAT) -> tuple[str, list[Any]]:
        """A new session in which this is said: its id and its frames."""
        said = self("run", team, "--json", "--say", *texts)
        assert said.code == 0, said.err
        return said.objects[0]["session_id"], said.objects

    def frames(self, session_id: str) -> list[Any]:
        return self("sessions", "export", session_id).objects


def check_chain(lines: list[str], previous: str = "") -> None:
    """Each hash is sha256 of the previous one and the stored bytes: the frame without show_content and hash."""
    for line in lines:
        frame = line.encode()
        tail = _TAIL.search(frame)
        assert tail, line
        stored = frame[: tail.start()] + b"}"
        assert json.loads(stored).keys() == json.loads(frame).keys() - {"hash", "show_content"}
        expected = hashlib.sha256(previous.encode() + stored).hexdigest()
        assert tail[1].decode() == expected, line
        previous = expected


def names(frames: list[Any]) -> list[str]:
    return [frame["event"] for frame in frames]


def texts(frames: list[Any], member: str | None = None) -> list[str]:
    """What was said, by one member or by all."""
    posted = [frame["metadata"] for frame in frames if frame["event"] == "message.posted"]
    return [each["text"].strip() for each in posted if member in (None, each["member"])]
