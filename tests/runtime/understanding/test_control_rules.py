"""`rules`: what stops, pauses, resumes or asks about the work; one table of messages a rule."""

import asyncio

import pytest

from moot.core.intake.intent import SemanticInput, SystemState
from moot.runtime.understanding.rules.understand import RulesUnderstander
from tests.runtime.understanding.messages import read, relation

CONTROL = {
    "pause": [
        "pause",
        "hold on a sec",
        "wait",
        "ok wait a minute",
        "先停一下",
        "等等",
        "暂停任务",
        "freeze all agents",
        "let me look at it before you continue",
        "put this on hold",
        "stop talking for a second",
        "先把手头的停下来",
        "先什么都别动",
        "等我想想你再继续",
        "这个先往后放",
    ],
    "cancel": [
        "stop",
        "abort",
        "kill it",
        "cancel everything",
        "abort the migration now",
        "hey computer cancel it",
        "how do i stop this",
        "don't say another word",
        "refrain from carrying out the current task",
        "停！",
        "任务作废",
        "全部停掉",
    ],
    "status_query": ["status?", "how far are you", "are you stuck?", "进度怎么样了", "还要多久？", "跑完了吗"],
}


@pytest.mark.parametrize(("control", "text"), [(control, text) for control, texts in CONTROL.items() for text in texts])
def test_control_is_about_the_run(control: str, text: str) -> None:
    """Pause, cancel and status; clear cases are certain enough to act."""
    analysis = read(text)
    assert (analysis.task_relation.type, analysis.control_action) == ("control_instruction", control)
    assert analysis.task_relation.confidence >= 0.75
    assert analysis.assessment is None
    assert analysis.normalized_intent.scope == "meta_control"


@pytest.mark.parametrize(
    "text",
    [
        "cancel the emoji",
        "stop using tabs",
        "stop the server on port 80",
        "kill the verbose logging",
        "取消验证码",
        "别用代理了",
    ],
)
def test_a_control_word_with_an_object_of_the_work_is_a_detail(text: str) -> None:
    """ "stop using tabs", "cancel the emoji" are minor."""
    assert relation(text) == "minor_change"


@pytest.mark.parametrize(
    "text",
    [
        "don't stop",
        "no need to stop",
        "do not cancel it",
        "don't start over",
        "no need to plan again, carry on",
        "先别停",
        "不用停",
        "不要重新规划",
        "别从头来了",
    ],
)
def test_a_control_that_is_refused_changes_nothing(text: str) -> None:
    """Negation turns a control into its opposite."""
    assert relation(text) == "no_change"


@pytest.mark.parametrize("text", ["continue", "go on", "ok keep going", "继续", "接着做"])
def test_going_on_depends_on_the_state(text: str) -> None:
    """paused → control (resume); running → no change."""
    assert read(text, "paused").control_action == "resume"
    assert relation(text, "execution") == "no_change"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("forget that, write me a poem instead", "different_task"),
        ("算了，给我写首诗吧", "different_task"),
        ("forget MySQL, import from Oracle instead", "major_change"),
        ("never mind, it works now", "no_change"),
        ("stop, use the staging server", "minor_change"),
    ],
)
def test_what_follows_a_cancel_decides(text: str, expected: str) -> None:
    """A new goal after a cancel is different; a change is a change."""
    assert relation(text) == expected


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("tell me how far along you are", "status_query"),
        ("can you give me a rough idea of when this will be finished?", "status_query"),
        ("don't continue yet, i want to look at the tables first", "pause"),
        ("let me interrupt you there", "pause"),
        ("we can bury this one", "cancel"),
        ("到什么程度了？", "status_query"),
        ("中止吧，服务器要下线了", "cancel"),
        ("freeze, don't touch anything for the next hour", "pause"),
        ("at what percentage are you now?", "status_query"),
        ("don't copy anything yet", "pause"),
        ("is it still copying or did it die?", "status_query"),
        ("别写了，用不上了", "cancel"),
        ("麻烦暂停一下，文件要更新", "pause"),
    ],
)
def test_an_indirect_control_is_a_control(text: str, control: str) -> None:
    """A request or a question around a control, or the reason for it, does not hide it."""
    assert read(text).control_action == control


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("pls pause, the editor in chief wants a word first", "pause"),
        ("先等等，我还不确定要不要换库", "pause"),
        ("停一下哈，品牌方要先看看", "pause"),
        ("no migration. cancel", "cancel"),
        ("法务说不能爬，赶紧停掉", "cancel"),
    ],
)
def test_a_reason_beside_a_control_asks_for_nothing(text: str, control: str) -> None:
    """Who has to see it first, what is not decided yet, and a goal that is off say why; the control stays certain."""
    analysis = read(text)
    assert (analysis.control_action, analysis.task_relation.confidence) == (control, 0.88)


def test_coming_back_resumes_paused_work() -> None:
    """ "I'm done" ends nothing if the person goes on with the work."""
    assert read("ok i'm done, continue", "paused").control_action == "resume"
    assert read("i'm back", "paused").control_action == "resume"
    assert relation("i'm back") == "no_change"


def test_commands_come_before_words() -> None:
    """Explicit markers and slash commands always win."""
    given = SemanticInput(raw_input="/pause", system_state=SystemState(workflow_status="execution"))
    understood = asyncio.run(RulesUnderstander().understand(given))
    assert (understood.analysis.control_action, understood.analysis.task_relation.confidence) == ("pause", 1.0)
