"""What a team file may say of a CLI."""

import pytest

from moot.config.loading import list_problems

ALICE = {"id": "alice", "kind": "human"}
STAYING = {"effort": "high", "mode": "plan", "allow": ["Bash(make:*)"], "mcp": [{"command": ["server"]}]}


def problems_of(**agent: object) -> list[str]:
    bob = {"id": "bob", "kind": "ai", "agent": {"type": "cli", **agent}}
    return [problem.text for problem in list_problems({"members": [ALICE, bob]})]


def test_presets_take_a_model_and_permissions() -> None:
    """A preset knows its command; what varies are its model and what it may do."""
    assert problems_of(preset="claude", model="opus", permissions="edit") == []
    assert problems_of(command=["./run"], output="claude") == []
    assert len(problems_of(preset="claude", permissions="anything")) == 1


@pytest.mark.parametrize("key", ["model", "effort", "mode", "lifetime"])
def test_a_command_says_everything_itself(key: str) -> None:
    """A command is started as it is written: nothing is added to it."""
    value = {"lifetime": "turn"}.get(key, "high")
    assert problems_of(command=["./run"], **{key: value}) == [f"{key} goes with a preset; write it into the command"]


@pytest.mark.parametrize(("level", "count"), [("read", 0), ("edit", 0), ("ask", 1), ("all", 1)])
def test_a_command_cannot_ask(level: str, count: int) -> None:
    """It does what it does; the team file says only whether it may change files."""
    assert len(problems_of(command=["./run"], permissions=level)) == count


def test_presets_take_more_than_a_model() -> None:
    """Effort, mode, arguments, rules, servers and how long the program stays."""
    more = {"args": ["--add-dir", "x"], "lifetime": "session", **STAYING}
    assert problems_of(preset="claude", permissions="ask", **more) == []
    assert len(problems_of(preset="claude", mcp=[{}])) == 1


@pytest.mark.parametrize("key", STAYING)
def test_what_a_program_for_one_turn_is_not_given_is_refused(key: str) -> None:
    """No setting is left out without a word: each is named with what to do instead. Arguments are given to any."""
    (problem,) = problems_of(preset="claude", lifetime="turn", **{key: STAYING[key]})
    assert problem.startswith(f"{key} does not go with lifetime: turn; ")
    assert problems_of(preset="claude", lifetime="turn", model="opus", args=["--effort", "high"]) == []
