"""Tells tool calls of any agent as steps: what kind of tool, on which files, what it changed, how it ended. Pure.

Agents name their tools differently and report differently much. What is known when a call begins is remembered until
its end, so that both steps can be understood without the other.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.session.tool_use import ToolKind, ToolUse, count_changes
from moot.core.text import clean
from moot.runtime.ports import Step

_NAMES: dict[ToolKind, tuple[str, ...]] = {
    "read": ("read", "readfile", "readmanyfiles", "view", "viewimage", "notebookread", "ls", "list", "listdirectory"),
    "edit": (
        *("edit", "multiedit", "write", "writefile", "replace", "notebookedit", "applypatch", "patch", "filechange"),
        *("create", "createfile", "strreplace", "strreplaceeditor"),
    ),
    "delete": ("delete", "deletefile", "remove", "rm"),
    "move": ("move", "movefile", "rename", "mv"),
    "search": ("grep", "glob", "search", "searchfilecontent", "grepsearch", "find", "codesearch", "toolsearch"),
    "execute": (
        *("bash", "runshellcommand", "execcommand", "shell", "shellcommand", "commandexecution", "localshell"),
        *("execute", "executecommand", "terminal", "runcommand"),
    ),
    "fetch": ("webfetch", "websearch", "googlewebsearch", "fetch"),
    "think": ("todowrite", "writetodos", "updateplan", "think", "todolist", "exitplanmode"),
}
_KIND_BY_NAME: dict[str, ToolKind] = {name: kind for kind, names in _NAMES.items() for name in names}
_PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "destination", "dir_path")
_PATH_LIST_KEYS = ("paths", "file_paths")
_TELLING_KEYS = ("command", "cmd", "query", "pattern", "url", "prompt", "description")
_EXIT = re.compile(r"^(?:Exit code:?|Exit Code:|\(exit) (\d{1,3})\b", re.MULTILINE)


class Found(Struct, frozen=True, kw_only=True):
    """What is known of a call when it begins. `diff` is the change that it is about to make."""

    tool: ToolUse
    diff: str | None = None


class ToolSteps:
    """The tool calls of one turn."""

    def __init__(self) -> None:
        self._open: dict[str, Found] = {}
        self._count = 0

    def begin(self, found: Found, step: Step) -> Step:
        """Return the step of a call that begins, with what is known of it."""
        self._count += 1
        tool = found.tool if found.tool.id else replace(found.tool, id=f"call_{self._count}")
        self._open[tool.id] = replace(found, tool=tool)
        return replace(step, tool=tool)

    def end(
        self, call_id: str, step: Step, *, failed: bool = False, exit_code: int | None = None, diff: str | None = None
    ) -> Step:
        """Return the step of a call that is over. Without an id it is the one that began last."""
        if not call_id and self._open:
            call_id = next(reversed(self._open))
        found = self._open.pop(call_id, None)
        if found is None:
            return step
        tool = found.tool
        if tool.kind == "execute" and exit_code is None:
            exit_code = _read_exit(step.observation or "", failed=failed)
        has_failed = failed or bool(exit_code)
        diff = None if has_failed else diff or found.diff
        added, removed = count_changes(diff) if diff else (None, None)
        status = "failed" if has_failed else "completed"
        return replace(
            step,
            tool=replace(tool, status=status, exit=exit_code, added=added, removed=removed),
            diff=diff,
        )


def find_kind(name: str) -> ToolKind:
    """Return the kind of a tool by the name that its agent has for it."""
    return _KIND_BY_NAME.get(re.sub(r"[\W_]", "", name).lower(), "other")


def find_tool(call_id: str, name: str, arguments: object, *, kind: ToolKind | None = None) -> Found:
    """Describe a call by the name of its tool and its arguments."""
    given = arguments if isinstance(arguments, dict) else {}
    kind = kind or find_kind(name)
    paths = list_paths(given)
    if kind in ("read", "edit", "delete", "move") and paths:
        title = f"{name} {', '.join(paths)}"
    else:
        telling = next((given[key] for key in _TELLING_KEYS if isinstance(given.get(key), str)), "")
        title = telling if telling and kind != "other" else f"{name}: {telling}" if telling else name
    used = ToolUse(id=call_id, kind=kind, title=title, paths=tuple(paths) if kind != "execute" else ())
    return Found(tool=used, diff=find_change(given) if kind == "edit" else None)


def list_paths(given: Mapping[str, Any]) -> list[str]:
    paths = [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)]
    for key in _PATH_LIST_KEYS:
        many = given.get(key)
        paths += [path for path in many if isinstance(path, str)] if isinstance(many, list) else []
    return list(dict.fromkeys(paths))


def find_change(given: Mapping[str, Any]) -> str | None:
    """Return the change that the arguments of an edit describe, as a diff; None if they describe none.

    Line numbers count from the piece that is replaced: where it stands in the file is not known here.
    """
    path = next(iter(list_paths(given)), "file")
    edits = given.get("edits")
    pieces = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else [given]
    changes = []
    for piece in pieces:
        old = piece.get("old_string", piece.get("oldString", piece.get("old_text")))
        new = piece.get("new_string", piece.get("newString", piece.get("new_text", piece.get("content"))))
        if isinstance(new, str):
            changes.append(show_change(path, old if isinstance(old, str) else None, new))
    return "\n".join(change for change in changes if change) or None


def show_change(path: str, old: str | None, new: str) -> str:
    """Return a change of a file as a unified diff; a file without old text is a new one."""
    before = old.splitlines() if old else []
    return "\n".join(difflib.unified_diff(before, new.splitlines(), path if old else "/dev/null", path, lineterm=""))


def localize(output: Step, folder: Path | None) -> Step:
    """Return a step whose paths are relative to the agent's folder, where they are inside of it."""
    if output.tool is None or folder is None:
        return output
    starts = tuple(dict.fromkeys((f"{folder.absolute()}/", f"{folder.resolve()}/")))
    tool = replace(
        output.tool,
        paths=tuple(_cut_start(path, starts) for path in output.tool.paths),
        title=_cut_starts(output.tool.title, starts),
    )
    diff = output.diff and "\n".join(_localize_lines(output.diff.split("\n"), starts))
    return replace(output, tool=tool, diff=diff)


def localize_found(found: Found, folder: Path | None) -> Found:
    """Return what is known of a call with paths relative to the agent's folder."""
    step = localize(Step(tool=found.tool, diff=found.diff), folder)
    return Found(tool=step.tool or found.tool, diff=step.diff)


def _localize_lines(lines: Iterable[str], starts: tuple[str, ...]) -> Iterator[str]:
    for line in lines:
        yield _cut_starts(line, starts) if line.startswith(("--- ", "+++ ")) else line


def _cut_start(path: str, starts: tuple[str, ...]) -> str:
    return next((path.removeprefix(start) for start in starts if path.startswith(start)), path)


def _cut_starts(text: str, starts: tuple[str, ...]) -> str:
    for start in starts:
        text = text.replace(start, "")
    return text


def _read_exit(said: str, *, failed: bool) -> int | None:
    """Read an exit code from what a command gave, where the agent reports it in words only."""
    match = _EXIT.search(clean(said).removeprefix("failed: "))
    return int(match[1]) if match else None if failed else 0
