"""Turns the `session/update` notifications of an ACP agent into steps and pieces of text. Pure.

Agents differ: some announce a tool call without its arguments and send them later, some report only its end, some send
a warning as a message before the answer.
"""

import re
from collections.abc import Iterator
from typing import get_args

from moot.agents.cli.dialect import (
    Answer,
    as_text,
    count,
    describe_call,
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
from moot.agents.tool_steps import Found, ToolSteps, find_change, list_paths
from moot.core.session.tool_use import ToolKind, ToolUse
from moot.core.session.usage import Usage
from moot.core.text import clean
from moot.runtime.ports import Step

_OVER = ("completed", "failed")
_KINDS: dict[str, ToolKind] = {kind: kind for kind in get_args(ToolKind)}  # those of the protocol have the same names
_WARNING = re.compile(r"(?:Warning: )?Model metadata for .{1,200} not found\.")  # Codex sends it as answer text


class UpdateReader:
    def __init__(self) -> None:
        self._answer = Answer()
        self._thought = ""
        self._message: object = None
        self._tools: dict[str, Json] = {}  # what is known of each call, by its id
        self._announced: set[str] = set()
        self._finished: set[str] = set()
        self._printed: dict[str, str] = {}  # by the command of each call
        self._steps = ToolSteps()
        self._cost = 0.0
        self._has_failed = False
        self._usages: list[Json] = []  # of each request to the model, as qwen reports them

    @property
    def has_failed(self) -> bool:
        """Whether the agent says, beside its text, that the text is an error."""
        return self._has_failed

    @property
    def text(self) -> str:
        return self._answer.text

    def read(self, update: Json) -> Iterator[PartialOutput]:
        """Yield the outputs that an update stands for; none for an unknown update."""
        kind = word(update, "sessionUpdate")
        self._has_failed = self._has_failed or "systemError" in str(update.get("_meta"))  # codex-acp
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
        if call.get("status") in _OVER and "content" in call:
            known["content"] = call["content"]  # what it gave, in place of what it was about to do
        printed = word(part(part(call, "_meta"), "terminal_output_delta"), "data")  # Codex: of its terminal
        self._printed[call_id] = self._printed.get(call_id, "") + printed
        is_over = known.get("status") in _OVER
        if call_id not in self._announced and (is_over or known.get("status") == "in_progress" or _says_what(known)):
            self._announced.add(call_id)
            yield from self._answer.end_block()
            yield self._steps.begin(find_use(known), describe_tool(known))
        if is_over and call_id not in self._finished:
            self._finished.add(call_id)
            failed = known.get("status") == "failed"
            said = observe(_find_output(known, self._printed.get(call_id, "")), failed=failed)
            changed = describe_change(known) or None
            yield self._steps.end(call_id, said, failed=failed, exit_code=_find_exit(known), diff=changed)

    def find_call(self, call_id: str) -> Json:
        """Return what is known of a tool call; nothing of an unknown one."""
        return self._tools.get(call_id, {})

    def end_thought(self) -> Iterator[Step]:
        if self._thought.strip():
            yield Step(thought=shorten(self._thought))
        self._thought = ""

    def usage(self, response: Json) -> Usage:
        """Return the tokens and the cost of this turn, from whichever place the agent reports them in.

        The cost is that of the process so far, over all of its turns.
        """
        quota = part(part(part(response, "_meta"), "quota"), "token_count")
        reports = next((place for place in ([part(response, "usage")], self._usages, [quota]) if any(place)), [])
        return make_usage(
            sum(map(_count_input, reports)),
            sum(map(_count_output, reports)),
            self._cost,
            cached=sum(count(report.get("cachedReadTokens")) for report in reports),
            thinking=sum(count(report.get("thoughtTokens")) for report in reports),
        )


def _count_input(report: Json) -> int:
    """Return the input tokens with those that were written to or read from a cache.

    Some agents count these among the input and some beside it; the total has them in any case.
    """
    given = count(report.get("inputTokens") or report.get("input_tokens"))
    return max(count(report.get("totalTokens")) - _count_output(report), given)


def _count_output(report: Json) -> int:
    """Return the output tokens with those of thinking; opencode counts these beside it: all parts make the total."""
    said, thinking = (
        count(report.get("outputTokens") or report.get("output_tokens")),
        count(report.get("thoughtTokens")),
    )
    given = sum(count(report.get(name)) for name in ("inputTokens", "cachedReadTokens", "cachedWriteTokens"))
    return said + thinking if given + said + thinking == count(report.get("totalTokens")) else said


def _says_what(call: Json) -> bool:
    """Whether the call can be described already: a command without its text cannot."""
    raw = call.get("rawInput")
    return bool(raw.get("command") or word(call, "kind") != "execute") if isinstance(raw, dict) else bool(raw)


def describe_change(call: Json) -> str:
    """Return the changes of files that a call is about to make, as diffs; empty if it reports none."""
    return clean(as_text(_list_changes(call))).strip()


def _list_changes(call: Json) -> list[Json]:
    content = call.get("content")
    return [block for block in content if word(block, "type") == "diff"] if isinstance(content, list) else []


def find_use(call: Json) -> Found:
    """Return what is known of a call as data."""
    raw = part(call, "rawInput")
    kind = "other" if find_served(call) else _KINDS.get(word(call, "kind"), "other")
    command = as_text(raw.get("command")) if raw.get("command") else ""
    paths = _list_paths(call) if kind != "execute" else []
    used = ToolUse(
        id=word(call, "toolCallId"),
        kind=kind,
        title=command or word(call, "title") or kind,
        paths=tuple(paths),
    )
    return Found(tool=used, diff=describe_change(call) or (find_change(raw) if kind == "edit" else None))


def find_served(call: Json) -> str:
    """Return the name of an MCP server's tool as codex-acp tells it, which calls them commands; else nothing."""
    raw = part(call, "rawInput")
    is_served = part(call, "_meta").get("is_mcp_tool_call") is True  # arguments of other tools may look the same
    return f"mcp__{word(raw, 'server')}__{word(raw, 'tool')}" if is_served else ""


def _list_paths(call: Json) -> list[str]:
    """Return the files of a call: those of its changes, else the places that it names, else its arguments."""
    changed = [word(block, "path") for block in _list_changes(call)]
    locations = call.get("locations")
    places = [word(place, "path") for place in locations] if isinstance(locations, list) else []
    paths = [path for path in changed or places if path]
    return list(dict.fromkeys(paths)) or list_paths(part(call, "rawInput"))


def _find_output(call: Json, printed: str) -> object:
    """Return what a call gave: what its terminal printed, its raw output as text, or its content."""
    raw = call.get("rawOutput")
    if printed.strip():
        return printed
    if isinstance(raw, str):
        return raw
    if word(raw, "output"):
        return word(raw, "output")
    content = call.get("content")
    blocks = [block for block in content if word(block, "type") != "terminal"] if isinstance(content, list) else content
    return blocks or raw


def _find_exit(call: Json) -> int | None:
    """Return the exit code of a command, from whichever place the agent reports it in."""
    raw = call.get("rawOutput")
    places = (
        part(part(call, "_meta"), "terminal_exit").get("exit_code"),
        part(raw, "metadata").get("exit"),
        *((raw.get("exit_code"), raw.get("exitCode")) if isinstance(raw, dict) else ()),
    )
    return next((code for code in places if isinstance(code, int) and not isinstance(code, bool)), None)


def describe_tool(call: Json) -> Step:
    """Describe a call by its command or its title."""
    title, raw = word(call, "title"), call.get("rawInput")
    if read_todos(raw):
        return describe_call(title, raw)
    command = as_text(raw.get("command")) if isinstance(raw, dict) and raw.get("command") else ""
    kind = word(call, "kind") or "tool"
    return Step(action=shorten(f"{kind}: {command or title or 'unnamed'}"))
