"""`moot init`: from nothing to a team file that runs."""

import io
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents.cli.cli_agent import CliAgent
from moot.agents.cli.discovery import FoundCli
from moot.agents.cli.presets import find_preset
from moot.cli import init, starter
from moot.cli.starter import TEMPLATES, Starter, fill_names, list_flows, write_team
from moot.config.loading import load_team
from moot.config.workspace import WorkspaceSpec
from moot.core.flows.registry import FLOWS
from tests.cli.command import Moot, names
from tests.runtime.workspaces.repositories import make_repository

NOTHING = [FoundCli(preset=find_preset(name)) for name in ("claude", "codex", "gemini")]


FOUND = [
    FoundCli(preset=find_preset("codex"), path="/bin/codex", version="1"),
    FoundCli(preset=find_preset("claude"), path="/bin/x", version="2", login="file"),
]


@pytest.fixture(autouse=True)
def _empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def find() -> list[FoundCli]:
        return NOTHING

    monkeypatch.setattr(init, "find_clis", find)
    monkeypatch.chdir(tmp_path)
    for name in (*init.MODELS, "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_what_it_writes_runs(moot: Moot, template: str, language: str) -> None:
    """The file validates, the line in its first comment works, every AI answers; no word about keys."""
    said = moot("init", "--template", template, "--language", language)
    assert (said.code, said.lines) == (0, ["moot.yaml"])
    assert "key" not in said.err.lower()
    assert moot("validate", "moot.yaml").code == 0
    first_line = Path("moot.yaml").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert first_line in said.err
    ran = moot("run", "moot.yaml", "--json", "--say", first_line, "--answer", "approve")
    assert ran.code == 0, ran.err
    speakers = {frame["source"].get("member") for frame in ran.objects}
    assert {member.id for member in load_team("moot.yaml").team().members} - {None} <= speakers
    assert not {"turn.failed", "task.failed"} & set(names(ran.objects))


def test_with_nothing_found_it_says_what_to_change(moot: Moot) -> None:
    """The scripted team is written, and the two lines are named that make it a real one."""
    said = moot("init")
    lines = Path("moot.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[13].startswith("    agent: {type: script")
    assert lines[19].startswith("    agent: {type: script")
    assert "change lines 14 and 20 of moot.yaml" in said.err
    lines[13] = lines[19] = "    agent: claude"
    Path("moot.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert moot("validate", "moot.yaml").code == 0
    assert "change line 14 of one/moot.yaml" in moot("init", "one", "--members", "Ann, Bob").err
    assert "change lines 14, 20, 26 and 32 of all/moot.yaml" in moot("init", "all", "--flow", "plan").err
    assert "的第 14、20 行" in moot("init", "zh", "--language", "zh").err


def test_an_old_file_is_left_alone(moot: Moot) -> None:
    """Nothing is overwritten; exit 3 and a sentence."""
    Path("moot.yaml").write_text("mine", encoding="utf-8")
    said = moot("init", "--yes")
    assert said.code == 3
    assert "is there already" in said.err
    assert Path("moot.yaml").read_text(encoding="utf-8") == "mine"


def test_what_is_found_is_offered() -> None:
    """What is logged in comes first and a script last; keys are named, not shown; each of them makes a valid team."""
    offers = init.list_offers(FOUND, {"OPENAI_API_KEY": "secret"})
    assert [offer.name for offer in offers] == ["claude", "OPENAI_API_KEY", "codex", "script"]
    assert "secret" not in str(offers)
    for offer in offers:
        starter = Starter(team="poster", template="pair", language="en", names=("Ann", "Bob"), agents=(offer.agent,))
        Path("team.yaml").write_text(write_team(starter), encoding="utf-8")
        assert load_team("team.yaml").name == "poster"


def test_agents_are_named_one_each_or_one_for_all(moot: Moot) -> None:
    """A preset that is missing here is written with a warning; nonsense and a wrong number are usage errors."""
    said = moot("init", "both", "--agents", "claude,codex")
    assert said.code == 0
    assert "claude was not found here; `moot doctor` says how to get it" in said.err
    team = load_team("both/moot.yaml")
    assert [(member.name, member.agent) for member in team.members[1:]] == [
        ("Claude", CliAgent(preset="claude", permissions="ask")),
        ("Codex", CliAgent(preset="codex")),
    ]
    assert (team.name, team.chat.default, len(team.examples)) == ("both", "claude", 1)
    same = load_team(moot("init", "same", "--agents", "claude").out.strip())
    assert [member.name for member in same.members] == ["You", "Bob", "Carol"]
    said = moot("init", "x", "--agents", "cluade")
    assert (said.code, "did you mean 'claude'?" in said.err) == (2, True)
    assert moot("init", "x", "--agents", "claude,codex,gemini").code == 2
    assert not Path("x").exists()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("template", ["pair", "plan"])
def test_programs_that_edit_get_trees_of_the_repository(
    moot: Moot, tmp_path: Path, template: str, language: str
) -> None:
    """In a repository they may edit, in trees; elsewhere they ask before each change. A script needs neither."""
    make_repository(tmp_path / "repo")
    arguments = ("--template", template, "--language", language, "--agents")
    team = load_team(moot("init", str(tmp_path / "repo" / "new"), *arguments, "claude").out.strip())
    assert team.workspace == WorkspaceSpec(type="worktree")
    assert all(word in str(team.members) for word in {"en": ("change", "tests"), "zh": ("改动", "测试")}[language])
    assert [getattr(member.agent, "permissions", None) for member in team.members].count("edit") == 1
    asking = load_team(moot("init", str(tmp_path / "plain"), *arguments, "claude").out.strip())
    assert asking.workspace is None
    assert [getattr(member.agent, "permissions", None) for member in asking.members].count("ask") == 1
    scripted = load_team(moot("init", str(tmp_path / "repo" / "scripted"), *arguments, "script").out.strip())
    assert scripted.workspace is None


def test_who_must_log_in_first_is_told(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chosen program that nobody has logged in to would fail at its first turn; one that is ready needs no word."""

    async def find() -> list[FoundCli]:
        return FOUND

    monkeypatch.setattr(init, "find_clis", find)
    said = moot("init", "--agents", "claude,codex")
    assert "codex first: run `codex` once and log in, or set " in said.err
    assert "claude first" not in said.err


def test_the_team_has_the_name_of_its_folder(moot: Moot, tmp_path: Path) -> None:
    """What a name cannot have is replaced; Chinese stays."""
    assert load_team(moot("init", "my poster 海报").out.strip()).name == "my-poster-海报"
    moot("init")
    assert load_team("moot.yaml").name == tmp_path.name


@pytest.mark.parametrize("arguments", [(), ("--yes",)])
def test_without_questions_scripts_are_written_and_what_was_found_is_the_example(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """No prompts without a TTY; a team that runs at once, and the line that makes it a real one here."""

    async def find() -> list[FoundCli]:
        return [FoundCli(preset=find_preset("codex"), path="/bin/codex", version="1", login="file")]

    assert "    agent: {type: cli, preset: claude}" in moot("init", "bare", *arguments).err
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    said = moot("init", "key", *arguments)
    assert "found OPENAI_API_KEY, for openai:gpt-5-mini\n" in said.err
    assert '    agent: {type: llm, model: "openai:gpt-5-mini"}\n' in said.err
    monkeypatch.setattr(init, "find_clis", find)
    said = moot("init", "cli", *arguments)
    assert "found codex 1\n" in said.err
    assert "    agent: {type: cli, preset: codex}\n" in said.err
    assert "sk-canary" not in said.out + said.err + Path("cli/moot.yaml").read_text(encoding="utf-8")
    assert moot("run", "cli/moot.yaml", "--say", "[NEXT: Bob] hello").code == 0


def test_a_key_whose_library_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found must also run."""
    monkeypatch.setattr(init, "find_spec", lambda _: None)
    (offer, _) = init.list_offers([], {"OPENAI_API_KEY": "x"})
    assert offer.says == "OPENAI_API_KEY, for openai:gpt-5-mini, once you `pip install 'moot[llm]'`"


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str, clis: Sequence[FoundCli] = FOUND, **options: str) -> Starter:
    """What `moot init` makes of these answers at a terminal."""
    chosen = Namespace(**{"folder": ".", "template": None, "flow": None, "language": "en", "members": None, **options})
    chosen.agents = None
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return init.choose(chosen, init.list_offers(clis, {}, chosen.language), is_asked=True)


def test_three_answers_make_a_team_of_claude_and_codex(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of team, then who plays each AI; members are called after the programs that play them."""
    starter = answer(monkeypatch, "1", "claude", "2")
    assert starter.names == ("You", "Claude", "Codex")
    assert starter.agents == ("{type: cli, preset: claude}", "{type: cli, preset: codex}")


def test_enter_takes_what_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each AI gets another agent that is logged in, as far as there are some; without any it is a script."""
    both = [replace(cli, login="file") for cli in FOUND]
    assert answer(monkeypatch, "", "", "", clis=both).names == ("You", "Codex", "Claude")
    assert answer(monkeypatch, "", "", "").agents == ("{type: cli, preset: claude}",) * 2
    nobody = [replace(cli, login="") for cli in FOUND]
    starter = answer(monkeypatch, "", "", "", clis=nobody)
    assert (starter.agents, starter.names) == ((None, None), ("You", "Bob", "Carol"))


def test_questions_are_asked_in_the_language_of_the_team(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was found, what is missing and who plays what, in Chinese from the first word; the choice is shown once."""

    async def find() -> list[FoundCli]:
        return FOUND

    answer(monkeypatch, "2", "", "", "", "", language="zh")
    asked = capsys.readouterr().err
    assert asked.count("  3  脚本：不需要密钥，也不需要网络\n") == 1
    assert "  2  codex 1，尚未登录\n" in asked
    assert "谁来扮演 小诺（规划）？ [1]: 谁来扮演 小本（执行）？ [1]: " in asked
    monkeypatch.setattr(init, "find_clis", find)
    assert "找到 claude 2\n" in moot("init", "zh", "--language", "zh").err
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    said = moot("init", "here", "--agents", "codex,gemini").err
    assert "codex 要先：运行一次 `codex` 并登录，或设置 CODEX_API_KEY\n" in said
    assert "这里没有找到 gemini" in said


def test_nonsense_is_asked_again(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`9`, `no`, `1,2` are no answers; nothing is chosen because of them."""
    starter = answer(monkeypatch, "9", "no", "pair", "1,2", "xyz", "codex", "3")
    assert starter.agents == ("{type: cli, preset: codex}", None)
    assert capsys.readouterr().err.count("Answer with a number from 1 to") == 4


def test_names_are_filled_up() -> None:
    """A chat needs one AI; a plan has its four parts, and more AIs are more workers."""
    assert fill_names("pair", "en", ["Ann"]) == ("Ann", "Bob")
    assert fill_names("plan", "en", ["Ann", "Bo"]) == ("Ann", "Bo", "Nora", "Ben", "Iris")
    assert len(fill_names("plan", "en", ["A", "B", "C", "D", "E", "F"])) == 6


def test_only_flows_with_a_template_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow without a template can be used in a team file, but `moot init` has nothing to write for it."""
    monkeypatch.setattr(starter, "FLOWS", {"relay": None, **dict.fromkeys(FLOWS)})
    assert list_flows() == list(FLOWS)
