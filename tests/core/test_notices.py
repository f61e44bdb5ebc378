"""What Moot says to people: both languages, the same parameters, the exact sentences."""

import pytest
from msgspec.structs import replace

from moot.core.flows.plan.plan_events import TaskFailed
from moot.core.flows.registry import show
from moot.core.machines.task import TaskState
from moot.core.session.events import MessagePosted, NoticePosted, RoutingDecided, StepAsked
from moot.core.session.notices import queue_line
from moot.core.session.team import Language
from moot.core.texts import TEXTS, render
from moot.testing.scenario import given
from tests.core.teams import make_chat_team


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
def test_the_sentences_of_notices(notice: NoticePosted, zh: str, en: str) -> None:
    """Word for word."""
    assert (show(notice, "zh"), show(notice, "en")) == (zh, en)


def test_the_sentence_existing_clients_know() -> None:
    """`Message content cannot be empty` is kept."""
    assert render("empty_message", "en").startswith("Message content cannot be empty")


def test_the_status_is_told_in_the_language_of_the_reader() -> None:
    """No word of the machine's in the middle of a Chinese sentence."""
    told = NoticePosted(code="status", detail="active (Bob ⏳)", who="-", limit=1)
    assert show(told, "zh") == "状态：进行中 (Bob ⏳) · 等待：- · AI 连续轮数：1"
    assert show(told, "en") == "Status: active (Bob ⏳) · waiting for: - · AI turns in a row: 1"


def test_half_minutes_are_told_as_such() -> None:
    """N minutes, without digits that say nothing."""
    assert render("agent_timeout", "en", who="X", minutes=0.5) == "Agent X timed out after 0.5 minutes"


@pytest.mark.parametrize("name", ["{who}", "{0}", "{names!r}", "%s", "}{"])
def test_names_are_never_templates(name: str) -> None:
    """Untrusted text: braces in a name are shown as they are."""
    assert render("names_skipped", "en", names=(name,)) == f"⚠️ '{name}' is not in this team, skipped"
    assert name in render("agent_error", "en", who=name, detail=name)


def test_questions_and_inputs_are_shown_and_other_facts_are_not() -> None:
    """`show_content` is for notices, Moot's own questions and inputs; messages of AIs speak for themselves."""
    question = StepAsked(
        step_id="s", kind="decision", options=(), expires_at=None, default=None, code="confirm_queue_clear"
    )
    assert (show(question, "zh"), show(question, "en")) == ("清空队列？", "Clear the queue?")
    foreign = StepAsked(step_id="s", kind="ask_user", options=(), expires_at=None, default=None)
    assert show(foreign, "en") is None
    said = MessagePosted(member="a", text="hi")
    assert (show(said, "zh"), show(said, "en")) == ("收到用户输入", "Input received")
    assert show(MessagePosted(member="b", text="hi", turn_id="t1"), "en") is None


def test_a_supervisors_decision_is_not_shown() -> None:
    """Frames: a message with a decision is shown without it; other messages are left alone."""
    text = 'Bob knows it.\n```json\n{"next_agent": "w", "extra": {"why": 1}}\n```'
    assert show(MessagePosted(member="a", text=text, turn_id="t1", has_decision=True), "en") == "Bob knows it."
    assert show(MessagePosted(member="a", text=text, turn_id="t1"), "en") is None


@pytest.mark.parametrize("code", [code for code in TEXTS["en"] if code.startswith("route_")])
@pytest.mark.parametrize("logged", ["zh", "en"])
def test_a_decision_is_told_in_the_language_of_the_reader(code: str, logged: Language) -> None:
    """`show_content` is in the connection's language, whatever the session's was."""
    decided = RoutingDecided(confidence=0.9, route="new_task", user_message=render(code, logged), message_code=code)
    assert (show(decided, "zh"), show(decided, "en")) == (render(code, "zh"), render(code, "en"))
    own = RoutingDecided(confidence=0.9, route="wait_user_decision", user_message="Which of the two?")
    assert show(own, "zh") == "Which of the two?"


@pytest.mark.parametrize(
    ("error_type", "kind", "message", "zh", "en"),
    [
        ("timeout", "超时", "", "超时", "it took too long"),
        ("timeout", "超时", "no word for 60 s", "no word for 60 s", "no word for 60 s"),
        ("validation", "格式不符", "", "结果不是要求的格式", "the result does not have the requested format"),
        ("made_up", "made_up", "", "made_up", "made_up"),
    ],
)
def test_a_failure_is_told_in_the_language_of_the_reader(
    error_type: str, kind: str, message: str, zh: str, en: str
) -> None:
    """Style: what Moot says is a code, rendered when it is shown; an agent's own words stay as they are."""
    failed = TaskFailed(
        task_id="a",
        dispatch_id="d1",
        member="bob",
        attempt=1,
        error_type=error_type,
        message=message,
        state=TaskState.EXECUTION_FAILED,
    )
    assert (show(failed, "zh"), show(failed, "en")) == (f"执行失败：{zh}", f"Failed: {en}")
    asked = StepAsked(
        step_id="s", kind="decision", options=(), expires_at=None, default=None, code="task_failed", who="A task"
    )
    asked = replace(asked, error_type=error_type, detail=message)
    assert show(asked, "zh") == f"任务“A task”失败（{kind}）：{zh}。怎么办？"


@pytest.mark.parametrize(
    ("viewer", "language", "line"),
    [
        (None, "en", "📋 Queue: [Bob ⏳] → Carol → Alice"),
        ("alice", "en", "📋 Queue: [Bob ⏳] → Carol → You"),
        ("alice", "zh", "📋 队列: [Bob ⏳] → Carol → 你"),
    ],
)
def test_the_queue_in_a_line(viewer: str | None, language: Language, line: str) -> None:
    """Who executes is marked, the viewer is "You"."""
    scenario = given(make_chat_team(language=language)).says("[NEXT: bob, carol, alice] go")
    assert queue_line(scenario.state, viewer) == line


def test_a_queue_of_people_who_wait() -> None:
    """With nobody executing there is no mark; with nobody at all there is no line."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol, alice] go").fails()
    assert queue_line(scenario.state, "alice") == "📋 Queue: Carol → You"
    assert queue_line(given(make_chat_team()).state) is None
