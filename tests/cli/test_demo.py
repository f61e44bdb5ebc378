"""`moot demo`: the first thing people try."""

import re

import pytest

from moot.config.loading import list_built_in_teams, load_team
from moot.runtime.clock import SystemClock
from tests.cli.command import Moot

PAUSE_SHARE = 0.2  # of the pauses that the actors make for effect; their order stays


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = SystemClock.sleep

    async def shorter(self: SystemClock, delay_s: float) -> None:
        await sleep(self, delay_s * PAUSE_SHARE)

    monkeypatch.setattr(SystemClock, "sleep", shorter)


@pytest.mark.parametrize("arguments", [["--plain"], ["--flow", "chat", "--plain"]])
def test_chat_plays_to_its_end(arguments: list[str], moot: Moot) -> None:
    """Unattended, exit 0: every AI speaks, Dora is skipped with a notice, the human ends it; nothing is kept."""
    said = moot("demo", *arguments)
    assert said.code == 0
    assert said.lines[0] == "— Demo · You, Ada, Bob, Carol"
    assert said.lines[-1].startswith("■")
    assert "⚠️ 'Dora' is not in this team, skipped" in said.lines
    assert any(line.startswith("📋 Queue: [Bob ⏳] → Carol") for line in said.lines)
    for speaker in ("You → Ada: ", "Ada → Bob, Carol: ", "Bob: ", "Carol → Bob: "):
        assert any(line.startswith(speaker) for line in said.lines)
    assert said.err.count("»") == 3
    assert not moot.data.exists()


# each as it begins; others may stand between them
PLAN_STORY = [
    "You: Please prepare",
    "◦ Understood as a new task",
    "→ A new task begins",
    "▸ Nora (moot-orchestrator.planner) is making a plan",
    "📋 The plan",
    "  3. Write the programme (after 1, 2)",
    "? This plan has 3 tasks",
    "✓ You changed the plan and approved it:",
    "  3. Write the programme in large print (after 1, 2)",
    "  ⇢ Dispatched to moot-executor.executor: Find three people who read",
    "  ⇠ Ben accepts: Find three people who read",
    "▶ Ben starts: Find three people who read",
    "▶ Mia starts: Choose rooms and times",
    "◦ Understood as a small change",
    "✎ The plan is adjusted:",
    "✗ Mia: Choose rooms and times: it took too long",
    "↻ Retry 1/3 in 0.4 s: Choose rooms and times",
    "✓ Retry 1 worked: Choose rooms and times",
    "▶ Ben starts: Write the programme in large print",
    "◦ Understood as another task",
    "⏭ Postponed until the current work is done",
    "✗ Iris (moot-orchestrator.reviewer) sends back: Write the programme in large print",
    "▸ Leo (moot-orchestrator.aggregator) puts the results together",
    "■ All tasks are done",
    "Leo: The reading night stands.",
    "⏭ Starting the postponed work",
    "✓ You approved the plan",
    "Leo: The letter is ready",
    "■ The session is over",
]


def test_plan_plays_to_its_end(moot: Moot) -> None:
    """Understanding, route, plan of three, edit, approve, two in parallel, a timeout, retry 1/3,
    a patch while work runs, another task put off, review, aggregate; a caption at each step."""
    said = moot("demo", "--flow", "plan", "--plain")
    assert said.code == 0
    lines = iter(said.lines)
    assert [start for start in PLAN_STORY if not any(line.startswith(start) for line in lines)] == []
    assert said.err.count("»") == 9
    assert not moot.data.exists()


SUPERVISOR_STORY = [
    "You: A post about growing herbs",
    "Supervisor: We know the subject but not the reader.",
    "→ Brief: ",
    "? Who should read the post?",
    "✓ You: Beginners",
    "  ✎ Brief: creativeBrief, briefComplete",
    "→ Research: ",
    "  ⚙ Research: search_notes",
    "  ✎ Research: evidencePack, bodyBlocks",
    "↪ What Review needs is missing: Writer acts first",
    "→ Writer: ",
    "  ✎ Writer: generatedContent",
    "→ Layout: ",
    "→ Picture plan: ",
    "→ Pictures: ",
    '  ⚙ Pictures: generate_image {"plan":"cover"',
    '    ⇒ {"asset_id":"asset-cover-1"',
    '  ⚙ Pictures: generate_image {"plan":"watering"',
    "  ✎ Pictures: generatedImageAssetIds",
    "→ Review: ",
    "✗ The review does not approve (1); the scores point at Writer",
    "→ Writer: ",
    "→ Review: ",
    "✓ The review approves",
    "✓ Done",
    "    Five pots, one Saturday",
    "■ The session is over",
]


def test_supervisor_plays_to_its_end(moot: Moot) -> None:
    """Brief with a question, evidence, a corrected choice, layout, pictures with tools, a
    review that fails on one axis, back to the writer, a review that approves, the end; a caption at each step."""
    said = moot("demo", "--flow", "supervisor", "--plain")
    assert said.code == 0
    lines = iter(said.lines)
    assert [start for start in SUPERVISOR_STORY if not any(line.startswith(start) for line in lines)] == []
    assert said.err.count("»") == 6
    assert not moot.data.exists()


@pytest.mark.parametrize("flow", ["chat", "plan", "supervisor"])
@pytest.mark.parametrize("choice", ["option", "locale"])
def test_a_chinese_demo(moot: Moot, monkeypatch: pytest.MonkeyPatch, flow: str, choice: str) -> None:
    """By --language or by the locale: captions, members and texts are Chinese, and it plays to its end."""
    if choice == "locale":
        monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    said = moot("demo", "--plain", "--flow", flow, *(("--language", "zh") if choice == "option" else ()))
    assert said.code == 0, said.err
    assert "■ 会话结束" in said.out
    assert "会话由人结束，AI 不能。" in said.err
    assert not re.search(r"\b(Waiting|Nora|Bob|Carol|Writer)\b", said.out)


def test_built_in_teams_follow_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name is the same team in the reader's language; each says that it is scripted, and nobody is Claude."""
    for locale, language in (("zh_CN.UTF-8", "zh"), ("en_GB.UTF-8", "en")):
        monkeypatch.setenv("LC_ALL", locale)
        for name in ("chat-demo", "plan-demo", "content-studio-demo"):
            team = load_team(name)
            assert (team.name, team.language, len(team.examples)) == (name, language, 1)
            assert ("脚本" if language == "zh" else "script") in team.description
            assert "Claude" not in {member.name for member in team.members}
    assert load_team("chat-demo.zh").language == "zh"
    assert not any("." in name for name in list_built_in_teams())
