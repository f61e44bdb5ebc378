"""How each API of a model looks on the wire: OpenAI chat and responses, Anthropic messages, Gemini.

A dialect reads what is asked and says a reply, whole or as a stream of server-sent events.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Literal, Protocol

from msgspec import Struct

Json = dict[str, Any]


class Call(Struct, frozen=True):
    """A call of a tool that the model asks for."""

    name: str
    arguments: Json = {}
    namespace: str = ""  # of the tool, where an API groups tools: Codex calls those of an MCP server by it


def name_call(start: str, at: int, call: Call) -> str:
    """An id of a call that no other call of the conversation has: agents look for it in what they remember."""
    digest = hashlib.sha256(json.dumps([call.name, call.arguments]).encode()).hexdigest()[:12]
    return f"{start}_{at}_{digest}"


class Reply(Struct, frozen=True, kw_only=True):
    """What the model says to one request, and what goes wrong with it. Counts are of pieces of text in a stream."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    pieces: int = 2
    finish: Literal["stop", "length", "refusal"] = "stop"
    status: int = 200
    retry_after: str | None = None
    body: bytes | None = None  # instead of everything else
    silence: bool = False  # not even a status
    stall_after: int | None = None
    break_after: int | None = None
    is_unfinished: bool = False  # the stream ends without saying why
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0  # of the input
    thinking_tokens: int = 0  # of the output

    def cut(self) -> list[str]:
        size = -(-len(self.text) // self.pieces) or 1
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


class Asked(Struct, frozen=True, kw_only=True):
    """A request as far as tests look at it. `results` are what tools gave back since the last prompt."""

    dialect: str
    path: str
    key: str
    body: Json
    model: str
    prompt: str
    system: str = ""
    tools: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    is_streamed: bool = False


class Frame(Struct, frozen=True):
    """A server-sent event; `is_text` when it carries a piece of the answer, `is_end` when it says that it is over."""

    data: Json | str
    event: str = ""
    is_text: bool = False
    is_end: bool = False

    def encode(self) -> bytes:
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return (f"event: {self.event}\n" if self.event else "").encode() + f"data: {data}\n\n".encode()


class Dialect(Protocol):
    name: str

    def read(self, body: Json, path: str, key: str) -> Asked: ...

    def whole(self, reply: Reply, model: str) -> Json: ...

    def stream(self, reply: Reply, model: str) -> Iterator[Frame]: ...


def text_of(content: object) -> str:
    """The text of a message, however it is wrapped."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(text_of, content)))
        case dict():
            return text_of(content.get("text") or content.get("content") or content.get("output") or "")
        case _:
            return ""


def newest(messages: list[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
    """The last prompt, and what tools said since. Roles are user and tool."""
    prompt, results = "", list[str]()
    for role, text in messages:
        if role == "user":
            prompt, results = text, []
        elif role == "tool":
            results.append(text)
    return prompt, tuple(results)


FINISH = {"stop": "stop", "length": "length", "refusal": "content_filter"}


class OpenAiChat:
    name = "openai-chat"

    def read(self, body: Json, path: str, key: str) -> Asked:
        messages = body.get("messages") or []
        prompt, results = newest([(each["role"], text_of(each.get("content"))) for each in messages])
        return Asked(
            dialect=self.name,
            path=path,
            key=key,
            body=body,
            model=body.get("model", ""),
            prompt=prompt,
            system="\n".join(text_of(each["content"]) for each in messages if each["role"] in ("system", "developer")),
            tools=tuple(each["function"]["name"] for each in body.get("tools") or []),
            results=results,
            is_streamed=bool(body.get("stream")),
        )

    def whole(self, reply: Reply, model: str) -> Json:
        message: Json = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = self._calls(reply)
        choice = {"index": 0, "message": message, "finish_reason": self._reason(reply)}
        return {**self._head(model), "object": "chat.completion", "choices": [choice], "usage": self._usage(reply)}

    def stream(self, reply: Reply, model: str) -> Iterator[Frame]:
        def chunk(delta: Json, finish: str | None = None, **more: Any) -> Json:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return {**self._head(model), "object": "chat.completion.chunk", "choices": [choice], **more}

        yield Frame(chunk({"role": "assistant", "content": ""}))
        if reply.thinking:
            yield Frame(chunk({"reasoning_content": reply.thinking}))
        for piece in reply.cut():
            yield Frame(chunk({"content": piece}), is_text=True)
        for at, call in enumerate(self._calls(reply)):
            yield Frame(chunk({"tool_calls": [{"index": at, **call}]}))
        yield Frame(chunk({}, self._reason(reply)), is_end=True)
        usage = {**self._head(model), "object": "chat.completion.chunk", "choices": [], "usage": self._usage(reply)}
        yield Frame(usage, is_end=True)
        yield Frame("[DONE]", is_end=True)

    def _head(self, model: str) -> Json:
        return {"id": "chatcmpl-1", "created": 0, "model": model}

    def _reason(self, reply: Reply) -> str:
        return "tool_calls" if reply.calls else FINISH[reply.finish]

    def _usage(self, reply: Reply) -> Json:
        total = reply.input_tokens + reply.output_tokens
        return {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": reply.thinking_tokens},
        }

    def _calls(self, reply: Reply) -> list[Json]:
        return [
            {
                "id": name_call("call", at, call),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for at, call in enumerate(reply.calls)
        ]


class OpenAiResponses:
    name = "openai-responses"

    def read(self, body: Json, path: str, key: str) -> Asked:
        given = body.get("input")
        items: list[Json] = given if isinstance(given, list) else [{"role": "user", "content": given}]
        said: list[tuple[str, str]] = [
            (each["role"], text_of(each.get("content"))) if "role" in each else ("tool", text_of(each.get("output")))
            for each in items
            if "role" in each or str(each.get("type")).endswith("_output")
        ]
        prompt, results = newest(said)
        return Asked(
            dialect=self.name,
            path=path,
            key=key,
            body=body,
            model=body.get("model", ""),
            prompt=prompt,
            system=body.get("instructions")
            or "\n".join(text for role, text in said if role in ("system", "developer")),
            tools=tuple(each.get("name") or each.get("type") for each in body.get("tools") or []),
            results=results,
            is_streamed=bool(body.get("stream")),
        )

    def whole(self, reply: Reply, model: str) -> Json:
        status = "incomplete" if reply.finish != "stop" else "completed"
        reason = {"length": "max_output_tokens", "refusal": "content_filter"}.get(reply.finish)
        return {
            **self._head(model),
            "status": status,
            "incomplete_details": {"reason": reason} if reason else None,
            "output": self._items(reply),
            "usage": {
                "input_tokens": reply.input_tokens,
                "input_tokens_details": {"cached_tokens": reply.cached_tokens},
                "output_tokens": reply.output_tokens,
                "output_tokens_details": {"reasoning_tokens": reply.thinking_tokens},
                "total_tokens": reply.input_tokens + reply.output_tokens,
            },
        }

    def stream(self, reply: Reply, model: str) -> Iterator[Frame]:
        started = {**self._head(model), "status": "in_progress", "output": []}
        number = iter(range(1_000_000))

        def event(kind: str, *, is_text: bool = False, is_end: bool = False, **fields: Any) -> Frame:
            return Frame({"type": kind, "sequence_number": next(number), **fields}, kind, is_text, is_end)

        yield event("response.created", response=started)
        yield event("response.in_progress", response=started)
        for at, item in enumerate(self._items(reply)):
            where = {"item_id": item["id"], "output_index": at}
            emptied: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
            yield event(
                "response.output_item.added", output_index=at, item={**item, **emptied, "status": "in_progress"}
            )
            if item["type"] == "message":
                part = {"type": "output_text", "text": "", "annotations": []}
                yield event("response.content_part.added", **where, content_index=0, part=part)
                for piece in reply.cut():
                    yield event("response.output_text.delta", is_text=True, **where, content_index=0, delta=piece)
                yield event("response.output_text.done", **where, content_index=0, text=reply.text)
                yield event("response.content_part.done", **where, content_index=0, part=item["content"][0])
            else:
                yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
                yield event("response.function_call_arguments.done", **where, arguments=item["arguments"])
            yield event("response.output_item.done", output_index=at, item=item)
        done = self.whole(reply, model)
        yield event(f"response.{done['status']}", is_end=True, response=done)

    def _head(self, model: str) -> Json:
        return {"id": "resp_1", "object": "response", "created_at": 0, "model": model}

    def _items(self, reply: Reply) -> list[Json]:
        content = {"type": "output_text", "text": reply.text, "annotations": []}
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{at}",
                "call_id": name_call("call", at, call),
                "name": call.name,
                **({"namespace": call.namespace} if call.namespace else {}),
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
            for at, call in enumerate(reply.calls)
        ]
        return ([message] if reply.text or not calls else []) + calls
