"""`moot validate` and `moot schema`: what a team file may say."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import CHAT, TEAMS, Moot

SEVERAL = str(TEAMS / "broken" / "several.yaml")


def test_a_good_file_is_ok(moot: Moot) -> None:
    """One line, exit 0; with --json nothing, for there is no problem. Built-in teams go by name."""
    assert moot("validate", CHAT) == (0, f"{CHAT}: ok\n", "")
    assert moot("validate", CHAT, "--json") == (0, "", "")
    assert moot("validate", "chat-demo").code == 0


def test_every_problem_with_its_line(moot: Moot) -> None:
    """All at once, `FILE:LINE: path: sentence`, exit 3."""
    said = moot("validate", SEVERAL)
    assert said.code == 3
    assert len(said.lines) > 2
    for line in said.lines:
        number, _, sentence = line.removeprefix(f"{SEVERAL}:").partition(": ")
        assert number.isdigit(), line
        assert sentence
    assert any("did you mean" in line for line in said.lines)


def test_problems_as_json(moot: Moot) -> None:
    """One object a problem, with the same sentences."""
    plain, said = moot("validate", SEVERAL), moot("validate", SEVERAL, "--json")
    assert said.code == 3
    assert [set(each) for each in said.objects] == [{"line", "path", "text"}] * len(plain.lines)
    for line, each in zip(plain.lines, said.objects, strict=True):
        assert line.startswith(f"{SEVERAL}:{each['line']}: ")
        assert line.endswith(each["text"])


@pytest.mark.parametrize("file", ["no-such-file.yaml", str(TEAMS)])
def test_nothing_to_read(file: str, moot: Moot) -> None:
    """A file that is not there is a sentence on stderr and exit 3."""
    said = moot("validate", file)
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("moot: ")


def test_run_refuses_an_invalid_team(moot: Moot) -> None:
    """The same problems on stderr, exit 3, and no session is made."""
    said = moot("run", SEVERAL, "--say", "hello", "--json")
    assert (said.code, said.out) == (3, "")
    assert moot("validate", SEVERAL).lines == said.err.removeprefix("moot: ").splitlines()
    assert not moot.data.exists()


def test_the_schema_is_json_schema(moot: Moot) -> None:
    """It names its dialect, every reference leads somewhere, and the keys are those of the team file."""
    said = moot("schema")
    assert said.code == 0
    schema = json.loads(said.out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    definitions = schema["$defs"]

    def check(node: Any) -> None:
        if isinstance(node, list):
            for each in node:
                check(each)
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            assert node["$ref"].removeprefix("#/$defs/") in definitions
        if "properties" in node and "required" in node:
            assert set(node["required"]) <= set(node["properties"])
        kinds = node.get("type", [])
        if not isinstance(kinds, dict):  # else a property with that name
            allowed = {"object", "array", "string", "number", "integer", "boolean", "null"}
            assert {kinds} <= allowed if isinstance(kinds, str) else set(kinds) <= allowed
        for each in node.values():
            check(each)

    check(schema)
    keys = {
        "moot",
        "permission_timeout_s",
        "workspace",
        "name",
        "flow",
        "language",
        "understanding",
        "members",
        "chat",
        "plan",
        "supervisor",
        "budget",
    }
    assert set(definitions["TeamFile"]["properties"]) == {*keys, "sandbox", "prompts", "description", "examples"}
    assert set(definitions["TeamFile"]["required"]) == {"moot", "name", "members"}


SECRETS = ["sk-proj-abcdef1234567890", "glpat-abcdefghij0123456789", "0123456789abcdef0123456789abcdef0123"]


@pytest.mark.parametrize("arguments", [(), ("--json",)])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_not_printed(moot: Moot, tmp_path: Path, secret: str, arguments: tuple[str, ...]) -> None:
    """What looks like a key is reported without its value, and the hint says where keys belong."""
    file = tmp_path / "team.yaml"
    file.write_text(
        "moot: 1\nname: x\nmembers:\n  - {id: ann, kind: human}\n"
        f"  - {{id: bob, kind: ai, agent: {{type: llm, model: 'openai:m', key: '{secret}', api_key: '{secret}'}}}}\n"
        f"  - {{id: eve, kind: ai, order: '{secret}', agent: {{type: '{secret}'}}}}\n"
    )
    said = moot("validate", str(file), *arguments)
    assert said.code == 3
    assert len(said.lines) == 4
    assert secret not in said.out + said.err
    assert "looks like a secret (not shown); expected the name of an environment variable" in said.out
    assert "takes the name of the environment variable that holds it" in said.out


@pytest.mark.parametrize(
    ("key", "hint"), [("model", "it belongs to the agent"), ("system_prompt", "did you mean 'instructions'?")]
)
def test_keys_of_other_tools(moot: Moot, tmp_path: Path, key: str, hint: str) -> None:
    """A key that other tools have gets the key of Moot as its hint."""
    file = tmp_path / "team.yaml"
    file.write_text(
        "moot: 1\nname: x\nmembers:\n  - {id: ann, kind: human}\n"
        f"  - {{id: bob, kind: ai, {key}: x, agent: {{type: script}}}}\n"
    )
    assert hint in moot("validate", str(file)).out


LACKING = """\
moot: 1
name: lacking
members:
  - {id: ann, kind: human}
  - id: bob
    kind: ai
    agent: {type: cli, command: [no-such-program]}
  - {id: carol, kind: ai, agent: {type: python, call: "nosuch:fn"}}
  - {id: dan, kind: ai, agent: {type: llm, model: gpt-5-mini}}
  - {id: eve, kind: ai, agent: {type: python, call: "own:fn"}}
"""


def test_what_is_missing_here_is_a_warning(moot: Moot, tmp_path: Path) -> None:
    """Programs, modules and providers that this machine lacks are named with their line; the file is valid: exit 0."""
    file = tmp_path / "team.yaml"
    file.write_text(LACKING)
    (tmp_path / "own.py").write_text("raise SystemExit('it was imported')")
    said = moot("validate", str(file))
    assert said.code == 0, said.err
    assert said.lines == [
        f"{file}:7: warning: members[1].agent: the program 'no-such-program' was not found; "
        "install it; `moot doctor` says how",
        f"{file}:8: warning: members[2].agent: the module of 'nosuch:fn' was not found; "
        "put it beside the team file, or install it",
        f"{file}:9: warning: members[3].agent: the model names no provider; "
        "write provider:name, such as openai:gpt-5-mini",
        f"{file}: ok, 3 warnings",
    ]
    assert {told["level"] for told in moot("validate", "--json", str(file)).objects} == {"warning"}


def test_a_program_without_a_login_is_a_warning(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A preset is asked for its login by the place where it keeps it; the program is not started."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "team.yaml"
    file.write_text("moot: 1\nname: x\nmembers:\n  - {id: a, kind: human}\n  - {id: b, kind: ai, agent: claude}\n")
    assert "claude is not logged in; run `claude` once and log in" in moot("validate", str(file)).out


def test_several_files_are_checked(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its line; one that is broken is exit 3. Without a name it is ./moot.yaml."""
    monkeypatch.chdir(tmp_path)
    Path("moot.yaml").write_text(Path(CHAT).read_text())
    Path("broken.yaml").write_text("moot: 1\n")
    assert moot("validate").lines == ["moot.yaml: ok"]
    said = moot("validate", "moot.yaml", "broken.yaml")
    assert (said.code, said.lines[0]) == (3, "moot.yaml: ok")
    assert {told["file"] for told in moot("validate", "--json", "moot.yaml", "broken.yaml").objects} == {"broken.yaml"}


def test_a_limit_in_usd_that_cannot_work(moot: Moot, tmp_path: Path) -> None:
    """A member whose cost nobody knows earns a warning that suggests tokens; one with a priced model does not."""
    file = tmp_path / "moot.yaml"
    file.write_text(
        "moot: 1\nname: t\nbudget: {max_cost_usd: 5}\nmembers:\n- {id: ann, kind: human}\n"
        "- {id: gem, kind: ai, agent: {type: llm, model: 'openai:no-such-model'}}\n"
        "- {id: gpt, kind: ai, agent: {type: llm, model: 'openai:gpt-5'}}\n"
    )
    said = moot("validate", str(file))
    (line,) = [line for line in said.lines if "max_cost_usd" in line]
    assert "the cost of gem is not known" in line
    assert "max_tokens" in line
