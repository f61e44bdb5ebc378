"""A session as one file: what was said and what came of it, in words."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from moot.core.codec import Event, decode
from moot.core.session.events import MessagePosted
from moot.telling.page import to_html

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


def read(name: str) -> list[Event]:
    """The events of a golden log."""
    lines = (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()
    return [decode(line, msgspec.json.decode(line)["hash"]) for line in lines]


def test_a_supervisors_job_is_told_in_words() -> None:
    """Decisions, reviews and the finished text are in the file; no decision stands there as JSON."""
    page = to_html(read("supervisor-v1"), "en")
    assert "→ Writer: 先写" in page
    assert "✗ The review does not approve (1)" in page
    assert "<b>✓ Done</b><p>t\n\nwords</p>" in page
    assert "next_agent" not in page


def test_work_that_was_sent_back_is_told() -> None:
    """Who sent what back and why; a task by its title."""
    page = to_html(read("plan-v1"), "en")
    assert "sends back: Task a: 太长" in page


def test_results_are_folded_and_whole() -> None:
    """The result of a task is there with its blank lines, below a line that says whose it is."""
    page = to_html(read("plan-v1"), "en")
    assert "finished: Task a</summary><pre>" in page


@pytest.mark.parametrize("name", ["chat-v1", "plan-v1", "supervisor-v1"])
def test_nothing_in_it_can_run(name: str) -> None:
    """Text is escaped and nothing is loaded, whatever was said."""
    hostile = "<script>alert(1)</script><img src=x>"
    events = [
        replace(event, fact=replace(event.fact, text=hostile)) if isinstance(event.fact, MessagePosted) else event
        for event in read(name)
    ]
    page = to_html(events, "zh")
    assert "<script" not in page
    assert "<img" not in page
