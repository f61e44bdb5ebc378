"""Moot's own tools for a member, bound to one turn: the same five for every kind of agent.

`ask_human`, `ask_member`, `hand_over`, `report_blocked`, `show_file`. CLI and ACP members have them over MCP
(`moot.agents.member_sockets`), llm members as tools, python members as functions.
"""

import asyncio
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from moot.agents.environment import hide_secrets
from moot.agents.sandbox import MOOT_FILES
from moot.core import limits
from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput
from moot.core.session.notices import explain
from moot.core.session.team import Language
from moot.core.texts import render
from moot.runtime.ports import Desk

SERVER = "moot"  # the name under which an agent has the tools
_TEXT = {"type": "string"}
PARAMETERS: dict[str, dict[str, dict[str, Any]]] = {
    "ask_human": {"question": _TEXT, "options": {"type": "array", "items": _TEXT}, "to": _TEXT},
    "ask_member": {"member": _TEXT, "question": _TEXT},
    "hand_over": {"member": _TEXT, "reason": _TEXT},
    "report_blocked": {"reason": _TEXT},
    "show_file": {"path": _TEXT, "caption": _TEXT},
}
_REQUIRED = {
    "ask_human": ["question"],
    "ask_member": ["member", "question"],
    "hand_over": ["member"],
    "report_blocked": ["reason"],
    "show_file": ["path"],
}
NAMES = tuple(PARAMETERS)


def describe(name: str, language: Language) -> str:
    """What a model is told of a tool."""
    return render(f"tools.about.{name}", language)


def find_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    properties = PARAMETERS[name]
    return {"type": "object", "properties": properties, "required": _REQUIRED[name], "additionalProperties": False}


class MemberTools:
    """The tools of one turn. Files are shown from `folder` only, and none of `hidden` places."""

    def __init__(self, turn: TurnInput, desk: Desk, folder: Path | None, hidden: Sequence[Path] = ()) -> None:
        self._turn = turn
        self._desk = desk
        self._folder = (folder or Path()).absolute()
        self._hidden = hidden
        self._calls = 0

    async def ask_human(self, question: str, options: list[str] | None = None, to: str = "") -> str:
        return await self._desk.ask_human(_hide(question), tuple(map(_hide, options or ())), to)

    async def ask_member(self, member: str, question: str) -> str:
        return await self._desk.ask_member(member, _hide(question))

    async def hand_over(self, member: str, reason: str = "") -> str:
        return await self._desk.hand_over(member, _hide(reason))

    async def report_blocked(self, reason: str) -> str:
        return await self._desk.report_blocked(_hide(reason))

    async def show_file(self, path: str, caption: str = "") -> str:
        data = await asyncio.to_thread(read_file, self._folder, path, self._hidden)
        shown = Path(path)
        name = shown.relative_to(self._folder) if shown.is_absolute() else shown
        return await self._desk.show_file(_hide(name.as_posix()), _hide_in_file(data), _hide(caption))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool by its name. Raises ToolProblem with a sentence for the member."""
        check_arguments(name, arguments)
        self._calls += 1
        if self._calls > limits.OWN_TOOL_CALLS:
            raise ToolProblem(f"you have called these tools {limits.OWN_TOOL_CALLS} times: end your turn")
        try:
            result = await getattr(self, name)(**arguments)
        except Refused as refusal:
            raise ToolProblem(explain(refusal, self._turn.language)) from None
        return str(result)


def _hide(text: str) -> str:
    """Remove secrets of this process from what a member tells by a tool, as from all that it says."""
    return hide_secrets(text, os.environ)


def _hide_in_file(data: bytes) -> bytes:
    try:
        return _hide(data.decode()).encode()
    except UnicodeDecodeError:  # a picture
        return data


class ToolProblem(Exception):
    """A tool refused to act; the message is a sentence for the member."""


def check_arguments(name: str, arguments: Mapping[str, Any]) -> None:
    """Raise ToolProblem if there is no such tool or it cannot be called so."""
    if name not in PARAMETERS:
        raise ToolProblem(f"no tool {name!r}; there are {', '.join(NAMES)}")
    known, missing = PARAMETERS[name], [each for each in _REQUIRED[name] if each not in arguments]
    unknown = [each for each in arguments if each not in known]
    if missing or unknown:
        raise ToolProblem(f"{name} takes {', '.join(known)}; required: {', '.join(_REQUIRED[name])}")
    for each, value in arguments.items():
        is_list = known[each]["type"] == "array"
        fits = (
            isinstance(value, list) and all(isinstance(one, str) for one in value)
            if is_list
            else isinstance(value, str)
        )
        if not fits:
            raise ToolProblem(f"{each} of {name} must be {'a list of texts' if is_list else 'a text'}")


def read_file(folder: Path, path: str, hidden: Sequence[Path] = ()) -> bytes:
    """Read a file of a folder. Raises Refused for one that is elsewhere, also behind a link, or too large.

    A member's program may change the folder meanwhile, or put a link in its place: one to what is hidden from it is
    not followed.
    """
    try:
        top = folder.resolve()
        inside = (folder / path).resolve(strict=True).relative_to(top)
        if ".git" in inside.parts or any(_leads_into(place, folder, top / inside) for place in hidden):
            raise Refused("no_such_file", detail=path[: limits.LABEL_CHARS])
        with os.fdopen(_open(top, inside), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refused("no_such_file", detail=path[: limits.LABEL_CHARS])
            if status.st_size > limits.FILE_BYTES:
                raise Refused("file_too_large", length=status.st_size, limit=limits.FILE_BYTES)
            return file.read(limits.FILE_BYTES)
    except (OSError, ValueError, RuntimeError):
        raise Refused("no_such_file", detail=path[: limits.LABEL_CHARS]) from None


def _leads_into(place: Path, folder: Path, file: Path) -> bool:
    """Whether a file is in a hidden place: one of Moot's own files, or any, unless the folder itself, by its name, is
    there too, as the trees are."""
    if any(file.is_relative_to(place.resolve() / name) for name in MOOT_FILES):
        return True
    is_there = folder.is_relative_to(place.absolute()) or folder.is_relative_to(place.resolve())
    return file.is_relative_to(place.resolve()) and not is_there


def _open(top: Path, inside: Path) -> int:
    """Open a file below a folder without following a link on the way. Raises OSError."""
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in inside.parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return os.open(inside.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)
