"""Who acts instead of a member whose usage limit is reached."""

import pytest

from moot.config.loading import load_team
from moot.core.errors import ConfigError


def team(*fallback: str) -> dict[str, object]:
    script = {"type": "script", "replies": ["hi"]}
    return {
        "moot": 1,
        "name": "team",
        "members": [
            {"id": "ann", "kind": "human"},
            {"id": "claude", "kind": "ai", "agent": script, "fallback": list(fallback)},
            {"id": "codex", "kind": "ai", "agent": script},
        ],
    }


def test_the_log_knows_the_fallbacks_of_a_member() -> None:
    """They are part of the team that the first event holds: the core decides by them."""
    assert load_team(team("codex")).team().member("claude").fallback == ("codex",)


@pytest.mark.parametrize("name", ["gpt", "ann", "claude"])
def test_a_fallback_is_another_ai_of_the_team(name: str) -> None:
    """A stranger, a human and the member itself are refused with the place in the file."""
    with pytest.raises(ConfigError, match=rf"fallback.*no other AI member has the id '{name}'"):
        load_team(team(name))
