"""The team file that `moot init` writes: a template for each flow, in Chinese or English."""

import json
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from moot.core.team import Flow, Language

Both = dict[Language, str]


class Part(Struct, frozen=True, kw_only=True):
    """An AI of a template: what it is for, and the lines of its script, as YAML in flow style."""

    role: str
    name: Both
    instructions: Both
    replies: Both


CHAT = (
    Part(
        role="writer",
        name={"en": "Bob", "zh": "小白"},
        instructions={
            "en": "Write what is asked for, short and friendly. Hand over with [NEXT: name].",
            "zh": "按要求写，简短友好。用 [NEXT: 名字] 交给下一位。",
        },
        replies={
            "en": '["I am a script: a first draft. [NEXT: {next}]", "I am still a script. Give me a real agent."]',
            "zh": '["我是脚本：这是初稿。[NEXT: {next}]", "我还是脚本，请换成真正的代理。"]',
        },
    ),
    Part(
        role="reviewer",
        name={"en": "Carol", "zh": "小红"},
        instructions={
            "en": "Check what others write: facts, tone. Be brief.",
            "zh": "检查别人写的内容：事实和语气。要简短。",
        },
        replies={
            "en": '["I am a script too: it looks good to me. [NEXT: {you}]"]',
            "zh": '["我也是脚本：我看可以。[NEXT: {you}]"]',
        },
    ),
)
PLAN = (
    Part(
        role="planner",
        name={"en": "Nora", "zh": "小诺"},
        instructions={
            "en": "Split the work into tasks that others can do side by side.",
            "zh": "把工作拆成可以并行的任务。",
        },
        replies={
            "en": "[{plan: {summary: Two tasks side by side, tasks: [{id: facts, title: Collect the facts}, "
            "{id: draft, title: Write a draft}]}}]",
            "zh": "[{plan: {summary: 两个可以并行的任务, "
            "tasks: [{id: facts, title: 收集资料}, {id: draft, title: 写初稿}]}}]",
        },
    ),
    Part(
        role="executor",
        name={"en": "Ben", "zh": "小本"},
        instructions={"en": "Do one task, and only that.", "zh": "只做一个任务。"},
        replies={"en": '["Done, by a script."]', "zh": '["完成了（脚本）。"]'},
    ),
    Part(
        role="reviewer",
        name={"en": "Iris", "zh": "小艾"},
        instructions={"en": "Check each result against its task.", "zh": "对照任务检查每个结果。"},
        replies={"en": "[{review: {pass: true}}]", "zh": "[{review: {pass: true}}]"},
    ),
    Part(
        role="aggregator",
        name={"en": "Leo", "zh": "小乐"},
        instructions={"en": "Make one answer of all results.", "zh": "把所有结果汇总成一个回答。"},
        replies={"en": '["All of it is done, by scripts."]', "zh": '["全部完成（脚本）。"]'},
    ),
)
SUPERVISOR = (
    Part(
        role="supervisor",
        name={"en": "Chief", "zh": "主编"},
        instructions={"en": "Decide who acts next.", "zh": "决定下一步由谁来做。"},
        replies={
            "en": """['{"next_agent": "writer_agent"}', '{"next_agent": "review_agent"}', '{"next_agent": "END"}']""",
            "zh": """['{"next_agent": "writer_agent"}', '{"next_agent": "review_agent"}', '{"next_agent": "END"}']""",
        },
    ),
    Part(
        role="writer_agent",
        name={"en": "Writer", "zh": "作者"},
        instructions={"en": "Write title and body.", "zh": "写标题和正文。"},
        replies={
            "en": "[{state: {generatedContent: {title: A draft, body: Written by a script.}}}]",
            "zh": "[{state: {generatedContent: {title: 初稿, body: 由脚本写成。}}}]",
        },
    ),
    Part(
        role="review_agent",
        name={"en": "Reviewer", "zh": "审稿"},
        instructions={"en": "Approve the text or say what to change.", "zh": "通过，或说明要改什么。"},
        replies={
            "en": "[{state: {reviewFeedback: {approved: true}}}]",
            "zh": "[{state: {reviewFeedback: {approved: true}}}]",
        },
    ),
)
PARTS: dict[Flow, tuple[Part, ...]] = {Flow.CHAT: CHAT, Flow.PLAN: PLAN, Flow.SUPERVISOR: SUPERVISOR}
YOU: Both = {"en": "You", "zh": "你"}
FIRST_LINE: dict[Flow, Both] = {
    Flow.CHAT: {
        "en": "[NEXT: {first}] A poster for the library, please.",
        "zh": "[NEXT: {first}] 请写一张图书馆的海报。",
    },
    Flow.PLAN: {"en": "Please prepare a reading night.", "zh": "请准备一个读书之夜。"},
    Flow.SUPERVISOR: {"en": "A post about herbs on a balcony.", "zh": "写一篇关于阳台香草的文章。"},
}
SETTINGS = """
supervisor:
  member: {supervisor}
  end: {{requires: [{{key: generatedContent.body, is: non_blank}}], review: {{approved: reviewFeedback.approved}}}}
  agents:
    writer_agent: {{purpose: Writes the text, writes: [generatedContent]}}
    review_agent: {{purpose: Reviews it, writes: [reviewFeedback], fallback: writer_agent, ends: true, \
requires_any: [{{key: generatedContent.body, is: non_blank}}]}}
"""


class Starter(Struct, frozen=True, kw_only=True):
    """`names`: the human first. `agent` is YAML for what plays the AIs; None for scripts."""

    flow: Flow
    language: Language
    names: tuple[str, ...]
    agent: str | None = None

    @property
    def first_line(self) -> str:
        return FIRST_LINE[self.flow][self.language].replace("{first}", self.names[1])


def default_names(flow: Flow, language: Language) -> tuple[str, ...]:
    return (YOU[language], *(part.name[language] for part in PARTS[flow]))


def fill_names(flow: Flow, language: Language, given: Sequence[str]) -> tuple[str, ...]:
    """Who was not named gets the template's name; a chat needs one AI only."""
    defaults = default_names(flow, language)
    least = 2 if flow is Flow.CHAT else len(defaults)
    named = tuple(given) or defaults
    return (*named, *(name for name in defaults[1:] if name not in named))[: max(len(named), least)]


def write_team(starter: Starter) -> str:
    language, you = starter.language, starter.names[0]
    ids = list(_ids(starter.names))
    lines = [
        f"# {starter.first_line}",
        "moot: 1",
        "name: my-team",
        f"flow: {starter.flow}",
        f"language: {language}",
        "members:",
        f"  - {{id: {ids[0]}, name: {_quote(you)}, kind: human}}",
    ]
    parts, names = PARTS[starter.flow], starter.names[1:]
    for at, name in enumerate(names):
        part = _part_of(starter.flow, parts, at)
        following = names[at + 1] if at + 1 < len(names) else you
        replies = part.replies[language].replace("{next}", following).replace("{you}", you)
        agent = starter.agent or f"{{type: script, replies: {replies}}}"
        lines += [
            f"  - id: {ids[at + 1]}",
            f"    name: {_quote(name)}",
            "    kind: ai",
            f"    role: {part.role}",
            f"    instructions: {_quote(part.instructions[language])}",
            f"    agent: {agent}",
        ]
    text = "\n".join(lines) + "\n"
    return text + (SETTINGS.format(supervisor=ids[1]) if starter.flow is Flow.SUPERVISOR else "")


def agent_lines(text: str) -> list[int]:
    """Where it says who plays an AI."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("    agent: ")]


def _part_of(flow: Flow, parts: tuple[Part, ...], at: int) -> Part:
    """More AIs than the template has: another of its usual workers."""
    return parts[at] if at < len(parts) else parts[1 if flow is Flow.PLAN else 0]


def _ids(names: Sequence[str]) -> Iterator[str]:
    taken: set[str] = set()
    for number, name in enumerate(names):
        plain = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
        wanted = plain if plain and plain[0].isalpha() else f"m{number}"
        taken.add(wanted := wanted if wanted not in taken else f"{wanted}_{number}")
        yield wanted


def _quote(text: str) -> str:
    """YAML reads JSON's strings."""
    return json.dumps(text, ensure_ascii=False)
