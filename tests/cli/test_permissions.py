"""Members that ask in the middle of their turn, on the command line."""

import sys
from pathlib import Path

import pytest

from tests.cli.command import Moot, texts

AGENT = """
async def act(turn, ask):
    return f"told {await ask('rm -r build')} and {await ask('rm -r dist')}"
"""
TEAM = """
moot: 1
name: careful
language: en
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: python, call: "careful_agent:act"}}
"""


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moot: Moot) -> str:
    (tmp_path / "careful_agent.py").write_text(AGENT)
    (tmp_path / "careful.yaml").write_text(TEAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "careful_agent", raising=False)
    assert moot("trust", "careful.yaml", "--yes").code == 0
    return "careful.yaml"


def test_a_run_answers_while_the_turn_waits(moot: Moot, team: str) -> None:
    """Answers are for questions in their order, also for those that hold up a turn and not the session."""
    said = moot("run", team, "--json", "--say", "[NEXT: bob] clean up", "--answer", "approve", "reject")
    assert said.code == 0, said.err
    assert texts(said.objects, "bob") == ["told allow and reject"]
    assert [each["metadata"]["kind"] for each in said.objects if each["event"] == "agent.user_confirm"] == ["tool"] * 2


def test_lines_answer_while_the_turn_waits(moot: Moot, team: str) -> None:
    """The question is shown with its options, and the next line answers it."""
    said = moot("chat", team, "--plain", stdin=b"[NEXT: bob] clean up\nallow\nreject\n")
    assert said.code == 0, said.err
    assert "? bob asks for permission: rm -r build" in said.lines
    assert any("told allow and reject" in line for line in said.lines)
