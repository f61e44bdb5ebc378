"""`explicit`: markers and slash commands, certain and nothing else."""

import asyncio

import pytest

from moot.core.intent import IntentAnalysis, SemanticInput, SystemState, WorkflowStatus
from moot.runtime.understanding.explicit import ExplicitUnderstander


def understand(text: str, status: WorkflowStatus = "execution") -> IntentAnalysis:
    given = SemanticInput(raw_input=text, system_state=SystemState(workflow_status=status))
    understood = asyncio.run(ExplicitUnderstander().understand(given))
    assert understood.fallback_reason is None
    return understood.analysis


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
    """Plan, understanding: explicit commands are certain."""
    analysis = understand(text)
    assert (analysis.task_relation.type, analysis.control_action) == ("control_instruction", control)
    assert analysis.task_relation.confidence == 1.0


def test_markers_name_who_is_meant() -> None:
    """Chat, markers: routing is said by the person, so nothing about the work changes."""
    analysis = understand("[NEXT: bob, carol!P1] have a look [DROP: dave]")
    assert analysis.task_relation.type == "same_task_no_change"
    assert analysis.context_dependency.referenced_entities == ("bob", "carol", "dave")


@pytest.mark.parametrize(
    ("status", "relation"),
    [("execution", "same_task_no_change"), ("idle", "different_task"), ("failed", "different_task")],
)
def test_plain_text_is_not_guessed_at(status: WorkflowStatus, relation: str) -> None:
    """Plan, understanding: `explicit` reads no words, so not even "stop" stops anything."""
    assert understand("stop everything", status).task_relation.type == relation


def test_a_path_is_no_command() -> None:
    """Chat, commands: `/path/to/file` is text."""
    assert understand("/etc/hosts looks odd").control_action is None
