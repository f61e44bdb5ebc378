"""Steps carry the use of a tool as data: bounded, clean, told in one line, and absent from logs of older versions."""

import msgspec
import pytest

from moot.core import limits
from moot.core.flows.plan.plan_events import PlanStepped, SolverProgressed
from moot.core.session.commands import Post, ReportStep
from moot.core.session.events import TurnStepped
from moot.core.session.tool_lines import tell_tool, transcribe_step
from moot.core.session.tool_use import ToolUse, count_changes, tidy_tool
from moot.core.view import project
from moot.testing import Scenario, plan_given, task
from tests.core.plan_teams import TEAM, solving
from tests.core.teams import make_chat_team, only

DIFF = "--- calc.py\n+++ calc.py\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+-- d\n"
EDIT = ToolUse(
    id="call_1", kind="edit", title="Edit calc.py", paths=("calc.py",), status="completed", added=2, removed=1
)


def begin() -> Scenario:
    return Scenario(make_chat_team()).when(Post(text="[NEXT: bob] hi", by="alice"))


def test_a_step_of_a_turn_carries_its_tool_and_diff() -> None:
    """`turn.step` has the tool as data, and the view shows the last one of each running turn."""
    scenario = begin()
    scenario.when(ReportStep(turn_id="t1", action="Edit: calc.py", tool=EDIT, diff=DIFF))
    (step,) = only(scenario.facts, TurnStepped)
    assert (step.tool, step.diff, step.action) == (EDIT, DIFF, "Edit: calc.py")
    assert project(scenario.state).running[0].tool == EDIT


def test_steps_of_planners_and_executors_carry_it_too() -> None:
    """`plan.step_completed` and `solver.progress` have the same fields; the board shows the task's last tool."""
    planning = plan_given(TEAM).says("write a report").understands("different_task")
    planning.when(ReportStep(turn_id=planning.turn("plan").turn_id, tool=EDIT, diff=DIFF))
    (planned,) = only(planning.facts, PlanStepped)
    assert (planned.tool, planned.diff, planned.step) == (EDIT, DIFF, "Edit calc.py")
    executing = solving(TEAM, task("a")).starts("a")
    executing.when(ReportStep(turn_id=executing.dispatch_id("a"), tool=EDIT, diff=DIFF))
    (progressed,) = only(executing.facts, SolverProgressed)
    assert (progressed.tool, progressed.diff, progressed.step) == (EDIT, DIFF, "Edit calc.py")
    work = project(executing.state).work
    assert work is not None
    assert work.tasks["a"].tool == EDIT


@pytest.mark.parametrize("fact", [TurnStepped, PlanStepped, SolverProgressed])
def test_a_step_of_an_old_log_has_no_tool(fact: type) -> None:
    """The fields have defaults: what older versions logged decodes."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(fact)}
    assert defaults["tool"] is None
    assert defaults["diff"] is None


def test_what_an_agent_says_of_a_tool_is_bounded_and_clean() -> None:
    """Titles, paths and diffs are cut and lose control characters; unknown kinds and odd numbers are dropped."""
    odd = ToolUse(
        id="x" * 1_000,
        kind="explode",  # type: ignore[arg-type]
        title="rm\x1b[31m -rf\nnow" + "!" * 10_000,
        paths=("a\x00b", "", *("p" * 5_000 for _ in range(200))),
        status="gone",  # type: ignore[arg-type]
        exit=2**70,
    )
    tidy = tidy_tool(odd)
    assert (len(tidy.id), tidy.kind, tidy.status, tidy.exit) == (limits.LABEL_CHARS, "other", "in_progress", None)
    assert tidy.title.startswith("rm -rf now!")
    assert len(tidy.title) == limits.TOOL_TITLE_CHARS
    assert (tidy.paths[0], len(tidy.paths)) == ("ab", limits.TOOL_PATHS - 1)
    assert max(map(len, tidy.paths)) == limits.PATH_CHARS
    scenario = begin()
    scenario.when(ReportStep(turn_id="t1", tool=odd, diff="\x1b[0m+" + "d" * 2 * limits.DIFF_CHARS))
    (step,) = only(scenario.facts, TurnStepped)
    assert step.tool == tidy
    assert step.diff is not None
    assert step.diff.startswith("+ddd")
    assert len(step.diff) < limits.DIFF_CHARS + 100


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        (EDIT, "✎ Edited calc.py +2 −1"),
        (msgspec.structs.replace(EDIT, status="in_progress"), "✎ Edits calc.py +2 −1"),
        (ToolUse(id="1", kind="execute", title="make test", status="failed", exit=2), "▶ make test ✗ exit 2"),
        (ToolUse(id="1", kind="execute", title="make test", status="completed", exit=0), "▶ make test ✓"),
        (ToolUse(id="1", kind="read", title="Read", paths=("a", "b", "c"), status="completed"), "◎ Read 3 files"),
        (ToolUse(id="1", kind="search", title="TODO", paths=("src",), status="completed"), "⌕ Searched TODO"),
        (ToolUse(id="1", kind="other", title="weather.today"), "• weather.today"),
    ],
)
def test_a_tool_is_told_in_one_line(tool: ToolUse, line: str) -> None:
    """The line says what was done, to what, and how it ended."""
    assert tell_tool(tool, "en") == line


def test_a_transcript_tells_a_quick_tool_once_and_its_diff_on_demand() -> None:
    """The begin of an edit is no line; its end is one, with the diff below it in a whole transcript."""
    began = TurnStepped(turn_id="t1", member="bob", tool=msgspec.structs.replace(EDIT, status="in_progress"))
    ended = TurnStepped(turn_id="t1", member="bob", observation="ok", tool=EDIT, diff="@@")
    assert transcribe_step(began, "en") == ""
    assert transcribe_step(ended, "en") == "✎ Edited calc.py +2 −1"
    assert transcribe_step(ended, "en", is_whole=True) == "✎ Edited calc.py +2 −1\n@@"


def test_changed_lines_are_counted_within_hunks_only() -> None:
    """Headers do not count, and a removed line that begins with dashes does."""
    assert count_changes(DIFF) == (2, 1)
    assert count_changes("--- a\n+++ b\n@@ -1 +0,0 @@\n--- x\n\\ No newline at end of file\n") == (0, 1)
