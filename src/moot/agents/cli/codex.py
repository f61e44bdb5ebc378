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


class ItemReader:
    """Tells what Codex does in a turn: commands, changes of files, searches, tools of servers.

    Its two protocols tell the same items; `codex app-server` has other words for them (`codex_live.translate`).
    """

    def __init__(self, answer: Answer) -> None:
        self.items: dict[str, Json] = {}  # by id, as they were last told
        self._answer = answer
        self._tools = Tools()

    def read(self, item: Json, *, is_over: bool) -> Iterator[PartialOutput]:
        """Yield a step when the use of a tool begins, and one with its result."""
        item_id = word(item, "id")
        is_new = item_id not in self.items
        self.items[item_id] = item
        if is_new:
            yield from self._answer.end_block()
            yield self._tools.begin(item_id, *_describe(item))
        if is_over:
            code = item.get("exit_code")
            exit_code = code if isinstance(code, int) else None
            failed = item.get("status") in ("failed", "declined") or bool(item.get("error") or exit_code)
            output = item.get("aggregated_output") or item.get("result") or item.get("error")
            exit_note = f"\n(exit {exit_code})" if exit_code else ""
            told = f"{as_text(output).strip()}{exit_note}".strip() or word(item, "status")
            yield self._tools.end(item_id, told, failed=failed, exit_code=exit_code)


class CodexReader:
    """`spent_before` is subtracted: a resumed thread counts its tokens from its beginning."""

    def __init__(self, spent_before: Usage | None = None) -> None:
        self.session_id: str | None = None
        self.spent = spent_before or Usage()
        self._before = self.spent
        self._answer = Answer()
        self._uses = ItemReader(self._answer)
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
        match word(item, "type"):
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
                yield from self._uses.read(item, is_over=is_over)

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


def _describe(item: Json) -> tuple[str, object, Found]:
    """Return the name and the arguments of a call, and what kind of use it is."""
    kind, item_id, changes = word(item, "type"), word(item, "id"), item.get("changes")
    if kind == "file_change" and isinstance(changes, list):
        files = ", ".join(f"{_find_kind(change)} {word(change, 'path')}".strip() for change in changes)
        return "edit", {"path": files}, find_changes(item_id, changes)
    if kind == "mcp_tool_call":
        name = f"{word(item, 'server')}.{word(item, 'tool')}"
        return name, item.get("arguments"), find_tool(item_id, name, item.get("arguments"))
    given = {**item, "command": unwrap_shell(word(item, "command"))} if kind == "command_execution" else item
    return kind.replace("_", " "), item, find_tool(item_id, kind, given)


def _find_kind(change: object) -> str:
    return word(change, "kind") or word(part(change, "kind"), "type")


def find_changes(item_id: str, changes: Iterable[object]) -> Found:
    """Describe a change of files: kind, paths and, where it is reported, the diff."""
    paths = tuple(word(change, "path") for change in changes)
    kinds = set(map(_find_kind, changes))
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
    return show_change(path, diff, "") if _find_kind(change) == "delete" else show_change(path, None, diff)


def unwrap_shell(command: str) -> str:
    """Return the command that a shell is told to run, without the shell: `/bin/bash -lc 'make test'` is `make test`."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_wrapped = len(words) == 3 and words[1] in ("-lc", "-c") and Path(words[0]).name in ("bash", "sh", "zsh")
    return words[2] if is_wrapped else command
