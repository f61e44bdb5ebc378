"""What an ACP agent tells while it works: `session/update` as steps and pieces of text. Pure.

Agents differ: some send a tool call without saying what it is and fill it in later, some send only its end, some put a
warning in front of the answer as a message of its own.
"""

import re
from collections.abc import Iterator

from moot.agents.cli.dialect import (
    Spoken,
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
from moot.runtime.ports import Step

_OVER = ("completed", "failed")
_WARNING = re.compile(r"(?:Warning: )?Model metadata for .{1,200} not found\.")  # Codex says it as part of the answer


class UpdateReader:
    def __init__(self) -> None:
        self._spoken = Spoken()
        self._thought = ""
        self._message: object = None
        self._tools: dict[str, Json] = {}  # what is known of each call
        self._told: set[str] = set()
        self._over: set[str] = set()
        self._cost = 0.0

    @property
    def text(self) -> str:
        return self._spoken.text

    def read(self, update: Json) -> Iterator[PartialOutput]:
        """What an update says; nothing for one that is not known."""
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
        said = word(part(update, "content"), "text")
        if not said:
            return
        if _WARNING.match(said):
            yield observe(said)
            return
        if update.get("messageId") != self._message:
            self._message = update.get("messageId")
            yield from self._spoken.move_on()
        self._spoken.say(said)
        yield from show(said)

    def read_tool(self, call: Json) -> Iterator[PartialOutput]:
        """Also for the call that a permission is asked for, which may be the first that is heard of it."""
        call_id = word(call, "toolCallId")
        known = self._tools.setdefault(call_id, {})
        known.update({key: value for key, value in call.items() if value not in (None, {}, [], "")})
        is_over = known.get("status") in _OVER
        if call_id not in self._told and (is_over or known.get("status") == "in_progress" or _says_what(known)):
            self._told.add(call_id)
            yield from self._spoken.move_on()
            yield describe_tool(known)
        if is_over and call_id not in self._over:
            self._over.add(call_id)
            came = known.get("rawOutput") or known.get("content")
            yield observe(came, failed=known.get("status") == "failed")

    def end_thought(self) -> Iterator[Step]:
        if self._thought.strip():
            yield Step(thought=shorten(self._thought))
        self._thought = ""

    def usage(self, response: Json) -> Usage:
        """Tokens as the answer to the prompt counts them, here or there; the cost of the whole conversation so far."""
        counted = part(response, "usage")
        if counted:
            return make_usage(count(counted.get("inputTokens")), count(counted.get("outputTokens")), self._cost)
        counted = part(part(part(response, "_meta"), "quota"), "token_count")
        return make_usage(count(counted.get("input_tokens")), count(counted.get("output_tokens")), self._cost)


def _says_what(call: Json) -> bool:
    """A command that is still to come would make it another call."""
    raw = call.get("rawInput")
    return bool(raw.get("command") or word(call, "kind") != "execute") if isinstance(raw, dict) else bool(raw)


def describe_tool(call: Json) -> Step:
    """The title says it best, unless it is only the name of a tool."""
    title, raw = word(call, "title"), call.get("rawInput")
    if read_todos(raw):
        return ToolUse(name=title, arguments=raw).step()
    command = as_text(raw.get("command")) if isinstance(raw, dict) and raw.get("command") else ""
    kind = word(call, "kind") or "tool"
    return Step(action=shorten(f"{kind}: {command or title or 'unnamed'}"))
