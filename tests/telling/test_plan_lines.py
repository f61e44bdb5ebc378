"""The plan flow as lines: what people read, in both languages, without noise."""

import re
from typing import get_args

import pytest
from hypothesis import Phase, given, settings
from msgspec.structs import replace

from moot.core.codec import Event, Head, stamp
from moot.core.facts import Fact
from moot.core.session.commands import ExpireStep, Pause, Resume, Retry
from moot.core.session.team import Language, Team
from moot.telling.markdown import to_markdown
from moot.telling.standing import list_board
from moot.telling.teller import Teller
from moot.testing import PlanScenario, plan_given, task
from tests.core.plan_moves import Move, histories
from tests.core.plan_teams import GATED, TEAM, planned, solving
from tests.core.test_plan_properties import AT, opening, play, teams

MISSING = re.compile(r"\[[a-z]+(_[a-z]+)+\]")  # a code that the catalogue does not know


def stamped(team: Team, facts: list[Fact]) -> list[Event]:
    return stamp(team, "s_00000001", Head(), facts, AT)


def tell(scenario: PlanScenario, language: Language = "en") -> list[str]:
    """All lines of a session but the first."""
    facts = [replace(scenario.facts[0], language=language), *scenario.facts[1:]]
    teller = Teller()
    return [line for fact in facts for line in teller.lines(fact)][1:]


@settings(max_examples=30, phases=[Phase.generate])
@given(teams, histories)
def test_whatever_happens_can_be_told(team: Team, history: list[Move]) -> None:
    """Notices: every line of a made-up session has its words in both languages; the export and the board do too."""
    facts, final = play(team, [opening[0], *history])
    for language in get_args(Language):
        spoken = [replace(facts[0], language=language), *facts[1:]]
        teller = Teller()
        lines = [line for fact in spoken for line in teller.lines(fact)]
        lines += list_board(replace(final, language=language))
        lines += to_markdown(stamped(team, spoken)).split("\n")
        assert [line for line in lines if MISSING.search(line)] == []


def test_a_plan_from_question_to_answer() -> None:
    """Relation and confidence, route, numbered tasks with what they wait for, the question with its options."""
    assert tell(planned()) == [
        "alice: write a report",
        "◦ Understood as a new task (95% sure): a test says so",
        "→ A new task begins",
        "▸ planner (moot-orchestrator.planner) is making a plan",
        "📋 The plan: a plan",
        "  1. Task a",
        "  2. Task b (after 1)",
        "  3. Task c (after 1)",
        "? This plan has 3 tasks. Approve, edit or reject it?",
        "  1 Approve · 2 Reject",
        "⏸ Waiting for alice",
    ]
    done = solving(GATED, task("a", member="w2")).starts("a").steps("a", "half", 2).completes("a", "one\n\ntwo")
    done.reviews("a", passes=False, feedback="shorter").completes("a").reviews("a", passes=True).aggregates("all of it")
    assert tell(done)[-19:] == [
        "✓ alice approved the plan",
        "  ⇢ Dispatched to moot-executor.executor: Task a",
        "  ⇠ w2 accepts: Task a",
        "▶ w2 starts: Task a",
        "  · w2 1/2: Thought: half",
        "✓ w2 finished: Task a",
        "    one",
        "    two",
        "✗ critic (moot-orchestrator.reviewer) sends back: Task a: shorter",
        "  ⇢ Dispatched to moot-executor.executor: Task a",
        "  ⇠ w2 accepts: Task a",
        "▶ w2 starts: Task a (attempt 2)",
        "✓ w2 finished: Task a",
        "    done",
        "✓ critic (moot-orchestrator.reviewer) accepts: Task a",
        "▸ planner (moot-orchestrator.planner) puts the results together",
        "■ All tasks are done",
        "planner: all of it",
        "⏸ Waiting for alice",
    ]


def test_failures_and_retries() -> None:
    """What failed and why, which retry of how many comes when, and what a human is asked then."""
    lines = tell(solving(TEAM, task("a")).task_fails("a", "network", "no route"))
    assert lines[-2:] == ["✗ w1: Task a (network): no route", "↻ Retry 1/3 in 1 s: Task a"]
    lines = tell(solving(TEAM, task("a")).nacks("a", "busy"))
    assert lines[-1] == "✗ w1 does not take: Task a (busy), offered again in 1 s"
    lines = tell(solving(TEAM, task("a")).task_fails("a", "auth", "no key"))
    assert lines[-9:] == [
        "✗ w1: Task a (auth): no key",
        "✗ No more retries: Task a",
        "? Task 'Task a' failed (auth): no key. What now?",
        "  1 Try again",
        "  2 Go on without it",
        "  3 Give it to another member",
        "  4 Plan again",
        "  5 Stop the work",
        "⏸ Waiting for alice",
    ]


def test_the_handshake_and_the_places_are_told() -> None:
    """A transcript says to which loop and role a task goes, that it was accepted, and what a step is."""
    lines = tell(solving(GATED, task("a")).acks("a").starts("a").steps("a", "查资料").completes("a"), "zh")
    at = lines.index("  ⇢ 编排器派发任务到 moot-executor.executor：Task a")
    told = ["  ⇠ w1 接单成功：Task a", "▶ w1 开始：Task a", "  · w1 1: 思考：查资料"]
    assert lines[at + 1 : at + 4] == told
    assert "▸ planner（moot-orchestrator.planner）正在规划" in lines


def test_the_kind_of_a_failure_is_told_in_the_reader_s_language() -> None:
    """In lines and in questions; no code of an error stands in a Chinese sentence."""
    failed = solving(TEAM, task("a")).task_fails("a", "auth")
    assert "✗ w1：Task a（认证）：boom" in tell(failed, "zh")
    assert "✗ w1: Task a (auth): boom" in tell(failed)
    assert any("失败（认证）：boom" in line for line in tell(failed, "zh"))


def test_a_plan_that_is_given_up_on_is_told_with_the_question() -> None:
    """Twice it goes back to the planner; the third time people are asked, and nothing says that it goes back."""
    refused = plan_given(TEAM).says("x").understands("different_task").plans().plans().plans()
    lines = tell(refused, "zh")
    assert [line.partition("：")[0] for line in lines if line.startswith("✗")] == ["✗ 计划无法执行，退回给 planner"] * 2
    assert lines[-2] == "  1 重试 · 2 中止"


def test_steering() -> None:
    """Patches, another goal put off, pause, checkpoint, going on; each a line or two."""
    work = solving(TEAM, task("a"), task("b", "a")).starts("a")
    patched = work.says("also in blue").understands("same_task_minor_change")
    patched.patches(
        {"op": "add", "task_id": "x", "changes": {"title": "Task x"}},
        {"op": "modify", "task_id": "b", "changes": {"objective": "blue"}},
    )
    lines = tell(patched)
    at = lines.index("▸ planner (moot-orchestrator.planner) adjusts the plan")
    assert lines[at - 1 : at + 4] == [
        "→ Noted; the plan is adjusted a little and goes on",
        "▸ planner (moot-orchestrator.planner) adjusts the plan",
        "✎ The plan is adjusted:",
        "  + Task x (new)",
        "  ✎ Task b (changed)",
    ]
    other = solving(TEAM, task("a")).says("write a poem").understands("different_task")
    assert tell(other.answers("ask_new_task", "finish_first"))[-2:] == [
        "✓ alice: Finish the current work first",
        "⏭ Postponed until the current work is done: write a poem",
    ]
    held = solving(TEAM, task("a")).starts("a").when(Pause(by="alice")).completes("a").when(Resume(by="alice"))
    lines = tell(held)
    at = lines.index("⏸ Pausing: steps that are running may finish")
    assert "💾 Checkpoint x1: 1 of 1 tasks done" in lines[at:]
    assert "▶ The work goes on" in lines[at:]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            [
                "⌛ Nobody answered in time",
                "✗ The plan is cancelled; /retry asks about it again",
                "⏸ Waiting for alice",
            ],
        ),
        ("zh", ["⌛ 无人及时回答", "✗ 计划已取消；输入 /retry 再次询问", "⏸ 等待 alice"]),
    ],
)
def test_a_plan_that_nobody_answers(language: Language, expected: list[str]) -> None:
    """The timeout is told with its consequence and what brings the plan back, in the session's language."""
    late = planned().when(ExpireStep(step_id="confirm_plan_p1"), at="2026-01-02T00:00:00.000Z")
    assert tell(late, language)[-3:] == expected
    told = len(tell(late, language))
    back = tell(late.when(Retry(by="alice")), language)[told:]
    first = tell(planned(), language)
    assert (
        back[0]
        == {"en": "▸ The plan that nobody answered is asked about again", "zh": "▸ 就无人回答的计划再次询问"}[language]
    )
    assert back[1:] == first[-len(back) + 1 :]
