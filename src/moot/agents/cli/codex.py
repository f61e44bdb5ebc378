"""Codex: `codex exec --json` (measured with 0.166.0). Pure."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from moot.agents.cli.dialect import (
    Answer,
    Tools,
    as_text,
    count,
    make_usage,
    observe,
    part,
    read_todos,
    shorten,
    show,
    word,
)
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.output_limits import PartialOutput
from moot.agents.tool_steps import Found, find_tool, show_change
from moot.core.session.tool_use import ToolKind, ToolUse
from moot.core.session.usage import Usage
from moot.runtime.ports import Result, Step


class CodexReader:
    """`spent_before` is subtracted: a resumed thread counts its tokens from its beginning."""

    def __init__(self, spent_before: Usage | None = None) -> None:
        self.session_id: str | None = None
        self.spent = spent_before or Usage()
        self._before = self.spent
        self._answer = Answer()
        self._tools = Tools()
        self._started: set[str] = set()
        self._is_over = False
        self._failure: str | None = None
        self._last_error = ""

    def read(self, event: Json) -> Iterator[PartialOutput]:
        match event["type"]:
            case "thread.started":
                self.session_id = word(event, "thread_id") or self.session_id
            case "item.started" | "item.updated" | "item.completed":
                yield from self._read_item(part(event, "item"), is_over=event["type"] == "item.completed")
            case "turn.completed":
                usage = part(event, "usage")
                self._is_over = True
                self.spent = make_usage(
                    count(usage.get("input_tokens")),
                    count(usage.get("output_tokens")),
                    cached=usage.get("cached_input_tokens"),
                    thinking=usage.get("reasoning_output_tokens"),
                )
            case "turn.failed":
                self._failure = word(part(event, "error"), "message") or self._last_error or "no reason given"
            case "error":
                self._last_error = word(event, "message")
                yield observe(self._last_error)

    def _read_item(self, item: Json, *, is_over: bool) -> Iterator[PartialOutput]:
        kind = word(item, "type")
        match kind:
            case "agent_message" if is_over:
                yield from self._answer.end_block()
                self._answer.add(word(item, "text"))
                yield from show(word(item, "text"))
            case "reasoning" if is_over:
                yield Step(thought=shorten(word(item, "text")))
            case "todo_list":
                yield Step(thought=shorten(read_todos(item)))
            case "error":
                yield observe(word(item, "message"))  # a warning: failures come as turn.failed
            case "agent_message" | "reasoning" | "":
                pass
            case _:
                yield from self._read_tool(kind, item, is_over=is_over)

    def _read_tool(self, kind: str, item: Json, *, is_over: bool) -> Iterator[PartialOutput]:
        """Yield a step when a command, a change of files, a search or a tool call begins, and one with its result."""
        item_id = word(item, "id")
        if item_id not in self._started:
            self._started.add(item_id)
            yield from self._answer.end_block()
            yield self._tools.begin(*_describe(kind, item))
        if is_over:
            failed = item.get("status") == "failed" or bool(item.get("error"))
            output = item.get("aggregated_output") or item.get("result") or item.get("error")
            code = item.get("exit_code")
            exit_note = f"\n(exit {code})" if isinstance(code, int) and code else ""
            told = f"{as_text(output).strip()}{exit_note}".strip() or word(item, "status")
            exit_code = code if isinstance(code, int) else None
            yield self._tools.end(item_id, told, failed=failed, exit_code=exit_code)

    def result(self) -> Result | None:
        if self._failure is not None:
            raise read_failure("codex", self._failure)
        if not self._is_over:
            return None
        return Result(text=self._answer.text, usage=subtract_tokens(self.spent, self._before))


def subtract_tokens(total: Usage, before: Usage) -> Usage:
    """Return what was spent since: Codex counts from the beginning of a thread."""
    return make_usage(
        max(total.input_tokens - before.input_tokens, 0),
        max(total.output_tokens - before.output_tokens, 0),
        cached=max(total.cached_tokens - before.cached_tokens, 0),
        thinking=max(total.thinking_tokens - before.thinking_tokens, 0),
    )


def _describe(kind: str, item: Json) -> tuple[str, str, object, Found]:
    """Return what `Tools.begin` takes: the id, the name and the arguments of the call, and what kind of use it is."""
    item_id = word(item, "id")
    changes = item.get("changes")
    if kind == "file_change" and isinstance(changes, list):
        files = ", ".join(f"{word(change, 'kind')} {word(change, 'path')}".strip() for change in changes)
        return item_id, "edit", {"path": files}, find_changes(item_id, changes)
    if kind == "mcp_tool_call":
        name = f"{word(item, 'server')}.{word(item, 'tool')}"
        return item_id, name, item.get("arguments"), find_tool(item_id, name, item.get("arguments"))
    given = {**item, "command": unwrap_shell(word(item, "command"))} if kind == "command_execution" else item
    return item_id, kind.replace("_", " "), item, find_tool(item_id, kind, given)


def find_changes(item_id: str, changes: Iterable[object]) -> Found:
    """Describe a change of files: kind, paths and, where it is reported, the diff."""
    paths = tuple(word(change, "path") for change in changes)
    kinds = {word(change, "kind") or word(part(change, "kind"), "type") for change in changes}
    diff = "\n".join(_show_diff(change) for change in changes if word(change, "diff"))
    kind: ToolKind = "delete" if kinds == {"delete"} else "edit"
    return Found(tool=ToolUse(id=item_id, kind=kind, title=f"edit {', '.join(paths)}", paths=paths), diff=diff or None)


def _show_diff(change: object) -> str:
    """Return the diff of one file with its header; that of a new file is its content."""
    path, diff = word(change, "path"), word(change, "diff")
    if diff.startswith("--- "):
        return diff
    if diff.startswith("@@"):
        return f"--- {path}\n+++ {path}\n{diff}".rstrip("\n")
    is_deleted = (word(change, "kind") or word(part(change, "kind"), "type")) == "delete"
    return show_change(path, diff, "") if is_deleted else show_change(path, None, diff)


def unwrap_shell(command: str) -> str:
    """Return the command that a shell is told to run, without the shell: `/bin/bash -lc 'make test'` is `make test`."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_wrapped = len(words) == 3 and words[1] in ("-lc", "-c") and Path(words[0]).name in ("bash", "sh", "zsh")
    return words[2] if is_wrapped else command
