"""`moot init`: from nothing to a team file that runs."""

import io
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from moot.agents.cli.discovery import FoundCli
from moot.agents.cli.presets import find_preset
from moot.cli import init
from moot.cli.starter import Starter, fill_names, write_team
from moot.config.loading import load_team
from tests.cli.command import Moot, names

NOTHING = [FoundCli(preset=find_preset(name)) for name in ("claude", "codex", "gemini")]


@pytest.fixture(autouse=True)
def _empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def find() -> list[FoundCli]:
        return NOTHING

    monkeypatch.setattr(init, "find_clis", find)
    monkeypatch.chdir(tmp_path)
    for name in (*init.MODELS, "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("flow", ["chat", "plan", "supervisor"])
def test_what_it_writes_runs(moot: Moot, flow: str, language: str) -> None:
    """The file validates, the line in its first comment works, every AI answers; no word about keys."""
    said = moot("init", "--flow", flow, "--language", language)
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
    assert lines[12].startswith("    agent: {type: script")
    assert lines[18].startswith("    agent: {type: script")
    assert "change lines 13 and 19 of moot.yaml" in said.err
    lines[12] = lines[18] = "    agent: {type: cli, preset: claude}"
    Path("moot.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert moot("validate", "moot.yaml").code == 0
    assert "change line 13 of one/moot.yaml" in moot("init", "one", "--members", "Ann, Bob").err
    assert "change lines 13, 19, 25 and 31 of all/moot.yaml" in moot("init", "all", "--flow", "plan").err
    assert "的第 13、19 行" in moot("init", "zh", "--language", "zh").err


def test_an_old_file_is_left_alone(moot: Moot) -> None:
    """Nothing is overwritten; exit 3 and a sentence."""
    Path("moot.yaml").write_text("mine", encoding="utf-8")
    said = moot("init", "--yes")
    assert said.code == 3
    assert "is there already" in said.err
    assert Path("moot.yaml").read_text(encoding="utf-8") == "mine"


def test_what_is_found_is_offered(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLIs and key names are found and can be chosen; what is not there is refused with those that are."""
    found = [
        FoundCli(preset=find_preset("codex"), path="/bin/codex", version="1"),
        FoundCli(preset=find_preset("claude"), path="/bin/x", login="file"),
    ]
    offers = init.list_offers(found, {"OPENAI_API_KEY": "secret"})
    assert [offer.name for offer in offers] == ["script", "claude", "codex", "OPENAI_API_KEY"]
    assert "secret" not in str(offers)
    for offer in offers:
        text = write_team(Starter(flow="chat", language="en", names=("Ann", "Bob"), agent=offer.agent))
        Path("team.yaml").write_text(text, encoding="utf-8")
        assert load_team("team.yaml").name == "my-team"
    assert "what there is: script;" in moot("init", "--agents", "claude").err


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
    (_, offer) = init.list_offers([], {"OPENAI_API_KEY": "x"})
    assert offer.says == "OPENAI_API_KEY, for openai:gpt-5-mini, once you `pip install 'moot[llm]'`"


def test_three_questions_are_asked_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Language, who is in the team, who plays the AIs; Enter takes what is offered."""
    options = Namespace(flow="chat", language=None, members=None, agents=None)
    offers = init.list_offers([FoundCli(preset=find_preset("claude"), path="/bin/x", version="2", login="file")], {})
    monkeypatch.setattr(sys, "stdin", io.StringIO("zh\n王芳，小李\n\n"))
    starter = init.choose(options, offers, None, is_asked=True)
    assert (starter.language, starter.names, starter.agent) == ("zh", ("王芳", "小李"), "{type: cli, preset: claude}")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\n0\n"))
    starter = init.choose(options, offers, None, is_asked=True)
    assert (starter.language, starter.names, starter.agent) == ("en", ("You", "Bob", "Carol"), None)


def test_names_are_filled_up() -> None:
    """A chat needs one AI; a plan has its four parts, and more AIs are more workers."""
    assert fill_names("chat", "en", ["Ann"]) == ("Ann", "Bob")
    assert fill_names("plan", "en", ["Ann", "Bo"]) == ("Ann", "Bo", "Nora", "Ben", "Iris")
    assert len(fill_names("plan", "en", ["A", "B", "C", "D", "E", "F"])) == 6
