"""What Moot says to people: both languages, the same parameters, the exact sentences of the seeds."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from msgspec.structs import replace

import moot.core
from moot.core.events import MessagePosted, NoticePosted, RoutingDecided, StepAsked
from moot.core.notices import CATALOGUE, render, show
from moot.core.plan.events import TaskFailed
from moot.core.queue_line import queue_line
from moot.core.team import Language
from moot.testing.scenario import given
from tests.core.teams import make_chat_team

CORE = Path(moot.core.__file__).parent


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_code_speaks_both_languages(code: str) -> None:
    """Spec 2 notices: zh and en, neither empty, neither a copy of the other."""
    texts = CATALOGUE[code]
    assert set(texts) == {"zh", "en"}
    assert all(text.strip() for text in texts.values())
    assert texts["zh"] != texts["en"]


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_both_languages_tell_the_same_facts(code: str) -> None:
    """Spec 2 notices: the same parameters in both; only the seed's Chinese sentence leaves the names out."""
    zh, en = placeholders(CATALOGUE[code]["zh"]), placeholders(CATALOGUE[code]["en"])
    assert zh == (en - {"plain_names"} if code == "unresolved" else en)


def codes_in_source() -> Iterator[tuple[str, str]]:
    """Every code that core raises or posts, with the file that does."""
    for path in sorted(CORE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            said: ast.expr | None = None
            if node.func.id == "Refused":
                said = node.args[0]
            if node.func.id == "NoticePosted":
                said = next(word.value for word in node.keywords if word.arg == "code")
            if isinstance(said, ast.Constant):  # else it is passed on from one of these
                yield path.name, str(said.value)


def test_every_code_in_use_is_in_the_catalogue() -> None:
    """Spec 5 errors: no refusal and no notice without its sentences."""
    used = list(codes_in_source())
    assert len(used) > 25
    assert [(file, code) for file, code in used if code not in CATALOGUE] == []


@pytest.mark.parametrize(
    ("notice", "zh", "en"),
    [
        (
            NoticePosted(code="names_skipped", names=("x",)),
            "⚠️ 'x' 不在当前团队中，已跳过",
            "⚠️ 'x' is not in this team, skipped",
        ),
        (
            NoticePosted(code="unresolved", names=("x",), available=("Alice", "Bob")),
            "❌ 无法解析任何目标。可用成员：Alice, Bob",
            "❌ Cannot resolve [NEXT:x]. Available members: Alice, Bob",
        ),
        (
            NoticePosted(code="agent_timeout", who="X", minutes=30.0),
            "Agent X 在 30 分钟后超时",
            "Agent X timed out after 30 minutes",
        ),
        (
            NoticePosted(code="agent_error", who="X", detail="no key"),
            "Agent X 执行出错：no key",
            "Agent X encountered an error: no key",
        ),
    ],
)
def test_the_sentences_of_the_seed(notice: NoticePosted, zh: str, en: str) -> None:
    """Seed 001 §7, §9.3: word for word."""
    assert (show(notice, "zh"), show(notice, "en")) == (zh, en)


def test_the_sentence_existing_clients_know() -> None:
    """Spec 5 errors: `Message content cannot be empty` is kept."""
    assert render("empty_message", "en").startswith("Message content cannot be empty")


def test_the_status_is_told_in_the_language_of_the_reader() -> None:
    """Spec 2 language: no word of the machine's in the middle of a Chinese sentence."""
    told = NoticePosted(code="status", detail="active (Bob ⏳)", who="-", limit=1)
    assert show(told, "zh") == "状态：进行中 (Bob ⏳) · 等待：- · AI 连续轮数：1"
    assert show(told, "en") == "Status: active (Bob ⏳) · waiting for: - · AI turns in a row: 1"


def test_half_minutes_are_told_as_such() -> None:
    """Seed 001 §7: N minutes, without digits that say nothing."""
    assert render("agent_timeout", "en", who="X", minutes=0.5) == "Agent X timed out after 0.5 minutes"


@pytest.mark.parametrize("name", ["{who}", "{0}", "{names!r}", "%s", "}{"])
def test_names_are_never_templates(name: str) -> None:
    """Untrusted text: braces in a name are shown as they are."""
    assert render("names_skipped", "en", names=(name,)) == f"⚠️ '{name}' is not in this team, skipped"
    assert name in render("agent_error", "en", who=name, detail=name)


def test_a_question_of_moot_is_shown_and_other_facts_are_not() -> None:
    """Spec 5 frames: `show_content` is for notices and Moot's own questions; messages speak for themselves."""
    question = StepAsked(
        step_id="s", kind="decision", options=(), expires_at=None, default=None, code="confirm_queue_clear"
    )
    assert (show(question, "zh"), show(question, "en")) == ("清空队列？", "Clear the queue?")
    foreign = StepAsked(step_id="s", kind="ask_user", options=(), expires_at=None, default=None)
    assert show(foreign, "en") is None
    assert show(MessagePosted(member="a", text="hi"), "en") is None


@pytest.mark.parametrize("code", [code for code in CATALOGUE if code.startswith("route_")])
@pytest.mark.parametrize("logged", ["zh", "en"])
def test_a_decision_is_told_in_the_language_of_the_reader(code: str, logged: Language) -> None:
    """Spec 5 frames: `show_content` is in the connection's language, whatever the session's was."""
    decided = RoutingDecided(confidence=0.9, route="new_task", user_message=render(code, logged))
    assert (show(decided, "zh"), show(decided, "en")) == (render(code, "zh"), render(code, "en"))
    own = RoutingDecided(confidence=0.9, route="wait_user_decision", user_message="Which of the two?")
    assert show(own, "zh") == "Which of the two?"


@pytest.mark.parametrize(
    ("error_type", "message", "zh", "en"),
    [
        ("timeout", "", "超时", "it took too long"),
        ("timeout", "no word for 60 s", "no word for 60 s", "no word for 60 s"),
        ("validation", "", "结果不是要求的格式", "the result is not of the form that was asked for"),
        ("made_up", "", "made_up", "made_up"),
    ],
)
def test_a_failure_is_told_in_the_language_of_the_reader(error_type: str, message: str, zh: str, en: str) -> None:
    """Style: what Moot says is a code, rendered when it is shown; an agent's own words stay as they are."""
    failed = TaskFailed(task_id="a", dispatch_id="d1", member="bob", attempt=1, error_type=error_type, message=message)
    assert (show(failed, "zh"), show(failed, "en")) == (zh, en)
    asked = StepAsked(
        step_id="s", kind="decision", options=(), expires_at=None, default=None, code="task_failed", who="A task"
    )
    asked = replace(asked, error_type=error_type, detail=message)
    assert show(asked, "zh") == f"任务“A task”失败（{error_type}）：{zh}。怎么办？"


@pytest.mark.parametrize(
    ("viewer", "language", "line"),
    [
        (None, "en", "📋 Queue: [Bob ⏳] → Carol → Alice"),
        ("alice", "en", "📋 Queue: [Bob ⏳] → Carol → You"),
        ("alice", "zh", "📋 队列: [Bob ⏳] → Carol → 你"),
    ],
)
def test_the_queue_in_a_line(viewer: str | None, language: Language, line: str) -> None:
    """Seed 001 §9.2: who executes is marked, the viewer is "You"."""
    scenario = given(make_chat_team(language=language)).says("[NEXT: bob, carol, alice] go")
    assert queue_line(scenario.state, viewer) == line


def test_a_queue_of_people_who_wait() -> None:
    """Seed 001 §9.2: with nobody executing there is no mark; with nobody at all there is no line."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol, alice] go").fails()
    assert queue_line(scenario.state, "alice") == "📋 Queue: Carol → You"
    assert queue_line(given(make_chat_team()).state) is None
