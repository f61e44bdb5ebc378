"""Who says what an agent may do: its level, the team file, what people granted before."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from moot.agents.acp.acp_link import describe
from moot.agents.cli.acp_presets import GEMINI, OPENCODE, QWEN
from moot.agents.cli.presets import Preset
from moot.agents.live.link import Setup
from moot.agents.permits import (
    PermissionRequest,
    Permissions,
    find_grant,
    is_allowed,
    permit_by_level,
    permit_own_tools,
)
from moot.config.agent_specs import McpServer
from moot.core.session.grants import Grant
from moot.core.session.tool_use import ToolKind, ToolUse


def request(name: str, kind: ToolKind, command: str = "", *paths: str) -> PermissionRequest:
    return PermissionRequest(
        tool=ToolUse(id="1", kind=kind, title=name, paths=paths), name=name, key="k", command=command
    )


def decide(level: Permissions, asked: PermissionRequest) -> bool:
    async def ask() -> bool:
        return await permit_by_level(level)(asked)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("level", "allowed"),
    [("read", "read"), ("ask", "read"), ("edit", "read edit"), ("all", "read edit execute other")],
)
def test_a_level_allows_without_asking(level: Permissions, allowed: str) -> None:
    """Reading is harmless, `edit` may change files in its folder, `all` may do anything."""
    kinds: tuple[ToolKind, ...] = ("read", "edit", "execute", "other")
    assert [kind for kind in kinds if decide(level, request("x", kind, "", "a.py"))] == allowed.split()


QUESTION = {"member": "Carol", "question": "Which version?"}
OWN = {"server": "moot", "tool": "ask_member", "arguments": QUESTION}  # as codex-acp tells a call
AS_TEXT = [{"type": "content", "content": {"type": "text", "text": json.dumps(QUESTION)}}]  # as Gemini CLI does
CHANGE = [{"type": "diff", "path": "a.py", "oldText": "1", "newText": "2"}]
CLAUDE = {"claudeCode": {"toolName": "mcp__moot__ask_member"}}
TITLED = {"kind": "other", "title": "ask_member (moot MCP Server)"}


@pytest.mark.parametrize(
    ("call", "name", "is_own"),
    [
        ({**TITLED, "content": AS_TEXT}, "mcp__moot__ask_member", True),
        ({**TITLED, "rawInput": {"description": "x", "prompt": "rm"}}, "mcp__moot__ask_member", False),
        (TITLED, "mcp__moot__ask_member", False),
        ({"kind": "other", "title": "rm_rf (docs MCP Server)"}, "mcp__docs__rm_rf", False),
        ({"kind": "execute", "title": "ask_member (moot MCP Server)"}, "execute", False),
        ({"kind": "edit", "title": "ask_member (moot MCP Server)"}, "edit", False),
        ({"kind": "other", "title": "Deploy"}, "Deploy", False),
        ({"kind": "other", "title": "moot", "rawInput": QUESTION}, "moot", False),
        ({"kind": "other"}, "other", False),
        ({"kind": "other", "title": "x", "_meta": {"claudeCode": {"toolName": "mcp__docs__x"}}}, "mcp__docs__x", False),
        ({"kind": "other", "rawInput": QUESTION, "_meta": CLAUDE}, "mcp__moot__ask_member", True),
        ({"kind": "other", "rawInput": {"path": "/etc/passwd"}, "_meta": CLAUDE}, "mcp__moot__ask_member", False),
        ({"rawInput": QUESTION, "content": CHANGE, "_meta": CLAUDE}, "mcp__moot__ask_member", False),
        ({"kind": "execute", "title": "rm -rf /", "rawInput": {"command": "rm -rf /"}, "_meta": CLAUDE}, None, False),
        ({"kind": "execute", "rawInput": OWN, "_meta": {"is_mcp_tool_call": True}}, "mcp__moot__ask_member", True),
        ({"kind": "execute", "rawInput": OWN}, "execute", False),
        ({"kind": "other", "title": "x", "rawInput": OWN}, "x", False),
    ],
)
def test_a_tool_of_an_acp_agent_has_a_name(call: dict[str, Any], name: str | None, is_own: bool) -> None:
    """That of the tool, not of its kind: a yes to one tool is none to others. Moot's own tools need no permission, but
    nothing else passes for one of them by the words that the agent has for it."""
    described = describe({"toolCallId": "1", **call}, Path())

    async def ask() -> bool:
        return await permit_own_tools(permit_by_level("read"))(described)

    assert (described.name, asyncio.run(ask())) == (name or described.name, is_own)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "~/x", "a/../../x"])
def test_files_outside_of_the_folder_are_no_matter_of_levels(path: str) -> None:
    """They are asked about, whatever was allowed inside; only `all` includes them."""
    for level, expected in (("edit", False), ("all", True)):
        assert decide(level, request("Edit", "edit", "", path)) == expected  # type: ignore[arg-type]
    assert not is_allowed(request("Edit", "edit", "", path), ("Edit",))
    assert find_grant(request("Edit", "edit", "", path), [Grant(tool="Edit")]) is None


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash", "rm -rf /", True),
        ("execute", "make", True),
        ("Bash(git diff:*)", "git diff --stat", True),
        ("Bash(git diff:*)", "git diff", True),
        ("Bash(git diff:*)", "git diffuse", False),
        ("Bash(git diff:*)", "git diff; rm -rf /", False),
        ("Bash(git diff:*)", "git diff $(rm x)", False),
        ("Bash(git diff:*)", "git diff\nrm x", False),
        ("Bash(make test)", "make test", True),
        ("Bash(make test)", "make test2", False),
        ("Read", "make", False),
        ("((", "make", False),
    ],
)
def test_rules_of_the_team_file(rule: str, command: str, expected: bool) -> None:
    """A tool by its name or kind, a command whole or by its start; a start never covers a second command."""
    assert is_allowed(request("Bash", "execute", command), (rule,)) == expected


def test_a_tool_of_a_server_is_named_without_the_server() -> None:
    """`allow: [search]` means the tool `search`, whatever server has it."""
    assert is_allowed(request("mcp__web__search", "other"), ("search",))


def test_the_newest_decision_counts() -> None:
    """A yes is for the same command; a later no takes it back."""
    grants = [Grant(tool="Bash", pattern="make"), Grant(tool="Bash", pattern="make", allowed=False)]
    make, other = request("Bash", "execute", "make"), request("Bash", "execute", "make all")
    assert find_grant(make, grants[:1]) == grants[0]
    assert find_grant(make, grants) == grants[1]
    assert find_grant(other, grants) is None


@pytest.mark.parametrize(("preset", "is_listed"), [(QWEN, True), (GEMINI, False), (OPENCODE, False)])
def test_an_agent_that_does_not_say_what_it_asks_about_is_allowed_moots_tools(preset: Preset, is_listed: bool) -> None:
    """By its command line, and only if it has them."""
    assert preset.live is not None
    own = Setup(servers={"moot": McpServer(command=("x",))})
    listed = [any("mcp__moot__ask_human" in part for part in preset.live.argv(setup, None)) for setup in (own, Setup())]
    assert listed == [is_listed, False]
