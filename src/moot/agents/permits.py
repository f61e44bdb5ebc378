"""Decides what an agent that asks may do: by its level, by the team file, by what people granted, or by asking them.

An agent describes what it is about to do as a `PermissionRequest`. People see the command in full or the diff, and say
yes or no, once or for the rest of the session.
"""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.agents.environment import hide_in_tool
from moot.agents.member_tools import NAMES, SERVER, ToolProblem, check_arguments
from moot.core import limits
from moot.core.session.events import Option
from moot.core.session.grants import ALLOW_ONCE, ALLOW_SESSION, OPTIONS, REJECT_ONCE, REJECT_SESSION, Grant
from moot.core.session.team import Language
from moot.core.session.tool_use import ToolUse
from moot.core.text import cut
from moot.core.texts import render
from moot.runtime.ports import Ask

Permissions = Literal["read", "ask", "edit", "all"]
# What an agent is told of a no.
NO = "The people you work with said no. Do not try another way to do the same; say what you would need it for."
CUT_NOTE_CHARS = 60  # for the note that says how much was cut
_HARMLESS = ("read", "search", "think")
_EDITS = ("edit", "delete", "move")
_RULE = re.compile(r"([\w.:/-]+)(?:\((.*)\))?", re.DOTALL)
_OWN_TOOL = re.compile(rf"mcp__{SERVER}__({'|'.join(NAMES)})")
_SHELL_SIGNS = re.compile(r"[;&|`$<>(){}\n\\]")


class PermissionRequest(Struct, frozen=True, kw_only=True):
    """What an agent wants to do. `name` is its own name for the tool; `key` names the question within the turn.

    `is_own` says that it is a tool of Moot's own, which asks people itself.
    """

    tool: ToolUse
    name: str
    key: str
    command: str = ""
    arguments: Any = None
    diff: str = ""
    is_own: bool = False

    @property
    def grant(self) -> Grant:
        """What a yes or a no for the session is about: the same command, or any use of the same tool."""
        return Grant(tool=self.name, pattern=self.command or "*")

    @property
    def is_outside(self) -> bool:
        """Whether it names a file outside of the agent's folder."""
        return any(path.startswith(("/", "~", "..")) or "/../" in path for path in self.tool.paths)


Permit = Callable[[PermissionRequest], Awaitable[bool]]


def permit_by_level(level: Permissions) -> Permit:
    """Return a permit that asks nobody: reading for `read` and `ask`, changing files for `edit`, anything for `all`."""

    async def permit(request: PermissionRequest) -> bool:
        kind = request.tool.kind
        if level == "all" or (kind in _HARMLESS and not request.is_outside):
            return True
        return level == "edit" and kind in _EDITS and not request.is_outside

    return permit


def permit_own_tools(permit: Permit) -> Permit:
    """Return a permit that lets an agent use Moot's own tools, which ask people themselves, and asks about the rest."""

    async def permit_rest(request: PermissionRequest) -> bool:
        return request.is_own or await permit(request)

    return permit_rest


def is_own_tool(name: str, arguments: object) -> bool:
    """Whether it is a tool of Moot's own: by its name, which an agent may make of any words, and what it is given."""
    match = _OWN_TOOL.fullmatch(name)
    if match is None or not isinstance(arguments, dict):
        return False
    try:
        check_arguments(match[1], arguments)
    except ToolProblem:
        return False
    return True


def number_questions(permit: Permit) -> Permit:
    """Return a permit that names a question by what it is about and how often that was asked in the turn.

    A turn that runs again has other call ids, and is given the answers to the questions that it puts again.
    """
    counts: Counter[str] = Counter()

    async def permit_numbered(request: PermissionRequest) -> bool:
        counts[request.key] += 1
        return await permit(replace(request, key=f"{request.key} #{counts[request.key]}"))

    return permit_numbered


def choose_permit(
    level: Permissions,
    allow: Sequence[str],
    desk: Ask | None,
    language: Language,
    grants: Sequence[Grant],
    hide: Callable[[str], str],
) -> Permit:
    """Return the permit of a level. Without a desk nobody can be asked, and `ask` means reading."""
    if level == "ask" and desk is not None:
        return People(desk, language, allow, grants, hide).permit
    by_level = permit_by_level(level)

    async def permit(request: PermissionRequest) -> bool:
        return is_allowed(request, allow) or await by_level(request)

    return permit


class People:
    """Asks people, unless the team file or an earlier answer has decided already.

    Args:
        allow: rules of the team file: `search`, `Bash(git diff:*)`.
        grants: what people decided for the rest of the session.
        hide: removes secrets from what people are shown.
    """

    def __init__(
        self, ask: Ask, language: Language, allow: Sequence[str], grants: Sequence[Grant], hide: Callable[[str], str]
    ) -> None:
        self._ask = ask
        self._language = language
        self._allow = allow
        self._grants = list(grants)
        self._hide = hide

    async def permit(self, request: PermissionRequest) -> bool:
        if is_allowed(request, self._allow):
            return True
        decided = find_grant(request, self._grants)
        if decided is not None:
            return decided.allowed
        options = [(name, render(f"permission.{name}", self._language)) for name in OPTIONS]
        chosen = await self._ask(
            self._hide(self._describe(request)),
            [Option(id=name, label=label) for name, label in options],
            key=request.key,
            default=REJECT_ONCE,
            tool=hide_in_tool(request.tool, self._hide),
            diff=self._hide(request.diff) or None,
            grant=Grant(tool=request.name, pattern=self._hide(request.grant.pattern)),
        )
        if chosen in (ALLOW_SESSION, REJECT_SESSION):
            self._grants.append(
                Grant(tool=request.name, pattern=request.grant.pattern, allowed=chosen == ALLOW_SESSION)
            )
        return chosen in (ALLOW_ONCE, ALLOW_SESSION)

    def _describe(self, request: PermissionRequest) -> str:
        """Return what will happen: the tool with the command in full, the path and the diff, or all arguments."""
        what = request.command or ", ".join(request.tool.paths)
        if not what:
            what = json.dumps(request.arguments, ensure_ascii=False, indent=1, default=str) if request.arguments else ""
        head = f"{request.name}: {what}" if what else request.tool.title or request.name
        return cut(f"{head}\n{request.diff}".strip(), limits.QUESTION_CHARS - CUT_NOTE_CHARS)


def find_grant(request: PermissionRequest, grants: Sequence[Grant]) -> Grant | None:
    """Return the newest decision of people that covers the request. None covers a file outside of the folder."""
    for grant in reversed(grants):
        is_same = grant.tool == request.name and grant.pattern in ("*", request.command)
        if is_same and not (grant.allowed and request.is_outside):
            return grant
    return None


def is_allowed(request: PermissionRequest, rules: Sequence[str]) -> bool:
    """Whether a rule of the team file allows it: the name or kind of a tool, or `NAME(COMMAND)`, `NAME(START:*)`."""
    return any(_fits(request, rule) for rule in rules)


def _fits(request: PermissionRequest, rule: str) -> bool:
    match = _RULE.fullmatch(rule.strip())
    if match is None or match[1].lower() not in (
        request.name.lower(),
        request.name.rpartition("__")[2].lower(),
        request.tool.kind,
    ):
        return False
    if match[2] is None:
        return not request.is_outside
    wanted = match[2].strip()
    what = request.command or next(iter(request.tool.paths), "")
    if not wanted.endswith("*"):
        return what == wanted
    start = wanted.removesuffix("*").removesuffix(":").rstrip()
    rest = what.removeprefix(start)
    is_start = what.startswith(start) and (not rest or rest[0] in " /" or not start)
    return is_start and not _SHELL_SIGNS.search(rest) and not request.is_outside
