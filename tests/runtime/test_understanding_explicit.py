"""Markers and slash commands are certain; nothing else is read here."""

import pytest

from moot.core.intake.intent import IntentAnalysis, SemanticInput, SystemState
from moot.runtime.understanding.explicit import read_explicit


def read(text: str) -> IntentAnalysis | None:
    return read_explicit(SemanticInput(raw_input=text, system_state=SystemState(workflow_status="execution")))


def understand(text: str) -> IntentAnalysis:
    analysis = read(text)
    assert analysis is not None
    return analysis


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("/pause", "pause"),
        ("/resume", "resume"),
        ("/STATUS", "status_query"),
        ("/cancel", "cancel"),
        ("/end", "cancel"),
        ("bye [DONE]", "cancel"),
    ],
)
def test_commands_control_the_run(text: str, control: str) -> None:
    """Explicit commands are certain."""
    analysis = understand(text)
    assert (analysis.task_relation.type, analysis.control_action) == ("control_instruction", control)
    assert analysis.task_relation.confidence == 1.0


def test_markers_name_who_is_meant() -> None:
    """Routing is said by the person, so nothing about the work changes."""
    analysis = understand("[NEXT: bob, carol!P1] have a look [DROP: dave]")
    assert analysis.task_relation.type == "same_task_no_change"
    assert analysis.context_dependency.referenced_entities == ("bob", "carol", "dave")


@pytest.mark.parametrize("text", ["stop everything", "/etc/hosts looks odd", "[NEXT bob", ""])
def test_plain_text_is_not_guessed_at(text: str) -> None:
    """Words are left to an understander, and `/path/to/file` is text."""
    assert read(text) is None
