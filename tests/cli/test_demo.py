"""`moot demo`: the first thing people try."""

import pytest

from moot.runtime.clock import SystemClock
from tests.cli.command import Moot


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The actors do not pause for effect."""

    async def sleep(self: SystemClock, delay_s: float) -> None:
        pass

    monkeypatch.setattr(SystemClock, "sleep", sleep)


@pytest.mark.parametrize("arguments", [["--plain"], ["--flow", "chat", "--plain"]])
def test_it_plays_to_its_end(arguments: list[str], moot: Moot) -> None:
    """Unattended, exit 0: every AI speaks, Dora is skipped with a notice, the human ends it; nothing is kept."""
    said = moot("demo", *arguments)
    assert said.code == 0
    assert said.lines[0] == "— Demo · You, Claude, Bob, Carol"
    assert said.lines[-1].startswith("■")
    assert "⚠️ 'Dora' is not in this team, skipped" in said.lines
    assert any(line.startswith("📋 Queue: [Bob ⏳] → Carol") for line in said.lines)
    for speaker in ("You: ", "Claude: ", "Bob: ", "Carol: "):
        assert any(line.startswith(speaker) for line in said.lines)
    assert said.err.count("»") == 3
    assert not moot.data.exists()
