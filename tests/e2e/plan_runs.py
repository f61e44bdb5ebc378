"""A plan that is killed: the team, the process, and what its log must say in the end."""

from collections import Counter
from pathlib import Path
from typing import Any

from tests.e2e.runs import Run

GOAL = "Please write a report about tea"
ANSWER = "the whole story of tea"
COMPLETED = {"a": 1, "b": 1, "c": 2, "d": 1, "e": 1}  # c is sent back once
TEAM = """\
moot: 1
name: tea
flow: plan
language: en
plan: {max_parallel: 3, retry: {base_delay_s: 0.03}}
members:
  - {id: alice, kind: human}
  - id: pam
    kind: ai
    role: planner
    agent:
      type: script
      replies:
        - delay_s: 0.05
          steps: [{thought: what is there to say of tea}]
          plan:
            summary: all about tea
            tasks:
              - {id: a, title: Find sources}
              - {id: b, title: Ask a gardener}
              - {id: c, title: Write it up, depends_on: [a]}
              - {id: d, title: Draw a map, depends_on: [b]}
              - {id: e, title: Check it, depends_on: [c, d]}
  - id: wu
    kind: ai
    role: executor
    agent:
      type: script
      replies: [{delay_s: 0.05, steps: [{thought: hm}], text: done by wu}]
      by_task:
        b: [{delay_s: 0.02, error: {type: network, message: gone}}, {delay_s: 0.03, text: what gardeners say}]
  - id: rex
    kind: ai
    role: reviewer
    agent:
      type: script
      replies: [{delay_s: 0.02, review: {pass: true}}]
      by_task:
        c: [{delay_s: 0.02, review: {pass: false, feedback: longer}}, {review: {pass: true}}]
  - id: abe
    kind: ai
    role: aggregator
    agent: {type: script, replies: [{delay_s: 0.03, text: the whole story of tea}]}
"""


class PlanRun(Run):
    """`moot run` on the plan: says what is wanted, if that is still to be said, and approves the plan."""

    def __init__(self, team: Path, data: Path, session_id: str | None, *, says: bool) -> None:
        said = ["--say", GOAL] if says else []
        self._start(str(team), data, session_id, [*said, "--answer", "approve"])


def check(frames: list[Any]) -> None:
    """Nothing is lost, nothing is done twice, nothing is left over."""
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    named = [(frame["event"], frame["metadata"]) for frame in frames]
    assert [data["text"] for name, data in named if name == "message.posted"] == [GOAL]
    assert Counter(data["task"]["id"] for name, data in named if name == "solver.completed") == COMPLETED
    assert [data["text"] for name, data in named if name == "agent.final_answer"] == [ANSWER]
    assert [data["status"] for name, data in named if name == "pipeline.completed"] == ["complete"]
    offers = [data["dispatch_id"] for name, data in named if name == "task.dispatch_requested"]
    assert len(offers) == len(set(offers))
    started = Counter(data["turn_id"] for name, data in named if name == "turn.started")
    ended = Counter(data["turn_id"] for name, data in named if name in ("turn.completed", "turn.failed"))
    assert started == ended
    assert [data["error_type"] for name, data in named if name == "error.execution"] == ["network"]
    assert named[-1][0] == "session.paused"
    assert named[-1][1]["waiting_for"] == "alice"
