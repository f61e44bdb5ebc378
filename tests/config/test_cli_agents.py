"""What a team file may say of a CLI."""

import pytest

from moot.config.loading import list_problems

ALICE = {"id": "alice", "kind": "human"}


def problems_of(**agent: object) -> list[str]:
    bob = {"id": "bob", "kind": "ai", "agent": {"type": "cli", **agent}}
    return [problem.text for problem in list_problems({"members": [ALICE, bob]})]


def test_presets_take_a_model_and_permissions() -> None:
    """A preset knows its command; what varies are its model and what it may do."""
    assert problems_of(preset="claude", model="opus", permissions="edit") == []
    assert problems_of(command=["./run"], output="claude") == []
    assert len(problems_of(preset="claude", permissions="anything")) == 1


@pytest.mark.parametrize("key", ["model", "permissions"])
def test_a_command_says_everything_itself(key: str) -> None:
    """A command is started as it is written: nothing is added to it."""
    value = {"model": "opus", "permissions": "read"}[key]
    assert problems_of(command=["./run"], **{key: value}) == [f"{key} goes with a preset; write it into the command"]
