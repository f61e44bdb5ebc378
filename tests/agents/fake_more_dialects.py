"""The APIs of Anthropic and Gemini on the wire."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.fake_dialects import Asked, Frame, Json, Reply, name_call, newest, text_of

ANTHROPIC_FINISH = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
GEMINI_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


class Anthropic:
    name = "anthropic"

    def read(self, body: Json, path: str, key: str) -> Asked:
        prompt, results = newest([each for message in body.get("messages") or [] for each in self._split(message)])
        return Asked(
            dialect=self.name,
            path=path,
            key=key,
            body=body,
            model=body.get("model", ""),
            prompt=prompt,
            system=text_of(body.get("system")),
            tools=tuple(each.get("name", "") for each in body.get("tools") or []),
            results=results,
            is_streamed=bool(body.get("stream")),
        )

    def _split(self, message: Json) -> list[tuple[str, str]]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        tools = [("tool", text_of(each.get("content"))) for each in blocks if each.get("type") == "tool_result"]
        texts = [text_of(each) for each in blocks if each.get("type") == "text"]
        said = "\n".join(filter(None, texts))
        return tools + ([(message["role"], said)] if said else [])

    def whole(self, reply: Reply, model: str) -> Json:
        return {
            **self._head(model),
            "content": self._blocks(reply),
            "stop_reason": self._reason(reply),
            "usage": self._usage(reply, reply.output_tokens),
        }

    def stream(self, reply: Reply, model: str) -> Iterator[Frame]:
        def event(kind: str, *, is_text: bool = False, is_end: bool = False, **fields: Any) -> Frame:
            return Frame({"type": kind, **fields}, kind, is_text, is_end)

        start = {**self._head(model), "content": [], "stop_reason": None, "usage": self._usage(reply, 1)}
        yield event("message_start", message=start)
        for at, block in enumerate(self._blocks(reply)):
            empty: dict[str, Json] = {
                "text": {"text": ""},
                "thinking": {"thinking": "", "signature": ""},
                "tool_use": {"input": {}},
            }
            yield event("content_block_start", index=at, content_block={**block, **empty[block["type"]]})
            for delta in self._deltas(block, reply):
                is_text = delta["type"] == "text_delta"
                yield event("content_block_delta", is_text=is_text, index=at, delta=delta)
            yield event("content_block_stop", index=at)
        delta = {"stop_reason": self._reason(reply), "stop_sequence": None}
        yield event("message_delta", is_end=True, delta=delta, usage={"output_tokens": reply.output_tokens})
        yield event("message_stop", is_end=True)

    def _usage(self, reply: Reply, output_tokens: int) -> Json:
        """Cached tokens are told beside the input; those of thinking are not told."""
        fresh = {"input_tokens": reply.input_tokens - reply.cached_tokens, "output_tokens": output_tokens}
        return {**fresh, "cache_read_input_tokens": reply.cached_tokens, "cache_creation_input_tokens": 0}

    def _head(self, model: str) -> Json:
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}

    def _reason(self, reply: Reply) -> str:
        return "tool_use" if reply.calls else ANTHROPIC_FINISH[reply.finish]

    def _blocks(self, reply: Reply) -> list[Json]:
        thinking = {"type": "thinking", "thinking": reply.thinking, "signature": "s"}
        calls = [
            {"type": "tool_use", "id": name_call("toolu", at, call), "name": call.name, "input": call.arguments}
            for at, call in enumerate(reply.calls)
        ]
        text = [{"type": "text", "text": reply.text}] if reply.text else []
        return ([thinking] if reply.thinking else []) + text + calls

    def _deltas(self, block: Json, reply: Reply) -> list[Json]:
        match block["type"]:
            case "text":
                return [{"type": "text_delta", "text": piece} for piece in reply.cut()]
            case "thinking":
                signed = {"type": "signature_delta", "signature": "s"}
                return [{"type": "thinking_delta", "thinking": reply.thinking}, signed]
            case _:
                return [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]


class Gemini:
    name = "gemini"

    def read(self, body: Json, path: str, key: str) -> Asked:
        said: list[tuple[str, str]] = []
        for content in body.get("contents") or []:
            parts = content.get("parts") or []
            said += [
                ("tool", json.dumps(each["functionResponse"]["response"]))
                for each in parts
                if "functionResponse" in each
            ]
            text = "\n".join(each["text"] for each in parts if each.get("text"))
            said += [(content.get("role", "user"), text)] if text else []
        prompt, results = newest(said)
        model, _, verb = path.rsplit("/", 1)[-1].partition(":")
        return Asked(
            dialect=self.name,
            path=path,
            key=key,
            body=body,
            model=model,
            prompt=prompt,
            system=text_of((body.get("systemInstruction") or {}).get("parts")),
            tools=tuple(
                each["name"] for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or []
            ),
            results=results,
            is_streamed=verb == "streamGenerateContent",
        )

    def whole(self, reply: Reply, model: str) -> Json:
        thinking = [{"text": reply.thinking, "thought": True}] if reply.thinking else []
        text = [{"text": reply.text}] if reply.text else []
        return self._chunk(reply, model, thinking + text + self._calls(reply), GEMINI_FINISH[reply.finish])

    def stream(self, reply: Reply, model: str) -> Iterator[Frame]:
        if reply.thinking:
            yield Frame(self._chunk(reply, model, [{"text": reply.thinking, "thought": True}]))
        for piece in reply.cut():
            yield Frame(self._chunk(reply, model, [{"text": piece}]), is_text=True)
        if reply.calls:
            yield Frame(self._chunk(reply, model, self._calls(reply)))
        yield Frame(self._chunk(reply, model, [{"text": ""}], GEMINI_FINISH[reply.finish]), is_end=True)

    def _calls(self, reply: Reply) -> list[Json]:
        return [
            {"functionCall": {"id": f"fc_{at}", "name": call.name, "args": call.arguments}}
            for at, call in enumerate(reply.calls)
        ]

    def _chunk(self, reply: Reply, model: str, parts: list[Json], finish: str | None = None) -> Json:
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = finish
        usage = {
            "promptTokenCount": reply.input_tokens,
            "cachedContentTokenCount": reply.cached_tokens,
            "candidatesTokenCount": reply.output_tokens - reply.thinking_tokens,
            "thoughtsTokenCount": reply.thinking_tokens,
            "totalTokenCount": reply.input_tokens + reply.output_tokens,
        }
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "r1"}
