"""Claude Code: `claude -p --output-format stream-json` (measured with 2.1.197 and 2.1.325). Pure."""

from collections.abc import Iterator

from moot.agents.cli.dialect import (
    Answer,
    Tools,
    as_text,
    count,
    describe_call,
    make_usage,
    observe,
    part,
    shorten,
    show,
    show_thought,
    word,
)
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.output_limits import PartialOutput
from moot.core.errors import AgentError
from moot.core.session.usage import Usage
from moot.runtime.ports import Result, Step

_ANSWERING = "StructuredOutput"  # the tool by which its model gives an answer of a form; the result repeats it
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class ClaudeReader:
    spent = Usage()  # each turn reports its own usage

    def __init__(self, name: str = "claude") -> None:
        self._name = name  # of the program: others speak as Claude Code does
        self.session_id: str | None = None
        self._answer = Answer()
        self._tools = Tools()
        self._answering: set[str] = set()  # the calls that are the answer
        self._streamed = False  # whether the text of this message has been shown in pieces
        self._status: int | None = None
        self._end: Json | None = None

    def read(self, event: Json) -> Iterator[PartialOutput]:
        match event["type"]:
            case "system":
                yield from self._read_system(event)
            case "stream_event" if not event.get("parent_tool_use_id"):
                yield from self._read_piece(part(event, "event"))
            case "assistant":
                yield from self._read_message(part(event, "message"), is_helper=bool(event.get("parent_tool_use_id")))
            case "user":
                yield from self._read_tool_results(part(event, "message"), event.get("tool_use_result"))
            case "result":
                self._end = event
                for denied in event.get("permission_denials") or []:
                    wanted = describe_call(word(denied, "tool_name"), part(denied, "tool_input"))
                    yield observe(f"not allowed: {wanted.action or wanted.thought}")

    def _read_system(self, event: Json) -> Iterator[PartialOutput]:
        if event.get("subtype") == "init":
            self.session_id = word(event, "session_id") or self.session_id
        if event.get("subtype") == "api_retry":
            self._status = count(event.get("error_status")) or self._status
            attempt = f"{event.get('attempt')}/{event.get('max_retries')}"
            delay_s = count(event.get("retry_delay_ms")) / 1_000
            when = f" in {delay_s:.1f} s" if delay_s else ""
            yield observe(f"retry {attempt}{when}: {event.get('error_status')} {word(event, 'error')}")

    def _read_piece(self, event: Json) -> Iterator[PartialOutput]:
        delta = part(event, "delta")
        if event.get("type") == "message_start":
            self._streamed = False
        elif delta.get("type") == "text_delta":
            self._streamed = True
            yield from show(word(delta, "text"))
        elif delta.get("type") == "thinking_delta":
            yield from show_thought(word(delta, "thinking"))

    def _read_message(self, message: Json, *, is_helper: bool) -> Iterator[PartialOutput]:
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            match word(block, "type"):
                case "text" if is_helper:
                    yield Step(thought=shorten(word(block, "text")))
                case "text":
                    yield from self._answer.end_block()
                    self._answer.add(word(block, "text"))
                    if not self._streamed:
                        yield from show(word(block, "text"))
                case "thinking" if word(block, "thinking").strip():
                    yield Step(thought=shorten(word(block, "thinking")))
                case "tool_use" if word(block, "name") == _ANSWERING:
                    self._answering.add(word(block, "id"))
                case "tool_use":
                    yield from self._answer.end_block()
                    yield self._tools.begin(word(block, "id"), word(block, "name"), block.get("input"))

    def _read_tool_results(self, message: Json, details: object) -> Iterator[PartialOutput]:
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if word(block, "type") == "tool_result" and word(block, "tool_use_id") not in self._answering:
                failed, diff = block.get("is_error") is True, _read_patch(details)
                yield self._tools.end(word(block, "tool_use_id"), block.get("content"), failed=failed, diff=diff)

    def result(self) -> Result | None:
        end = self._end
        if end is None:
            if self._status:
                raise read_failure(self._name, f"it gave up after HTTP status {self._status}", self._status)
            return None
        text, usage = word(end, "result"), _read_usage(end)
        if end.get("stop_reason") == "refusal":
            raise AgentError("refused", f"{self._name} refused: {shorten(text)[:600]}", usage=usage)
        if end.get("is_error") is True or word(end, "subtype").startswith("error"):
            reason = text or as_text(end.get("errors")) or word(end, "subtype")
            failure = read_failure(self._name, reason, count(end.get("api_error_status")) or self._status)
            failure.usage = usage
            raise failure
        return Result(text=text or self._answer.text, usage=usage)


def _read_patch(details: object) -> str | None:
    """Return the change of a file that Claude Code reports beside the result of a tool, as a unified diff."""
    hunks = details.get("structuredPatch") if isinstance(details, dict) else None
    if not isinstance(hunks, list) or not hunks:
        return None
    path = word(details, "filePath")
    lines = [f"--- {path}", f"+++ {path}"]
    for hunk in hunks:
        old, new = (f"{count(hunk.get(f'{side}Start'))},{count(hunk.get(f'{side}Lines'))}" for side in ("old", "new"))
        lines += [f"@@ -{old} +{new} @@", *(str(line) for line in hunk.get("lines") or ())]
    return "\n".join(lines)


def _read_usage(end: Json) -> Usage:
    """Input that is written to or read from a cache counts as input: Qwen Code, which tells a total, has it there."""
    usage = part(end, "usage")
    output_tokens, total = count(usage.get("output_tokens")), count(usage.get("total_tokens"))
    input_tokens = max(total - output_tokens, 0) or sum(count(usage.get(name)) for name in _INPUT)
    cached = usage.get("cache_read_input_tokens")
    return make_usage(input_tokens, output_tokens, end.get("total_cost_usd"), cached=cached)
