"""A session as one file: everything that was said and done, in words."""

import json
from pathlib import Path

import pytest

from moot.protocol.one_file import to_html

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


def export(name: str) -> str:
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    return to_html([json.loads(line) for line in lines], "en")


def test_a_supervisors_job_is_told_in_words() -> None:
    """Issue 7: decisions, reviews and the finished text are in the file; no decision stands there as JSON."""
    page = export("supervisor-v1")
    assert "→ Writer: 先写" in page
    assert "✗ The review does not approve (1)" in page
    assert "<b>✓ Done</b><p>words</p>" in page
    assert "next_agent" not in page


def test_work_that_was_sent_back_is_told() -> None:
    """Issue 7: who sent what back and why; a task by its title."""
    page = export("plan-v1")
    assert "sends back: Task a: 太长" in page


@pytest.mark.parametrize("name", ["chat-v1", "plan-v1", "supervisor-v1"])
def test_nothing_in_it_can_run(name: str) -> None:
    """Browser rules: text is escaped, nothing is loaded, whatever was said."""
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    frames = [json.loads(line) for line in lines]
    for frame in frames:
        if "text" in frame["metadata"]:
            frame["metadata"]["text"] = "<script>alert(1)</script><img src=x>"
    page = to_html(frames, "zh")
    assert "<script" not in page
    assert "<img" not in page
