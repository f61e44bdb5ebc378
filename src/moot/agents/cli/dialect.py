"""The interface of a reader of CLI output, and the functions that the readers of CLIs and ACP agents share. Pure."""

import json
from collections.abc import Iterator
from typing import Protocol

from moot.agents.cli.lines import Json
from moot.agents.output_limits import PartialOutput
from moot.agents.tool_steps import Found, ToolSteps, find_tool, show_change
from moot.core.session.usage import Usage
from moot.core.text import clean, cut, is_blank
from moot.runtime.ports import Delta, Result, Step, Thinking

STEP_CHARS = 4_000


class Dialect(Protocol):
    """Reads one turn of a CLI. Pure: events in, outputs out."""

    session_id: str | None
    spent: Usage  # by the whole conversation, of programs that count that way; otherwise nothing

    def read(self, event: Json) -> Iterator[PartialOutput]:
        """Yield the outputs that an event stands for; none for an unknown event."""

    def result(self) -> Result | None:
        """Return the result that the CLI reported, or None. Raises AgentError if it reported a failure."""


class Answer:
    """Collects an agent's text. The last block is its answer; a block before a tool call becomes a step."""

    def __init__(self) -> None:
        self._current = ""
        self._before = ""

    def add(self, text: str) -> None:
        self._current += text

    def end_block(self) -> Iterator[Step]:
        """Begin a new block; the text so far becomes a thought. It stays the answer if no other text follows."""
        if not is_blank(self._current):
            self._before, self._current = self._current, ""
            yield Step(thought=shorten(self._before))

    @property
    def text(self) -> str:
        return self._before if is_blank(self._current) else self._current


class Tools:
    """Tells the tool calls of one turn that are known by the name and the arguments of the tool."""

    def __init__(self) -> None:
        self._steps = ToolSteps()

    def begin(self, call_id: str, name: str, arguments: object, found: Found | None = None) -> Step:
        """Return the step of a call that begins."""
        return self._steps.begin(found or find_tool(call_id, name, arguments), describe_call(name, arguments))

    def end(
        self,
        call_id: str,
        output: object,
        *,
        failed: bool = False,
        exit_code: int | None = None,
        diff: str | None = None,
    ) -> Step:
        """Return the step of a call that is over."""
        return self._steps.end(call_id, observe(output, failed=failed), failed=failed, exit_code=exit_code, diff=diff)


def describe_call(name: str, arguments: object) -> Step:
    """Describe a call: a to-do list as such, else the tool with its most telling argument, or all as JSON."""
    todos = read_todos(arguments)
    if todos:
        return Step(thought=shorten(todos))
    given = arguments if isinstance(arguments, dict) else {}
    for key in ("command", "cmd", "file_path", "path", "query", "pattern", "url", "prompt", "description"):
        if isinstance(given.get(key), str):
            return Step(action=shorten(f"{name}: {given[key]}"))
    details = f": {json.dumps(given, ensure_ascii=False)}" if given else ""
    return Step(action=shorten(f"{name}{details}"))


def read_todos(arguments: object) -> str:
    """Format a to-do list, one entry per line: `☑ done`, `▶ in progress`, `☐ open`. Empty if it is not such a list."""
    entries = arguments.get("todos") or arguments.get("items") if isinstance(arguments, dict) else None
    if not isinstance(entries, list):
        return ""
    lines = []
    for entry in entries:
        text = (
            entry.get("content") or entry.get("text") or entry.get("description") if isinstance(entry, dict) else None
        )
        if not isinstance(text, str):
            return ""
        is_done = entry.get("completed") is True or entry.get("status") == "completed"
        lines.append(f"{'☑' if is_done else '▶' if entry.get('status') == 'in_progress' else '☐'} {text}")
    return "\n".join(lines)


def observe(value: object, *, failed: bool = False) -> Step:
    """Make a step of the result of a tool call."""
    text = shorten(as_text(value)) or "(nothing)"
    return Step(observation=f"failed: {text}" if failed else text)


def as_text(value: object) -> str:
    """Return text as it is, a change of a file as a diff, content blocks joined, and anything else as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case {"type": "diff", "path": str(path), "newText": str(new), **rest}:
            old = rest.get("oldText")
            return show_change(path, old if isinstance(old, str) else None, new)
        case {"text": str(text)}:
            return text
        case {"content": content}:
            return as_text(content)
        case list():
            return "\n".join(as_text(block) for block in value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def shorten(text: str) -> str:
    return cut(clean(text).strip(), STEP_CHARS)


def show(text: str) -> Iterator[Delta]:
    """Yield a piece of text without control characters; nothing if none is left."""
    safe = clean(text)
    if safe:
        yield Delta(safe)


def show_thought(text: str) -> Iterator[Thinking]:
    """Yield a piece of a thought without control characters; nothing if none is left."""
    safe = clean(text)
    if safe:
        yield Thinking(safe)


def count(value: object) -> int:
    """Return a number of tokens; 0 for anything that is not a plausible one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def make_usage(
    input_tokens: int, output_tokens: int, cost: object = 0.0, *, cached: object = 0, thinking: object = 0
) -> Usage:
    """Return what a turn cost. `cached` is a part of the input, `thinking` a part of the output."""
    cost_usd = 0.0
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 10**9:
        cost_usd = float(cost)
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=cost_usd,
        cached_tokens=min(count(cached), input_tokens),
        thinking_tokens=min(count(thinking), output_tokens),
    )


def part(value: object, key: str) -> Json:
    """Return the object under a key, or an empty one."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def word(value: object, key: str) -> str:
    """Return the text under a key, or an empty one."""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
