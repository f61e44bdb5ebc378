"""Tool calls of every kind of agent as data, from what the real ones print."""

import json
from pathlib import Path
from typing import Any

import pytest

from moot.agents.acp.updates import UpdateReader
from moot.agents.cli.claude import ClaudeReader
from moot.agents.cli.codex import CodexReader, unwrap_shell
from moot.agents.cli.gemini import GeminiReader
from moot.agents.output_limits import Censor, PartialOutput
from moot.agents.tool_steps import find_tool
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Step
from tests.agents.cli.streams import FOLDER, read_stream


def tools(told: list[PartialOutput]) -> list[ToolUse]:
    return [step.tool for step in told if isinstance(step, Step) and step.tool]


def brief(told: list[PartialOutput]) -> list[tuple[str, str, str, int | None]]:
    return [(use.kind, use.title, use.status, use.exit) for use in tools(told)]


@pytest.mark.parametrize(
    ("stream", "title", "status", "exit_code"),
    [
        ("claude_tool_allowed", "echo hi-from-tool", "completed", 0),
        ("claude_2.1.325_tool", "echo hi-from-tool", "completed", 0),
        ("claude_tool_denied", "touch /home/user/project/abc", "failed", None),
        ("codex_tool_nosandbox", "echo hi-from-tool; exit 3", "failed", 3),
        ("gemini_tool_yolo", "echo hi-from-tool", "completed", 0),
    ],
)
def test_a_command_of_a_cli(stream: str, title: str, status: str, exit_code: int | None) -> None:
    """The begin and the end of a command have the same id, the command without its shell, and how it ended."""
    told, _, _ = read_stream(stream)
    assert brief(told) == [("execute", title, "in_progress", None), ("execute", title, status, exit_code)]
    assert len({use.id for use in tools(told)}) == 1


@pytest.mark.parametrize(
    "agent", ["claude-agent-acp", "claude-code-acp", "codex-acp-2.6", "opencode", "gemini", "qwen"]
)
def test_a_command_of_an_acp_agent(agent: str) -> None:
    """Each reports its command differently; all are told the same way, with what the command printed."""
    reader, told = UpdateReader(), list[PartialOutput]()
    for line in (FOLDER / f"acp_{agent}_tool.jsonl").read_text().splitlines():
        message: dict[str, Any] = json.loads(line) if line.startswith("{") else {"k": ""}
        if message["k"] == "session/update":
            told += reader.read(message["v"])
        elif message["k"] == "session/request_permission":
            told += reader.read_tool(message["v"]["toolCall"])
    used = tools(told)
    assert [(use.kind, use.status) for use in used] == [("execute", "in_progress"), ("execute", "completed")]
    assert used[-1].title.startswith("touch acp_made && echo hi-from-tool")
    assert used[-1].exit == 0
    observations = [step.observation for step in told if isinstance(step, Step) and step.observation and step.tool]
    assert observations == ["(nothing)" if agent == "gemini" else "hi-from-tool"]  # Gemini reports no output


def read_claude(*events: dict[str, Any]) -> list[PartialOutput]:
    reader = ClaudeReader()
    return [output for event in events for output in reader.read(event)]


def test_an_edit_of_claude_has_the_diff_that_claude_reports() -> None:
    """The patch with its place in the file; paths in the agent's folder are relative to it."""
    path = "/home/user/project/calc.py"
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "Edit",
        "input": {"file_path": path, "old_string": "b", "new_string": "c"},
    }
    patch = [{"oldStart": 7, "oldLines": 2, "newStart": 7, "newLines": 3, "lines": [" a", "-b", "+c", "+d"]}]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "The file has been updated."}
    told = read_claude(
        {"type": "assistant", "message": {"content": [call]}},
        {
            "type": "user",
            "message": {"content": [result]},
            "tool_use_result": {"filePath": path, "structuredPatch": patch},
        },
    )
    censor = Censor({}, Path("/home/user/project"))
    began, ended = (safe for output in told for safe in censor.admit(output))
    assert isinstance(began, Step)
    assert isinstance(ended, Step)
    assert began.tool == ToolUse(id="toolu_1", kind="edit", title="Edit calc.py", paths=("calc.py",))
    assert ended.tool is not None
    assert (ended.tool.status, ended.tool.added, ended.tool.removed) == ("completed", 2, 1)
    assert ended.diff == "--- calc.py\n+++ calc.py\n@@ -7,2 +7,3 @@\n a\n-b\n+c\n+d"


def test_an_edit_of_gemini_has_the_diff_of_its_arguments() -> None:
    """It reports no patch: the change is made from what it asked for. A failed edit changed nothing."""
    for status, has_diff in (("success", True), ("error", False)):
        reader = GeminiReader()
        parameters = {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
        events: list[dict[str, Any]] = [
            {"type": "tool_use", "tool_id": "1", "tool_name": "replace", "parameters": parameters},
            {"type": "tool_result", "tool_id": "1", "status": status, "output": "ok"},
        ]
        *_, ended = (output for event in events for output in reader.read(event))
        assert isinstance(ended, Step)
        assert (ended.diff is not None) == has_diff
        if ended.diff:
            assert ended.diff.splitlines()[-2:] == ["-x = 1", "+x = 2"]


def test_changes_of_codex_are_edits_of_their_files() -> None:
    """`file_change` names its files; one that only deletes is a deletion."""
    reader = CodexReader()
    for kind, expected in (("update", "edit"), ("delete", "delete")):
        item = {"id": kind, "type": "file_change", "changes": [{"path": "a.py", "kind": kind}], "status": "completed"}
        told = list(reader.read({"type": "item.completed", "item": item}))
        assert [(use.kind, use.paths, use.status) for use in tools(told)] == [
            (expected, ("a.py",), "in_progress"),
            (expected, ("a.py",), "completed"),
        ]


def test_an_acp_change_has_its_paths_and_its_diff() -> None:
    """Blocks of type `diff` become a unified diff with the lines counted."""
    reader = UpdateReader()
    block = {"type": "diff", "path": "/p/a.py", "oldText": "x\ny\n", "newText": "x\nz\n"}
    update = {"toolCallId": "c1", "kind": "edit", "title": "Edit a.py", "status": "completed", "content": [block]}
    *_, ended = reader.read({"sessionUpdate": "tool_call", **update})
    assert isinstance(ended, Step)
    assert ended.tool is not None
    assert (ended.tool.paths, ended.tool.added, ended.tool.removed) == (("/p/a.py",), 1, 1)
    assert ended.diff == "--- /p/a.py\n+++ /p/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z"


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "title"),
    [
        ("Read", {"file_path": "a.py"}, "read", "Read a.py"),
        ("Grep", {"pattern": "TODO", "path": "src"}, "search", "TODO"),
        ("WebFetch", {"url": "https://example.org", "prompt": "sum up"}, "fetch", "https://example.org"),
        ("mcp__files__list", {"path": "src"}, "other", "mcp__files__list"),
        ("run_shell_command", {"command": "make", "path": "x"}, "execute", "make"),
    ],
)
def test_tools_have_a_kind_and_a_title(name: str, arguments: dict[str, str], kind: str, title: str) -> None:
    """The kind comes from the tool's name in whatever style, the title from its most telling argument."""
    use = find_tool("1", name, arguments).tool
    assert (use.kind, use.title) == (kind, title)


def test_the_shell_around_a_command_is_left_out() -> None:
    """Codex runs each command in a login shell: people read the command itself."""
    assert unwrap_shell("/bin/bash -lc 'make test'") == "make test"
    assert unwrap_shell("make 'unclosed") == "make 'unclosed"
    assert unwrap_shell("git diff --stat") == "git diff --stat"
