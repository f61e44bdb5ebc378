"""One line for a use of a tool, the same on every screen: `✎ Edited src/app.py +12 −3`, `▶ make test ✗ exit 2`."""

from typing import Protocol

from moot.core.session.team import Language
from moot.core.session.tool_use import ToolUse
from moot.core.texts import find_text, render

_ABOUT_FILES = ("read", "edit", "delete", "move")
_TAKES_TIME = ("execute", "fetch", "other")  # so that its begin is worth a line of its own


class StepFact(Protocol):
    """A fact about a step of an agent."""

    @property
    def thought(self) -> str | None: ...
    @property
    def action(self) -> str | None: ...
    @property
    def observation(self) -> str | None: ...
    @property
    def tool(self) -> ToolUse | None: ...
    @property
    def diff(self) -> str | None: ...


def transcribe_step(step: StepFact, language: Language, *, is_whole: bool = False) -> str:
    """Return what a transcript says of a step; empty if it says nothing.

    A use of a tool is one line; `is_whole` adds its diff or its output.
    """
    tool = step.tool
    if tool is None:
        return step.thought or step.action or step.observation or ""
    if not tool.is_over:
        return tell_tool(tool, language) if tool.kind in _TAKES_TIME else ""
    more = (step.diff or step.observation or "") if is_whole else ""
    return "\n".join(part for part in (tell_tool(tool, language), more) if part)


def tell_tool(tool: ToolUse, language: Language) -> str:
    """Return the line: what it does or did, to what, and how it ended."""
    now = f"tool.{tool.kind}_now"
    code = now if not tool.is_over and find_text(now, language) else f"tool.{tool.kind}"
    parts = [render(code, language, detail=_name_target(tool, language))]
    if tool.added is not None or tool.removed is not None:
        parts.append(f"+{tool.added or 0} −{tool.removed or 0}")
    if tool.status == "failed" or tool.exit:
        parts.append("✗")
    elif tool.is_over and tool.kind == "execute":
        parts.append("✓")
    if tool.exit:
        parts.append(render("tool.exit", language, detail=tool.exit))
    return " ".join(parts)


def _name_target(tool: ToolUse, language: Language) -> str:
    if tool.kind not in _ABOUT_FILES or not tool.paths:
        return tool.title
    if len(tool.paths) > 1:
        return render("tool.files", language, count=len(tool.paths))
    return tool.paths[0]
