"""A model that follows the words of its prompt and knows nothing else: not Moot, not the team, not the shapes.

It writes prose around its JSON, decorates Chinese text with 【】, and uses Chinese keys unless it is told to keep them.
"""

import json
import re
from typing import Any

from tests.agents.fake_models import Asked

CHINESE_KEYS = {
    "title": "标题",
    "body": "正文",
    "tags": "标签",
    "approved": "通过",
    "scores": "分数",
    "subject": "主题",
    "task_relation": "任务关系",
    "type": "类型",
}
FIXED = (
    "id",
    "role",
    "depends_on",
    "op",
    "action",
    "scope",
    "urgency",
    "type",
    "next_phase",
    "clarification",
)  # no free text
KEEP_KEYS = ("names of the keys stay", "names of the keys and of the types stay", "键名保持", "键名和")
SQUARE = ("square brackets", "半角方括号")
AGAIN = re.compile(r"(?:choose|选择) (\w+)[.。]")
GO_BACK = re.compile(r"(?:Go back to|建议回退到) (\w+)")


def answer(asked: Asked) -> str:
    """Answer as the prompt asks for."""
    prompt = asked.prompt
    if "next_agent" in prompt:
        return _decorate(asked, _decide(prompt))
    if '{"state"' in prompt:
        return _decorate(asked, _act(prompt))
    for opening in ('{"normalized_intent"', '{"summary"', '{"patches"', '{"pass"'):
        if opening in prompt:
            return _decorate(asked, _translate(prompt, _fill(_example(prompt, opening), prompt)))
    return _talk(asked)


def _is_chinese(asked: Asked) -> bool:
    return "你是" in asked.system


def _decorate(asked: Asked, document: Any) -> str:
    text = json.dumps(document, ensure_ascii=False)
    if _is_chinese(asked):
        return f"【说明】好的，我来完成这一步。\n```json\n{text}\n```\n希望对你有帮助！"
    return f"Sure, I have done my part.\n\n{text}\n\nLet me know what you think!"


def _talk(asked: Asked) -> str:
    """In a chat: say something, and hand over once, as the example shows, if a person asked and nobody waits."""
    example = re.search(
        r"\[NEXT: ([^\]]+)\](?:,|，|;| in)", asked.system.partition("例如" if _is_chinese(asked) else "such as")[2]
    )
    text = "【初稿】写好了。" if _is_chinese(asked) else "Here is my draft."
    is_first = any(words in asked.prompt for words in (" asks you:", " 对你说："))
    if example is None or not is_first:
        return text
    if any(words in asked.system for words in SQUARE):
        return f"{text} [NEXT: {example[1]}]"
    return f"{text} 【NEXT：{example[1]}】"


def _example(prompt: str, opening: str) -> Any:
    value, _ = json.JSONDecoder().raw_decode(prompt, prompt.rindex(opening))
    return value


def _decide(prompt: str) -> dict[str, Any]:
    """Follow a hint if there is one; else take the first agent of the usual order with an open key; else END."""
    hints = "\n".join(line for line in prompt.splitlines() if line.startswith("⚠️"))
    hinted = AGAIN.search(hints) or GO_BACK.search(hints)
    chosen = "END" if re.search(r"may END|可以用 END", hints) else hinted[1] if hinted else _next_in_order(prompt)
    guidance = "请完成你的部分。" if "目标" in prompt else "Please do your part."
    return {"next_agent": chosen, "guidance": guidance, "context_from_previous": "", "focus_areas": []}


def _next_in_order(prompt: str) -> str:
    order = next(line for line in prompt.splitlines() if line.endswith(" → END")).split(" → ")
    still_open = set(re.findall(r"^- (\w+): ❌", prompt, re.MULTILINE))
    writes = {
        agent: set(keys.split(", "))
        for agent, keys in re.findall(r"^- (\w+): .*(?:writes|写入) ([\w, ]+)$", prompt, re.MULTILINE)
    }
    return next((agent for agent in order if writes.get(agent, set()) & still_open), "END")


def _act(prompt: str) -> dict[str, Any]:
    tool = re.search(r"^- (\w+)\(([^)]*)\)", prompt, re.MULTILINE)
    has_results = any(words in prompt for words in ("What your tools returned:", "工具返回的结果："))
    if tool and not has_results:
        parameters = [part.partition(":") for part in tool[2].split(", ")]
        args = {name.strip(): f"a {name.strip()}" for name, _, kind in parameters if "=" not in kind}
        return {"tool_calls": [{"name": tool[1], "args": args}]}
    return _translate(prompt, _fill(_example(prompt, '{"state"'), prompt))  # type: ignore[no-any-return]


def _fill(example: Any, prompt: str) -> Any:
    """Replace the texts of an example; numbers and truths look fine as they are."""
    made = re.findall(r'"asset_id":"([^"]+)"', prompt)
    match example:
        case dict():
            return {key: value if key in FIXED else _fill(value, prompt) for key, value in example.items()}
        case [str() as item] if "asset_id" in item and made:
            return made
        case list():
            return [_fill(item, prompt) for item in example]
        case str():
            return f"关于这一点：{example}" if "目标" in prompt else f"Words about {example}"
        case _:
            return example


def _translate(prompt: str, document: Any) -> Any:
    """Use Chinese keys below the first level, unless the prompt says to keep the names of the keys."""
    if "目标" not in prompt or any(words in prompt for words in KEEP_KEYS):
        return document
    return _rename(document)


def _rename(value: Any) -> Any:
    match value:
        case dict():
            return {CHINESE_KEYS.get(key, key): _rename(item) for key, item in value.items()}
        case list():
            return [_rename(item) for item in value]
        case _:
            return value
