"""One use of a tool by an agent, as data: what kind of tool, on what, and how it went.

Streams of command-line agents, ACP tool calls, tools of models and MCP servers are all told in this form.
"""

import re
from typing import Literal, get_args

from msgspec import Struct

from moot.core import limits, text

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "fetch", "think", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
_KINDS, _STATUSES = frozenset(get_args(ToolKind)), frozenset(get_args(ToolStatus))
_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")
_LINE_ENDS = re.compile(r"[\n\t\v\f\u2028\u2029]+")


class ToolUse(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`id` is the same in every step about this use. `paths` are relative to the agent's folder where they are in it.

    `added` and `removed` count the lines of the whole change; the `diff` of the step may be cut.
    """

    id: str
    kind: ToolKind
    title: str
    paths: tuple[str, ...] = ()
    status: ToolStatus = "in_progress"
    exit: int | None = None  # the exit code of a command
    added: int | None = None
    removed: int | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ("completed", "failed")


def tidy_tool(tool: ToolUse) -> ToolUse:
    """Return a tool use that is safe to log and to show, whatever an agent made of it."""
    paths = [_tidy_line(path, limits.PATH_CHARS) for path in tool.paths[: limits.TOOL_PATHS] if isinstance(path, str)]
    return ToolUse(
        id=_tidy_line(tool.id, limits.LABEL_CHARS),
        kind=tool.kind if tool.kind in _KINDS else "other",
        title=_tidy_line(tool.title, limits.TOOL_TITLE_CHARS),
        paths=tuple(path for path in paths if path),
        status=tool.status if tool.status in _STATUSES else "in_progress",
        exit=_tidy_number(tool.exit),
        added=_tidy_number(tool.added),
        removed=_tidy_number(tool.removed),
    )


def tidy_diff(diff: str | None) -> str | None:
    return None if diff is None else text.cut(text.clean(diff), limits.DIFF_CHARS)


def count_changes(diff: str) -> tuple[int, int]:
    """Return how many lines a unified diff adds and removes."""
    added = removed = left_old = left_new = 0
    for line in diff.splitlines():
        if left_old > 0 or left_new > 0:
            added += line.startswith("+")
            removed += line.startswith("-")
            left_old -= not line.startswith(("+", "\\"))
            left_new -= not line.startswith(("-", "\\"))
        elif match := _HUNK.match(line):
            left_old, left_new = (1 if number is None else int(number) for number in match.groups())
    return added, removed


def _tidy_line(words: str, chars: int) -> str:
    return _LINE_ENDS.sub(" ", text.clean(words)).strip()[:chars]


def _tidy_number(number: int | None) -> int | None:
    is_number = isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**53
    return number if is_number else None
