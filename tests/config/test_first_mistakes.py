"""What people write into their first team file, and the one line that mends it."""

import pytest

from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml

HEAD = "moot: 1\nname: x\nmembers:\n  - {id: ann, kind: human}\n"
TEAM = f"{HEAD}  - {{id: bob, kind: ai, agent: {{type: script}}}}\n"

AGENTS = {  # what is written for `agent:` → what is said of it
    "claud": "found text 'claud', which is no agent; did you mean 'claude'?",
    "{type: claude}": "'claude' is a preset, no type; write {type: cli, preset: claude}, or agent: claude",
    "{type: openai, model: m}": "acceptable: script, llm, cli, acp, python",
    "{type: cli, command: [./a], env: {FOO: bar}}": "expected a list; write only the names: [FOO]",
    "{type: cli, command: './a.sh --x'}": 'expected a list; write ["./a.sh", "--x"]',
    "{type: cli, preset: claude, permissions: yolo}": "acceptable: all, ask, edit, read",
    "{type: cli, preset: claud}": "did you mean 'claude'?",
    "{type: llm, model: 'openai:m', api_key: sk-1234567}": "takes the name of the environment variable that holds it",
    "{type: llm, model: 'openai:m', key: sk-proj-1234567}": "what looks like a secret (not shown)",
    "{type: cli, command: [./a], env: ['K=sk-proj-1234567']}": "what looks like a secret (not shown)",
    "{type: python, call: function}": "expected package.module:function",
}
FILES = {
    HEAD.replace("ann, kind: human", "ann, kind: human, agent: claude"): "a human member takes no agent",
    f"{HEAD}  - {{id: bob, kind: ai}}\n": "an AI member needs an agent; say what plays it, such as",
    f"{HEAD}  - {{id: bob, kind: ai, model: m, agent: {{type: script}}}}\n": "it belongs to the agent",
    f"{HEAD}  - {{id: bob, kind: ai, system_prompt: hi, agent: {{type: script}}}}\n": "did you mean 'instructions'?",
    f"{HEAD}  - {{id: bob, kind: robot}}\n": "acceptable: human, ai",
    f"{TEAM}  - {{id: Bob, kind: ai, agent: {{type: script}}}}\n": "give one of them another name",
    f"{TEAM}  - {{id: 'b]', kind: ai, agent: {{type: script}}}}\n": "leave out [ ] ,",
    "moot: 1\nname: x\nmembers:\n\t- {id: ann, kind: human}\n": "a tab in the indentation; use spaces",
    "moot: 1\nname: x\nmembers:\n  ann: {kind: human}\n": "write one item a line, each behind a dash: - id: …",
    "moot: 1\nname: x\nmembers: ann\n": "write one item a line, each behind a dash: - id: …",
    "moot: 1\nname: x\nmembers: []\n": "a team needs at least 2 members, this one has 0",
    "moot: 1\nname: x\n": "required key 'members' is missing",
    "name: x\nmembers: []\n": "required key 'moot' is missing",
    TEAM.replace("moot: 1", "moot: 2"): "acceptable: 1",
    TEAM.replace("name: x", "name: [x]"): "found a list; expected text",
    f"{TEAM}flow: chatt\n": "did you mean 'chat'?",
    f"{TEAM}language: fr\n": "acceptable: en, zh",
    f"{TEAM}chat: {{default: carol}}\n": "no member is called 'carol'; use one of ann, bob",
    f"{TEAM}chat: {{mentions: all}}\n": "acceptable: everyone, humans, off",
    f"{TEAM}chat: {{turn_timeout_s: -1}}\n": "found -1; expected more than 0",
    f"{TEAM}chat: {{max_hops: many}}\n": "expected a whole number",
    f"{TEAM}budget: {{cost: 5}}\n": "the keys here are: max_tokens, max_cost_usd, max_turns",
    f"{TEAM}workspace: yes\n": "expected a mapping",
    '{"moot": 1, "name": "x"': "not valid YAML: while parsing a flow mapping, did not find expected ',' or '}'",
}


def tell(text: str) -> str:
    return "\n".join(problem.format("team.yaml") for problem in find_problems(read_yaml(text.encode())))


@pytest.mark.parametrize(("written", "said"), AGENTS.items())
def test_what_plays_a_member(written: str, said: str) -> None:
    """The sentence says what to write instead, and repeats no secret."""
    told = tell(f"{HEAD}  - {{id: bob, kind: ai, agent: {written}}}\n")
    assert said in told
    assert told.startswith("team.yaml:5: members[1].agent")
    assert "1234567" not in told


@pytest.mark.parametrize(("text", "said"), FILES.items())
def test_files_that_are_almost_right(text: str, said: str) -> None:
    """Each problem is one line that begins with where it is."""
    told = tell(text)
    assert said in told
    assert all(line.startswith("team.yaml:") for line in told.splitlines())


def test_a_byte_order_mark_is_no_mistake() -> None:
    """Some editors write one."""
    assert tell(f"\ufeff{TEAM}") == ""
