"""Codex: `codex exec --json` (measured with 0.166.0). Pure."""

from collections.abc import Iterator

from moot.agents.cli.dialect import (
    Answer,
    ToolUse,
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
from moot.agents.cli.presets import Login, Permissions, Preset, option
from moot.agents.environment import NETWORK_NAMES
from moot.agents.output_limits import PartialOutput
from moot.core.session.usage import Usage
from moot.runtime.ports import Result, Step


class CodexReader:
    """`spent_before` is subtracted: a resumed thread counts its tokens from its beginning."""

    def __init__(self, spent_before: Usage | None = None) -> None:
        self.session_id: str | None = None
        self.spent = spent_before or Usage()
        self._before = self.spent
        self._answer = Answer()
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
                self.spent = make_usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")))
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
            yield _describe(kind, item)
        if is_over:
            failed = item.get("status") == "failed" or bool(item.get("error"))
            output = item.get("aggregated_output") or item.get("result") or item.get("error")
            code = item.get("exit_code")
            exit_note = f"\n(exit {code})" if isinstance(code, int) and code else ""
            yield observe(f"{as_text(output).strip()}{exit_note}".strip() or word(item, "status"), failed=failed)

    def result(self) -> Result | None:
        if self._failure is not None:
            raise read_failure("codex", self._failure)
        if not self._is_over:
            return None
        new = make_usage(
            max(self.spent.input_tokens - self._before.input_tokens, 0),
            max(self.spent.output_tokens - self._before.output_tokens, 0),
        )
        return Result(text=self._answer.text, usage=new)


def _describe(kind: str, item: Json) -> Step:
    changes = item.get("changes")
    if kind == "file_change" and isinstance(changes, list):
        files = ", ".join(f"{word(change, 'kind')} {word(change, 'path')}".strip() for change in changes)
        return Step(action=shorten(f"edit: {files}"))
    if kind == "mcp_tool_call":
        name = f"{word(item, 'server')}.{word(item, 'tool')}"
        return ToolUse(name=name, arguments=item.get("arguments")).step()
    return ToolUse(name=kind.replace("_", " "), arguments=item).step()


def list_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    sandbox = {"read": "read-only", "edit": "workspace-write", "all": "danger-full-access"}[permissions]
    flags = ("--json", "--skip-git-repo-check", "--disable", "plugins", "--sandbox", sandbox)
    quiet = ("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
    resume = ("resume", session_id) if session_id else ()
    return ("codex", "exec", *flags, *quiet, *option("-m", model), *resume, "-")


CODEX = Preset(
    name="codex",
    argv=list_arguments,
    reader=CodexReader,
    names=("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", *NETWORK_NAMES),
    keys=("CODEX_API_KEY",),  # it takes OPENAI_API_KEY only by `codex login`
    login=Login(folder=".codex", file="auth.json", variable="CODEX_HOME"),
    install="npm install -g @openai/codex",
    tested_with="0.166.0",
)
