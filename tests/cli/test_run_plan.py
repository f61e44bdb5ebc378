"""`moot run` and the plan flow: questions take answers, what stays open waits, the work can be looked at."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Moot, check_chain, names

TEAM = """\
moot: 1
name: deck
flow: plan
language: en
members:
  - {id: alice, name: Alice, kind: human}
  - id: pam
    name: Pam
    kind: ai
    role: planner
    agent:
      type: script
      replies:
        - plan: {summary: A deck, tasks: [{id: a, title: Write it}, {id: b, title: Draw it, depends_on: [a]}]}
          text: The deck is ready.
  - id: will
    name: Will
    kind: ai
    role: executor
    agent:
      type: script
      replies: [done]
      by_task: {b: [{error: {type: auth, message: no key}}, drawn]}
"""


@pytest.fixture
def team(tmp_path: Path) -> str:
    path = tmp_path / "deck.yaml"
    path.write_text(TEAM)
    return str(path)


def closed(frames: list[Any]) -> list[str]:
    """What became of each question."""
    metadata = [frame["metadata"] for frame in frames if frame["event"] == "agent.user_confirm_closed"]
    return [each.get("choice") or each.get("answer") or each["outcome"] for each in metadata]


def test_answers_in_order(moot: Moot, team: str) -> None:
    """Approve confirms, an option's id chooses; the run ends when nothing runs; frames have their chain."""
    said = moot("run", team, "--json", "--say", "make a deck", "--answer", "approve", "retry")
    assert said.code == 0
    assert closed(said.objects) == ["approve", "retry"]
    assert names(said.objects)[-1] == "session.paused"
    final = next(frame for frame in said.objects if frame["event"] == "agent.final_answer")
    assert final["content"] == "The deck is ready."
    check_chain(said.lines)


def test_a_question_stays_open(moot: Moot, team: str) -> None:
    """With no answer left the run ends with the step open, exit 0; --session goes on there."""
    first = moot("run", team, "--json", "--say", "make a deck")
    assert first.code == 0
    assert closed(first.objects) == []
    session_id = first.objects[0]["session_id"]
    plain = moot("run", team, "--session", session_id, "--answer", "approve")
    assert plain.code == 0
    assert "✓ Alice approved the plan" in plain.lines
    assert f"a question is open; go on with --session {session_id} --answer CHOICE" in plain.err
    assert "✗ Will: Draw it (auth): no key" in plain.lines
    assert "? Task 'Draw it' failed (auth): no key. What now?" in plain.lines
    assert "  3 Give it to another member" in plain.lines
    shown = moot("sessions", "show", session_id)
    assert shown.lines[-3:] == [
        "📋 Work: waiting for a decision · 1 of 2 tasks done",
        "  ✓ Write it · Will",
        "  ✗ Draw it · Will · auth: no key",
    ]
    last = moot("run", team, "--json", "--session", session_id, "--answer", "skip")
    assert [frame["metadata"]["status"] for frame in last.objects if frame["event"] == "pipeline.completed"] == [
        "partial"
    ]


def test_work_that_failed_can_fail_the_run(moot: Moot, team: str) -> None:
    """Exit 8: `--fail-on agent` after a failed task or a partial end, `--on-question fail` with a question open."""
    asked = moot("run", team, "--json", "--on-question", "fail", "--say", "make a deck")
    assert asked.code == 8
    session = ("--session", asked.objects[0]["session_id"])
    assert moot("run", team, *session, "--fail-on", "agent").code == 0
    assert moot("run", team, *session, "--fail-on", "agent", "--answer", "approve").code == 8
    ended = moot("run", team, *session, "--fail-on", "agent", "--on-question", "fail", "--answer", "skip")
    assert (ended.code, "partial" in str(moot.frames(session[1]))) == (8, True)


def test_text_as_an_answer_plans_again(moot: Moot, team: str) -> None:
    """Anything else is the answer's text; to a plan it is feedback, and a new plan is asked about."""
    said = moot("run", team, "--json", "--say", "make a deck", "--answer", "shorter please", "reject")
    assert said.code == 0
    assert closed(said.objects) == ["shorter please", "reject"]
    starts = [frame["metadata"] for frame in said.objects if frame["event"] == "plan.start"]
    assert [each.get("feedback", "") for each in starts] == ["", "shorter please"]
    assert "plan.cancelled" in names(said.objects)
    assert "solver.start" not in names(said.objects)


def test_an_answer_that_does_not_fit(moot: Moot, team: str) -> None:
    """Exit 1 when an answer was refused; the sentence says what was acceptable; the question stays open."""
    said = moot("run", team, "--json", "--say", "make a deck", "--answer", "approve", "maybe")
    assert said.code == 1
    assert "choose one of retry, skip, reassign, replan, abort" in said.err
    assert closed(said.objects) == ["approve"]


def test_slash_commands_reach_running_work(moot: Moot, team: str) -> None:
    """/status is answered from the state, in words; what cannot be done is refused."""
    said = moot("run", team, "--say", "make a deck", "/status", "/resume")
    assert "Status: waiting for a decision · 0 of 0 tasks done · running: -" in said.lines
    assert said.code == 1
    assert "nothing to resume" in said.err


def test_the_export_for_reading(moot: Moot, team: str) -> None:
    """Md tells the plan, the tasks with their whole results, and the answer under its author's name."""
    session_id, _ = moot.talk("make a deck", team=team)
    moot("run", team, "--session", session_id, "--answer", "approve", "retry")
    said = moot("sessions", "export", session_id, "--format", "md")
    assert "> 📋 The plan: A deck  " in said.lines
    assert "> 2. Draw it (after 1)" in said.lines
    assert any(line.startswith("### Pam · #") for line in said.lines)
    assert "The deck is ready." in said.lines
