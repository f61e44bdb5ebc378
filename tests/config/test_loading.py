import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from moot.agents.cli.cli_agent import CliAgent
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.loading import InvalidTeam, list_built_in_teams, list_problems, load_team
from moot.config.team_file import Understanding
from moot.config.user_locale import find_locale_language
from moot.core.decide import check_team
from moot.core.errors import ConfigError
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.supervisor.supervisor_settings import Condition
from moot.core.session.settings import Budget
from moot.core.session.team import Team, member
from moot.core.session.usage import Usage

GOOD = Path(__file__).parents[1] / "data" / "teams" / "good"
MINIMAL = """
moot: 1
name: minimal
members: [{id: a, kind: human}, {id: b, kind: human}]
"""


def test_a_file_becomes_a_team_of_the_core() -> None:
    """Members keep their order and get their defaults; settings of the flows are the core's own."""
    assert load_team(GOOD / "full.yaml").team() == Team(
        name="product-trio",
        flow="plan",
        language="zh",
        members=(
            member("alice", "human", name="Alice", display_name="爱丽丝", order=7),
            member("claude", "ai", name="Claude", role="planner", position=1),
            member("worker", "ai", role="executor", position=2),
            member("twin", "ai", role="reviewer", position=3),
            member("model", "ai", position=4),
            member("acp", "ai", position=5, edits=True),
            member("code", "ai", position=6),
        ),
        understanding="rules",
        chat=ChatSettings(max_hops=0, history=200, turn_timeout_s=60.0),
        plan=PlanSettings(confirm="never", max_parallel=2, retry=Retry(max_attempts=0, base_delay_s=0.0, cap_s=1.0)),
        budget=Budget(max_tokens=1000, max_cost_usd=1.0, max_turns=5),
    )


def test_agents_and_instructions_of_members() -> None:
    """Every AI has its agent, typed by `type`; humans have none."""
    file = load_team(GOOD / "full.yaml")
    agents = file.agents()
    assert list(agents) == ["claude", "worker", "twin", "model", "acp", "code"]
    assert agents["claude"] == CliAgent(preset="claude", cwd="project", env=("ANTHROPIC_API_KEY",))
    assert agents["model"] == LlmAgent(model="openai:gpt", settings={"temperature": 0.1})
    assert file.member("claude").instructions == "Plan well."
    assert file.plan.retry.max_attempts == 0
    with pytest.raises(KeyError):
        file.member("nobody")


def test_scripts_are_typed() -> None:
    """An entry is text or an object; numbers as task ids count as text."""
    worker = load_team(GOOD / "full.yaml").agents()["worker"]
    assert isinstance(worker, ScriptAgent)
    assert worker.replies == ()
    assert worker.by_task["1"] == ("done", ScriptEntry(nack="busy"))
    assert worker.by_task["b"][2] == ScriptEntry(text="ok", usage=Usage(input_tokens=5, output_tokens=6, cost_usd=0.01))
    assert worker.when_exhausted == "error"


def test_a_supervisor_team_loads() -> None:
    """The supervisor's part takes conditions by word or by value."""
    writer = load_team(GOOD / "supervisor.yaml").supervisor.agents["writer_agent"]
    assert writer.requires_any == (
        Condition(key="creativeBrief", expected="present"),
        Condition(key="briefComplete", expected=True),
    )


def test_a_file_survives_being_written_as_json() -> None:
    """What was loaded, written out as an object, loads to the same."""
    for path in GOOD.iterdir():
        file = load_team(path)
        assert load_team(msgspec.json.decode(msgspec.json.encode(file))) == file


def test_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The language comes from the locale; chat understands markers only, other flows the rules."""
    path = tmp_path / "t.yaml"
    path.write_text(MINIMAL)
    for variable in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert load_team(path).language == "zh"
    monkeypatch.setenv("LC_ALL", "C")
    assert load_team(str(path)).language == find_locale_language() == "en"
    assert load_team(path).understander() == Understanding(type="explicit")
    assert load_team("plan-demo").understander() == Understanding(type="rules")


def test_an_invalid_team_says_everything(tmp_path: Path) -> None:
    """The error carries the problems and reads one per line: file, line, path, sentence."""
    path = tmp_path / "t.yaml"
    path.write_text(MINIMAL + "chat: {max_hop: 1}\nflow: x\n")
    with pytest.raises(InvalidTeam) as caught:
        load_team(path)
    assert str(caught.value).splitlines() == [
        f"{path}:5: chat.max_hop: unknown key 'max_hop'; did you mean 'max_hops'?",
        f"{path}:6: flow: found text 'x', which is not acceptable here; acceptable: chat, plan, supervisor",
    ]
    assert list(caught.value.problems) == list_problems(path)


@pytest.mark.parametrize("name", ["no-such-team", "dir", "nul\0", "x" * 5_000])
def test_nothing_to_read_is_a_clear_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is neither a file nor a built-in team is refused in one short line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir").mkdir()
    with pytest.raises(ConfigError) as caught:
        load_team(name)
    assert not isinstance(caught.value, InvalidTeam)
    assert "team file" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_built_in_teams_are_valid() -> None:
    """Each is found by its name, which is also the file's, meets the rules and needs no program."""
    assert "chat-demo" in list_built_in_teams()
    for name in list_built_in_teams():
        file = load_team(name)
        assert file.name == name
        assert check_team(file.team())
        assert all(isinstance(agent, ScriptAgent | LlmAgent) for agent in file.agents().values())


def test_yaml_is_imported_only_when_used() -> None:
    """Importing the loader, as every command may, does not wait for PyYAML."""
    code = "import sys, moot.config.loading; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
