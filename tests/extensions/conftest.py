"""A package that is installed for one test: its module and its metadata with an entry point, on the path."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import moot

__all__ = ["install", "moot"]

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Call it with a group, the name of the entry, and the source of a module that defines `ENTRY`."""

    def make(group: str, name: str, source: str) -> None:
        site = tmp_path / "site"
        metadata = site / f"moot_{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: moot-{name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = moot_{name}:ENTRY\n")
        (site / f"moot_{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(site))

    return make
