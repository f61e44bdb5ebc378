"""Calling `moot` and reading what it says."""

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from moot.cli.main import main

TEAMS = Path(__file__).parents[1] / "data" / "teams"
CHAT = str(TEAMS / "good" / "chat.yaml")
MOOT = [sys.executable, "-m", "moot.cli.main"]
_DECODER, _METADATA = json.JSONDecoder(), ',"metadata":'


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
    """Each hash is sha256 of the previous one and the stored bytes: the frame up to the end of its metadata."""
    for line in lines:
        _, end = _DECODER.raw_decode(line, line.index(_METADATA) + len(_METADATA))
        added = json.loads("{" + line[end + 1 :])
        assert set(added) <= {"content", "show_content", "hash"}, line
        previous = hashlib.sha256(f"{previous}{line[:end]}}}".encode()).hexdigest()
        assert added["hash"] == previous, line


def names(frames: list[Any]) -> list[str]:
    return [frame["event"] for frame in frames]


def texts(frames: list[Any], member: str | None = None) -> list[str]:
    """What was said, by one member or by all."""
    posted = [frame["metadata"] for frame in frames if frame["event"] == "message.posted"]
    return [each["text"].strip() for each in posted if member in (None, each["member"])]
