"""Turns the `session/update` notifications of an ACP agent into steps and pieces of text. Pure.

Agents differ: some announce a tool call without its arguments and send them later, some report only its end, some send
a warning as a message before the answer.
"""

import re
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
    show_thought,
    word,
)
from moot.agents.cli.lines import Json
from moot.agents.output_limits import PartialOutput
from moot.core.session.usage import Usage
from moot.core.text import clean
from moot.runtime.ports import Step

_OVER = ("completed", "failed")
_WARNING = re.compile(r"(?:Warning: )?Model metadata for .{1,200} not found\.")  # Codex sends it as answer text


class UpdateReader:
    def __init__(self) -> None:
        self._answer = Answer()
        self._thought = ""
        self._message: object = None
        self._tools: dict[str, Json] = {}  # what is known of each call, by its id
        self._announced: set[str] = set()
        self._finished: set[str] = set()
        self._cost = 0.0
        self._usages: list[Json] = []  # of each request to the model, as qwen reports them

    @property
    def text(self) -> str:
        return self._answer.text

    def read(self, update: Json) -> Iterator[PartialOutput]:
        """Yield the outputs that an update stands for; none for an unknown update."""
        kind = word(update, "sessionUpdate")
        if kind != "agent_thought_chunk":
            yield from self.end_thought()
        match kind:
            case "agent_message_chunk":
                yield from self._read_message(update)
            case "agent_thought_chunk":
                thought = word(part(update, "content"), "text")
                self._thought += thought
                yield from show_thought(thought)
            case "tool_call" | "tool_call_update":
                yield from self.read_tool(update)
            case "plan":
                yield Step(thought=shorten(read_todos({"todos": update.get("entries")})))
            case "usage_update":
                cost = part(update, "cost")
                if cost.get("currency") == "USD":
                    self._cost = make_usage(0, 0, cost.get("amount")).cost_usd

    def _read_message(self, update: Json) -> Iterator[PartialOutput]:
        if usage := part(part(update, "_meta"), "usage"):
            self._usages.append(usage)
        text = word(part(update, "content"), "text")
        if not text:
            return
        if _WARNING.match(text):
            yield observe(text)
            return
        if update.get("messageId") != self._message:
            self._message = update.get("messageId")
            yield from self._answer.end_block()
        self._answer.add(text)
        yield from show(text)

    def read_tool(self, call: Json) -> Iterator[PartialOutput]:
        """Read a tool call, also the one of a permission request, which may be its first mention."""
        call_id = word(call, "toolCallId")
        known = self._tools.setdefault(call_id, {})
        known.update({key: value for key, value in call.items() if value not in (None, {}, [], "")})
        is_over = known.get("status") in _OVER
        if call_id not in self._announced and (is_over or known.get("status") == "in_progress" or _says_what(known)):
            self._announced.add(call_id)
            yield from self._answer.end_block()
            yield describe_tool(known)
        if is_over and call_id not in self._finished:
            self._finished.add(call_id)
            output = known.get("rawOutput") or known.get("content")
            yield observe(output, failed=known.get("status") == "failed")

    def end_thought(self) -> Iterator[Step]:
        if self._thought.strip():
            yield Step(thought=shorten(self._thought))
        self._thought = ""

    def usage(self, response: Json) -> Usage:
        """Return the tokens and the cost of this turn, from whichever place the agent reports them in.

        The cost is that of the process, which lives for one turn.
        """
        quota = part(part(part(response, "_meta"), "quota"), "token_count")
        reports = next((place for place in ([part(response, "usage")], self._usages, [quota]) if any(place)), [])
        return make_usage(
            sum(map(_count_input, reports)),
            sum(count(report.get("outputTokens") or report.get("output_tokens")) for report in reports),
            self._cost,
        )


def _count_input(report: Json) -> int:
    """Return the input tokens with those that were written to or read from a cache.

    Some agents count these among the input and some beside it; the total has them in any case.
    """
    output = count(report.get("outputTokens"))
    return max(
        count(report.get("totalTokens")) - output, count(report.get("inputTokens") or report.get("input_tokens"))
    )


def _says_what(call: Json) -> bool:
    """Whether the call can be described already: a command without its text cannot."""
    raw = call.get("rawInput")
    return bool(raw.get("command") or word(call, "kind") != "execute") if isinstance(raw, dict) else bool(raw)


def describe_change(call: Json) -> str:
    """Return the changes of files that a call is about to make, as diffs; empty if it reports none."""
    content = call.get("content")
    changes = [block for block in content if word(block, "type") == "diff"] if isinstance(content, list) else []
    return clean(as_text(changes)).strip()


def describe_tool(call: Json) -> Step:
    """Describe a call by its command or its title."""
    title, raw = word(call, "title"), call.get("rawInput")
    if read_todos(raw):
        return ToolUse(name=title, arguments=raw).step()
    command = as_text(raw.get("command")) if isinstance(raw, dict) and raw.get("command") else ""
    kind = word(call, "kind") or "tool"
    return Step(action=shorten(f"{kind}: {command or title or 'unnamed'}"))
