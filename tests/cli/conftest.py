"""The command line, called in this process."""

from pathlib import Path

import pytest

from tests.cli.command import Moot


@pytest.fixture
def moot(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    """`moot(*arguments)` with a data folder of its own."""
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    return Moot(capsys, monkeypatch, tmp_path / "data")
