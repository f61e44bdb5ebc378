"""The readers of the CLIs, fed with what the real ones printed."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.agents.cli.acp_presets import OpencodeReader
from moot.agents.cli.claude import ClaudeReader
from moot.agents.cli.codex import CodexReader
from moot.agents.cli.dialect import Dialect
from moot.agents.cli.gemini import GeminiReader
from moot.agents.cli.lines import LINE_BYTES, JsonLines
from moot.agents.output_limits import PartialOutput
from moot.core.errors import AgentError
from moot.core.session.usage import Usage
from moot.runtime.ports import Result
from tests.agents.cli.streams import STREAMS, end_of, load, pieces, read, read_stream, reader_for, steps, thinking

TURN = Usage(input_tokens=100, output_tokens=20)
TOOL_TURN = Usage(input_tokens=200, output_tokens=40)
CODEX_TOOL = "Wall time: 0.0000 seconds"


def summary(told: list[PartialOutput], end: object) -> tuple[list[str], str, object]:
    return steps(told), pieces(told), (str(end), end.error_type) if isinstance(end, AgentError) else end


@pytest.mark.parametrize("name", STREAMS)
def test_cuts_change_nothing(name: str) -> None:
    """A stream tells the same wherever it is cut: byte by byte, and in two at every byte."""
    data = load(name)
    whole = reader_for(name)
    expected = summary(read([data], whole), end_of(whole))
    single = reader_for(name)
    assert summary(read([data[at : at + 1] for at in range(len(data))], single), end_of(single)) == expected
    tail = max(len(data) - 3_000, 0)  # the first line is long and always the same
    for cut in range(tail, len(data)):
        halves = reader_for(name)
        assert summary(read([data[:cut], data[cut:]], halves), end_of(halves)) == expected


@pytest.mark.parametrize(
    ("name", "text", "usage"),
    [
        ("claude_plain", "FAKE-OK: say hello", Usage(input_tokens=100, output_tokens=20, cost_usd=0.001)),
        ("claude_partial", "FAKE-OK: say hello", Usage(input_tokens=100, output_tokens=20, cost_usd=0.001)),
        (
            "claude_2.1.325_tool",
            "FAKE-DONE. Tool said: hi-from-tool",
            Usage(input_tokens=200, output_tokens=40, cost_usd=0.0016),
        ),
        ("codex_resume", "FAKE-OK: second turn", Usage(input_tokens=300, output_tokens=60)),
        ("gemini_plain", "FAKE-OK: say hello", TURN),
    ],
)
def test_an_answer_is_read_with_its_usage(name: str, text: str, usage: Usage) -> None:
    """The final text, tokens and cost; the pieces that were shown are the same text, once."""
    told, end, session_id = read_stream(name)
    assert end == Result(text=text, usage=usage)
    assert pieces(told) == text
    assert session_id
    assert len(session_id) == 36


def test_claude_s_thoughts_are_shown_as_they_come() -> None:
    """A thought in pieces is shown and is no text; whole it is a step; what it said before a tool is not told twice."""
    reader, told = ClaudeReader(), list[PartialOutput]()
    for event in [
        {"type": "message_start", "message": {}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "two "}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "and\x1b[31m two"}},
        {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "s"}},
    ]:
        told += reader.read({"type": "stream_event", "event": event})
    assert (thinking(told), pieces(told), steps(told)) == ("two and two", "", [])
    whole = {"content": [{"type": "thinking", "thinking": "two and two", "signature": "s"}]}
    assert steps(reader.read({"type": "assistant", "message": whole})) == ["thought two and two"]


def test_claude_s_tools_are_steps() -> None:
    """What it does and what came of it, a refusal too."""
    told, _, _ = read_stream("claude_tool_denied")
    action, observation = steps(told)[:2]
    assert action == "action Bash: touch /home/user/project/abc"
    assert observation.startswith("observation failed: touch in '/home/user/project/abc' was blocked.")


def test_codex_s_commands_are_steps() -> None:
    """A command that fails says so, with its exit code; warnings of the CLI are told and are no failure."""
    told, end, _ = read_stream("codex_tool_nosandbox")
    assert steps(told) == [
        "observation Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can degrade "
        "performance and cause issues.",
        "action command execution: /bin/bash -lc 'echo hi-from-tool; exit 3'",
        "observation failed: hi-from-tool\n(exit 3)",
    ]
    assert isinstance(end, Result)
    assert end.usage == TOOL_TURN


def test_gemini_s_tools_are_steps() -> None:
    """The answer is what was said after the last tool."""
    told, end, _ = read_stream("gemini_tool_yolo")
    assert steps(told) == ["action run_shell_command: echo hi-from-tool", "observation hi-from-tool"]
    assert isinstance(end, Result)
    assert end.text.startswith("FAKE-DONE. Tool said:")
    assert end.usage == TOOL_TURN


@pytest.mark.parametrize(
    ("name", "error_type", "says"),
    [
        ("claude_fail401", "auth", "HTTP status 401"),
        ("claude_fail500", "agent", "500 scripted failure"),
        ("codex_fail401", "auth", "unexpected status 401"),
        ("codex_fail500", "rate_limit", "high demand"),
        ("gemini_fail401", "auth", "scripted failure"),
    ],
)
def test_failures_have_their_type(name: str, error_type: str, says: str) -> None:
    """A wrong key is not tried again, a busy server is; what the CLI said is passed on."""
    _, end, _ = read_stream(name)
    assert isinstance(end, AgentError)
    assert (end.error_type, says in str(end)) == (error_type, True)


def test_a_failed_turn_has_its_price() -> None:
    """What was spent before the failure counts."""
    reader, _, _ = claude(
        {"type": "result", "is_error": True, "result": "x", "total_cost_usd": 0.5, "usage": {"output_tokens": 3}}
    )
    error = end_of(reader)
    assert isinstance(error, AgentError)
    assert error.usage == Usage(output_tokens=3, cost_usd=0.5)


COUNTED = Usage(input_tokens=1000, output_tokens=50, cached_tokens=600, thinking_tokens=30)


@pytest.mark.parametrize(
    ("reader", "end", "usage"),
    [
        (
            GeminiReader(),
            {
                "type": "result",
                "status": "success",
                "stats": {"total_tokens": 1050, "input_tokens": 1000, "output_tokens": 20, "cached": 600, "input": 400},
            },
            COUNTED,
        ),
        (
            OpencodeReader(),
            {
                "type": "step_finish",
                "part": {
                    "reason": "stop",
                    "tokens": {"total": 1050, "input": 400, "output": 20, "reasoning": 30, "cache": {"read": 600}},
                },
            },
            COUNTED,
        ),
        (
            ClaudeReader("qwen"),
            {
                "type": "result",
                "usage": {
                    "input_tokens": 1000,
                    "output_tokens": 50,
                    "cache_read_input_tokens": 600,
                    "total_tokens": 1050,
                },
            },
            replace(COUNTED, thinking_tokens=0),  # it does not tell them apart
        ),
        (
            ClaudeReader(),
            {"type": "result", "usage": {"input_tokens": 400, "output_tokens": 50, "cache_read_input_tokens": 600}},
            replace(COUNTED, thinking_tokens=0),
        ),
    ],
    ids=["gemini", "opencode", "qwen", "claude"],
)
def test_cached_and_thinking_tokens_are_parts(reader: Dialect, end: dict[str, Any], usage: Usage) -> None:
    """Each program counts in its own way; cached tokens are a part of the input, thinking a part of the output."""
    list(reader.read(end))
    result = reader.result()
    assert result
    assert result.usage == usage


def test_a_stream_that_stops_has_no_end() -> None:
    """An interrupted CLI tells no result: its exit decides."""
    assert read_stream("codex_sigint")[1] is None
    assert GeminiReader().result() is None
    assert ClaudeReader().result() is None


def test_codex_counts_a_thread_from_its_beginning() -> None:
    """The usage of a resumed turn is what it added."""
    reader = CodexReader(TOOL_TURN)
    read([load("codex_resume")], reader)
    assert end_of(reader) == Result(text="FAKE-OK: second turn", usage=TURN)
    assert reader.spent == Usage(input_tokens=300, output_tokens=60)


def claude(*events: dict[str, Any]) -> tuple[ClaudeReader, list[str], str]:
    reader = ClaudeReader()
    told = [output for event in events for output in reader.read(event)]
    return reader, steps(told), pieces(told)


def assistant(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(content)}, **fields}


def test_thinking_and_todo_lists_are_thoughts() -> None:
    """What an agent thinks and plans can be followed."""
    todos = [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress"},
        {"content": "x"},
    ]
    _, told, _ = claude(
        assistant(
            {"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "TodoWrite", "input": {"todos": todos}}
        )
    )
    assert told == ["thought hm", "thought ☑ read\n▶ write\n☐ x"]
    reader = CodexReader()
    items = [{"text": "a", "completed": True}, {"text": "b", "completed": False}]
    events: list[dict[str, Any]] = [
        {"type": "item.completed", "item": {"id": "1", "type": "reasoning", "text": "because"}},
        {"type": "item.updated", "item": {"id": "2", "type": "todo_list", "items": items}},
        {
            "type": "item.started",
            "item": {"id": "3", "type": "file_change", "changes": [{"path": "a.py", "kind": "add"}]},
        },
        {
            "type": "item.completed",
            "item": {"id": "4", "type": "mcp_tool_call", "server": "s", "tool": "t", "result": "r"},
        },
        {"type": "item.completed", "item": {"id": "5", "type": "web_search", "query": "q"}},
    ]
    assert steps(output for event in events for output in reader.read(event)) == [
        "thought because",
        "thought ☑ a\n☐ b",
        "action edit: add a.py",
        "action s.t",
        "observation r",
        "action web search: q",
        "observation (nothing)",
    ]


def test_talk_before_a_tool_is_a_thought_and_the_rest_the_answer() -> None:
    """A CLI says what it is about to do; its answer is what it says last."""
    reader, told, shown = claude(
        assistant(
            {"type": "text", "text": "I look first."}, {"type": "tool_use", "name": "Read", "input": {"file_path": "a"}}
        ),
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "42"}]}]},
        },
        assistant({"type": "text", "text": "It is 42."}),
        {"type": "result", "is_error": False, "usage": {}},
    )
    assert told == ["thought I look first.", "action Read: a", "observation 42"]
    assert shown == "I look first.It is 42."
    assert end_of(reader) == Result(text="It is 42.")


def test_a_helper_s_words_are_not_the_answer() -> None:
    """What a sub-agent says is a thought of the member."""
    reader, told, shown = claude(
        assistant({"type": "text", "text": "sub"}, parent_tool_use_id="toolu_1"), {"type": "result", "result": "main"}
    )
    assert (told, shown) == (["thought sub"], "")
    assert end_of(reader) == Result(text="main")


def test_a_refusal_is_final() -> None:
    """A model that refuses is not asked again by itself."""
    reader, _, _ = claude({"type": "result", "is_error": False, "stop_reason": "refusal", "result": "I can't."})
    error = end_of(reader)
    assert isinstance(error, AgentError)
    assert error.error_type == "refused"


@pytest.mark.parametrize("reader", [ClaudeReader(), CodexReader(), GeminiReader()])
def test_odd_events_are_passed_over(reader: Any) -> None:
    """Unknown kinds and wrong shapes of known ones are no trouble: CLIs change."""
    odd: list[Any] = [None, 1, "x", [], {}, [1], {"content": 5}, {"type": 5}, {"message": []}]
    kinds = ["system", "assistant", "user", "stream_event", "message", "tool_use", "tool_result", "error", "new.kind"]
    for kind in (*kinds, "item.completed", "item.started", "thread.started"):
        for value in odd:
            fields = ("message", "event", "item", "content", "role", "parameters", "output", "subtype", "error")
            list(reader.read({"type": kind, **dict.fromkeys(fields, value)}))
            list(reader.read({"type": kind, "message": {"content": [value]}, "item": {"type": "odd", "id": value}}))
    for kind in ("result", "turn.completed", "turn.failed"):
        for value in odd:
            list(reader.read({"type": kind, "usage": value, "stats": value, "error": value, "status": "success"}))
            end_of(reader)


def test_noise_is_kept_apart_from_events() -> None:
    """Talk before the first line, two objects on one line, a fence, half an object, bad UTF-8."""
    lines = JsonLines()
    data = b'Loading\xff...{"type":"a"}\n```json\n{"type":"b"} {"type":"c"}\n```\n\n[1]\n{"no": 1}\n{"type":"d", "half'
    assert [event["type"] for event in lines.feed(data)] == ["a", "b", "c"]
    assert list(lines.close()) == []
    assert lines.noise.splitlines() == ["Loading\ufffd...", "```json", "```", "[1]", '{"no": 1}', '{"type":"d", "half']


def test_a_last_line_needs_no_end() -> None:
    """A CLI may end without a line end."""
    lines = JsonLines()
    assert list(lines.feed(b'{"type":"a"}')) == []
    assert [event["type"] for event in lines.close()] == ["a"]


def test_hostile_lines_cost_no_more_than_their_length() -> None:
    """An endless line is dropped, the next one is read; deep nesting is noise."""
    lines = JsonLines()
    for _ in range(LINE_BYTES // 1_000_000 + 2):
        assert list(lines.feed(b"x" * 1_000_000)) == []
    assert [event["type"] for event in lines.feed(b'\n{"type":"a"}\n')] == ["a"]
    assert "too long" in lines.noise
    assert list(lines.feed(b'{"type":' + b"[" * 100_000 + b"\n")) == []
    assert len(lines.noise) <= 2_000


def test_control_sequences_do_not_get_through() -> None:
    """What a model or a tool writes cannot move a cursor."""
    _, told, shown = claude(
        assistant({"type": "text", "text": "a\x1b[2Jb"}),
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "c\x1b]52;x\x07d"}]}},
    )
    assert (told, shown) == (["observation cd"], "ab")
