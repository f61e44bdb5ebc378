"""What the readers of the CLIs share: their shape, and how much of what a CLI did is told."""

import json
from collections.abc import Iterator
from typing import Any, Protocol

from msgspec import Struct

from moot.agents.cli.lines import Json
from moot.agents.output_limits import PartialOutput
from moot.core.session.usage import Usage
from moot.core.text import clean, cut, is_blank
from moot.runtime.ports import Delta, Result, Step, Thinking

STEP_CHARS = 4_000


class Dialect(Protocol):
    """Reads one turn of a CLI. Pure: events in, outputs out."""

    session_id: str | None
    spent: Usage  # by the whole conversation, of programs that count that way; otherwise nothing

    def read(self, event: Json) -> Iterator[PartialOutput]:
        """What an event says; nothing for one that is not known."""

    def result(self) -> Result | None:
        """The end that the CLI told; None when it told none. Raises AgentError when it told a failure."""


class Spoken:
    """What a CLI said. The last of it is its answer; what it said before it used a tool was talk on the way."""

    def __init__(self) -> None:
        self._current = ""
        self._before = ""

    def say(self, text: str) -> None:
        self._current += text

    def move_on(self) -> Iterator[Step]:
        """Something else begins: what was said so far was a thought."""
        if not is_blank(self._current):
            self._before, self._current = self._current, ""
            yield Step(thought=shorten(self._before))

    @property
    def text(self) -> str:
        return self._before if is_blank(self._current) else self._current


class ToolUse(Struct, frozen=True, kw_only=True):
    name: str
    arguments: Any = None

    def step(self) -> Step:
        """A list of things to do is told as such, a command as it stands, anything else as JSON."""
        todos = read_todos(self.arguments)
        if todos:
            return Step(thought=shorten(todos))
        arguments = self.arguments if isinstance(self.arguments, dict) else {}
        for key in ("command", "cmd", "file_path", "path", "query", "pattern", "url", "prompt", "description"):
            if isinstance(arguments.get(key), str):
                return Step(action=shorten(f"{self.name}: {arguments[key]}"))
        told = f": {json.dumps(arguments, ensure_ascii=False)}" if arguments else ""
        return Step(action=shorten(f"{self.name}{told}"))


def read_todos(arguments: object) -> str:
    """`☑ done`, `▶ under way`, `☐ open`, one a line; empty when it is no list of things to do."""
    entries = arguments.get("todos") or arguments.get("items") if isinstance(arguments, dict) else None
    if not isinstance(entries, list):
        return ""
    lines = []
    for entry in entries:
        said = (
            entry.get("content") or entry.get("text") or entry.get("description") if isinstance(entry, dict) else None
        )
        if not isinstance(said, str):
            return ""
        is_done = entry.get("completed") is True or entry.get("status") == "completed"
        lines.append(f"{'☑' if is_done else '▶' if entry.get('status') == 'in_progress' else '☐'} {said}")
    return "\n".join(lines)


def observe(value: object, *, failed: bool = False) -> Step:
    """What came of something."""
    told = shorten(as_text(value)) or "(nothing)"
    return Step(observation=f"failed: {told}" if failed else told)


def as_text(value: object) -> str:
    """Text, the texts of a list of content blocks, or JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case {"text": str(text)}:
            return text
        case {"content": content}:
            return as_text(content)
        case list():
            return "\n".join(as_text(each) for each in value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def shorten(text: str) -> str:
    return cut(clean(text).strip(), STEP_CHARS)


def show(text: str) -> Iterator[Delta]:
    """A piece of text, safe to show."""
    safe = clean(text)
    if safe:
        yield Delta(safe)


def show_thought(text: str) -> Iterator[Thinking]:
    """A piece of a thought, safe to show."""
    safe = clean(text)
    if safe:
        yield Thinking(safe)


def count(value: object) -> int:
    """A number of tokens, whatever was written there."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def make_usage(input_tokens: int, output_tokens: int, cost: object = 0.0) -> Usage:
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 10**9
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=float(cost) if is_number else 0.0,  # type: ignore[arg-type]
    )


def part(value: object, key: str) -> Json:
    """The object under a key; an empty one when there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def word(value: object, key: str) -> str:
    """The text under a key; empty when there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
