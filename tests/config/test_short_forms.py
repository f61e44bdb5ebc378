"""`agent:` as a text: a preset, or a model."""

from typing import Any

import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.agents.llm.llm_agent import LlmAgent
from moot.config.loading import InvalidTeam, load_team


def team(agent: Any) -> dict[str, Any]:
    return {"members": [{"id": "ann", "kind": "human"}, {"id": "bob", "kind": "ai", "agent": agent}]}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("claude", CliAgent(preset="claude")),
        ("codex", CliAgent(preset="codex")),
        ("openai:gpt-5-mini", LlmAgent(model="openai:gpt-5-mini")),
        ("ollama:qwen3:8b", LlmAgent(model="ollama:qwen3:8b")),
    ],
)
def test_a_text_is_a_preset_or_a_model(written: str, meant: object) -> None:
    """With a colon it is a model, else the name of a preset."""
    assert load_team(team(written)).members[1].agent == meant


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("cluade", "members[1].agent: found text 'cluade', which is no agent; did you mean 'claude'?"),
        (
            "gpt",
            "the presets are: claude, codex, gemini, qwen, opencode; a model is written provider:name",
        ),
        ({"type": "claude"}, "members[1].agent.type: 'claude' is a preset, no type; write {type: cli, preset: claude}"),
        ("sk-proj-abcdefghijk", "found what looks like a secret (not shown), which is no agent"),
        ({"type": "cli", "command": "./a.sh --x"}, 'expected a list; write ["./a.sh", "--x"]'),
        ({"type": "cli", "command": ["a"], "env": {"FOO": "bar"}}, "expected a list; write only the names: [FOO]"),
    ],
)
def test_what_is_none_is_explained(written: Any, problem: str) -> None:
    """With the nearest preset, or with what to write instead."""
    with pytest.raises(InvalidTeam) as raised:
        load_team(team(written))
    assert problem in str(raised.value)
