"""Uses of tools as people see them: one line for all steps of one use, the same in the terminal and in exports."""

from moot.core.codec import Event, Head, stamp
from moot.core.session.commands import CompleteTurn, Post, ReportStep
from moot.core.session.events import TurnStepped
from moot.core.session.tool_use import ToolUse
from moot.telling.markdown import to_markdown
from moot.telling.page import to_html
from moot.telling.tool_calls import ToolCalls, may_join, tell_calls
from moot.testing import Scenario
from tests.core.teams import make_chat_team

DIFF = "--- calc.py\n+++ calc.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c"


def step(tool: ToolUse, **fields: str) -> TurnStepped:
    return TurnStepped(turn_id="t1", member="bob", tool=tool, **fields)


def read(number: int, status: str = "completed") -> ToolUse:
    return ToolUse(id=f"r{number}", kind="read", title="Read", paths=(f"{number}.py",), status=status)  # type: ignore[arg-type]


def test_the_steps_of_one_use_are_one_call() -> None:
    """The end of a use takes the place of its begin; how long a command took is told."""
    calls = ToolCalls()
    test = {"id": "1", "kind": "execute", "title": "make test"}
    began = calls.take(step(ToolUse(**test, status="in_progress")), "2026-01-01T00:00:00.000Z")  # type: ignore[arg-type]
    assert began
    assert tell_calls((began,), "en") == "▶ make test"
    failed = ToolUse(**test, status="failed", exit=2)  # type: ignore[arg-type]
    ended = calls.take(step(failed, observation="1 failed"), "2026-01-01T00:00:04.100Z")
    assert ended
    assert (ended.key, ended.output) == (began.key, "1 failed")
    assert tell_calls((ended,), "en") == "▶ make test ✗ exit 2 · 4.1 s"
    assert calls.take(TurnStepped(turn_id="t1", member="bob", thought="hm"), "") is None


def test_files_read_in_a_row_are_one_line() -> None:
    """Reads of one turn that succeeded are told together; other tools and other turns are not."""
    calls = ToolCalls()
    first, second, third = [calls.take(step(read(number)), "2026-01-01T00:00:00Z") for number in (1, 2, 3)]
    assert first and second and third  # noqa: PT018 - three times the same
    assert may_join(first, second)
    assert tell_calls((first, second, third), "en") == "◎ Read 3 files"
    assert tell_calls((first, second, third), "zh") == "◎ 已读取 3 个文件"
    failed = calls.take(step(read(4, "failed")), "2026-01-01T00:00:00Z")
    assert failed
    assert not may_join(third, failed)


def make_log() -> list[Event]:
    edit = ToolUse(id="e", kind="edit", title="Edit", paths=("calc.py",), status="completed", added=1, removed=1)
    scenario = Scenario(make_chat_team()).when(Post(text="[NEXT: bob] hi", by="alice"))
    for tool in (read(1), read(2), read(3)):
        scenario.when(ReportStep(turn_id="t1", tool=tool))
    scenario.when(ReportStep(turn_id="t1", tool=edit, diff=DIFF))
    scenario.when(CompleteTurn(turn_id="t1", text="Done. <b>"))
    return stamp(scenario.state.team, "s_1", Head(), scenario.facts, "2026-01-01T00:00:00.000Z")


def test_exports_show_the_same_lines() -> None:
    """Markdown and HTML have one line for files read in a row and one for an edit, with its diff below."""
    log = make_log()
    text, page = to_markdown(log), to_html(log, "en")
    assert "> Bob: ◎ Read 3 files\n\n> Bob: ✎ Edited calc.py +1 −1\n\n```diff\n--- calc.py" in text
    assert "<details><summary>Bob: ◎ Read 3 files</summary><pre>1.py\n2.py\n3.py</pre></details>" in page
    assert "<summary>Bob: ✎ Edited calc.py +1 −1</summary><pre>--- calc.py" in page
    assert text.index("✎ Edited") < text.index("Done.")
