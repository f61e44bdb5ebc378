"""What Moot says to people: one catalogue, a code and its texts in Chinese and English.

A notice is logged as a code with parameters and rendered when it is shown. Refusals use the same catalogue.
Codes are stable; texts say what happened, what was acceptable, what to do.
"""

from typing import Any

from msgspec.structs import asdict

from moot.core.errors import Refused
from moot.core.events import Fact, NoticePosted, StepAsked
from moot.core.team import Language

CATALOGUE: dict[str, dict[Language, str]] = {
    # routing
    "names_skipped": {
        "zh": "⚠️ {names} 不在当前团队中，已跳过",
        "en": "⚠️ {names} is not in this team, skipped",
    },
    "unresolved": {
        "zh": "❌ 无法解析任何目标。可用成员：{available}",
        "en": "❌ Cannot resolve [NEXT:{plain_names}]. Available members: {available}",
    },
    "agent_timeout": {
        "zh": "Agent {who} 在 {minutes:g} 分钟后超时",
        "en": "Agent {who} timed out after {minutes:g} minutes",
    },
    "agent_error": {
        "zh": "Agent {who} 执行出错：{detail}",
        "en": "Agent {who} encountered an error: {detail}",
    },
    "hop_limit": {
        "zh": "⏸ AI 已连续发言 {limit} 轮。发消息或 /resume 继续，/end 结束",
        "en": "⏸ The AIs took {limit} turns in a row. Say something or /resume to go on, /end to stop",
    },
    "budget": {
        "zh": "⏸ 预算已用完（{detail}）。/resume 再给同样的额度，/end 结束",
        "en": "⏸ The budget is used up ({detail}). /resume grants as much again, /end stops",
    },
    # answers to slash commands
    "help": {
        "zh": "[NEXT: 名字] 指定下一位 · [DONE] 结束 · /status 状态 · /queue 队列 · /queue skip 跳过队首 · "
        "/queue clear 清空 · /retry 重试 · /pause 暂停 · /resume 继续 · /lang zh|en 语言 · /end 结束",
        "en": "[NEXT: name] says who is next · [DONE] ends · /status · /queue · /queue skip · /queue clear · /retry · "
        "/pause · /resume · /lang zh|en · /end",
    },
    "status": {
        "zh": "状态：{detail} · 等待：{who} · AI 连续轮数：{limit}",
        "en": "Status: {detail} · waiting for: {who} · AI turns in a row: {limit}",
    },
    "waiting_for": {"zh": "⏸ 等待 {who}", "en": "⏸ Waiting for {who}"},
    "session_over": {"zh": "■ 会话结束", "en": "■ The session is over"},
    "queue": {"zh": "📋 队列: {arrow_names}", "en": "📋 Queue: {arrow_names}"},
    "queue_is_empty": {"zh": "📋 队列为空", "en": "📋 The queue is empty"},
    "confirm_queue_clear": {"zh": "清空队列？", "en": "Clear the queue?"},
    "option_clear": {"zh": "清空", "en": "Clear the queue"},
    "option_keep": {"zh": "保留", "en": "Keep it"},
    # refusals
    "empty_message": {
        "zh": "消息内容不能为空：请输入文字，或用 [NEXT: 名字] 指定成员",
        "en": "Message content cannot be empty: type some text, or name somebody with [NEXT: name]",
    },
    "message_too_long": {
        "zh": "消息太长：{length} 个字符，上限 {limit}。请拆成几条",
        "en": "The message has {length} characters, the limit is {limit}: split it",
    },
    "sender_ambiguous": {
        "zh": "团队里有多位 Human，不知道是谁在说话。请用 [FROM: 名字]，可选：{available}",
        "en": "Several humans share this session: say who speaks with [FROM: name], one of {available}",
    },
    "sender_is_ai": {
        "zh": "[FROM:{who}] 是 AI：只有 Human 可以这样发言，可选：{available}",
        "en": "[FROM:{who}] is an AI: only humans can speak here, one of {available}",
    },
    "sender_not_found": {
        "zh": "[FROM:{who}] 不存在。可选：{available}",
        "en": "[FROM:{who}] not found: use one of {available}",
    },
    "session_completed": {
        "zh": "会话已结束，不再接受输入。请新建会话",
        "en": "The session is completed and accepts nothing more: start a new one",
    },
    "unknown_command": {
        "zh": "未知命令 {detail}。可用：{available}",
        "en": "Unknown command {detail}: use one of {available}",
    },
    "nothing_to_retry": {
        "zh": "没有失败的轮次可以重试",
        "en": "There is no failed turn to retry: name somebody with [NEXT: name]",
    },
    "nothing_to_resume": {
        "zh": "没有可继续的工作：队列为空。用 [NEXT: 名字] 指定下一位",
        "en": "There is nothing to resume, the queue is empty: name somebody with [NEXT: name]",
    },
    "nothing_running": {"zh": "当前没有正在执行的轮次", "en": "No turn is running, there is nothing to cancel"},
    "still_running": {
        "zh": "{who} 正在执行：请等它完成，或先取消",
        "en": "{who} is still acting: wait for it, or cancel it first",
    },
    "queue_empty": {"zh": "队列是空的，没有可以操作的成员", "en": "The queue is empty, there is nothing to change"},
    "not_in_queue": {
        "zh": "{who} 不在队列中。队列里有：{available}",
        "en": "{who} is not in the queue; it holds {available}",
    },
    "stale_turn": {"zh": "轮次 {detail} 已结束，结果被忽略", "en": "Turn {detail} is over, its result is ignored"},
    "unknown_step": {"zh": "没有等待回答的步骤 {detail}", "en": "No step {detail} is waiting for an answer"},
    "already_answered": {"zh": "该步骤已由 {by} 回答", "en": "This step was answered already by {by}"},
    "confirmation_expired": {"zh": "该步骤已过期", "en": "This step has expired: ask again"},
    "bad_answer": {
        "zh": "无法理解的回答。请确认或选择：{available}",
        "en": "This answer does not fit the question: confirm it, or choose one of {available}",
    },
    "forbidden": {"zh": "你无权这样做", "en": "You may not do this"},
    "flow_unavailable": {
        "zh": "此版本还不能运行 {detail} 流程",
        "en": "This version does not run the {detail} flow yet: use a team with flow: chat",
    },
}


def render(code: str, language: Language, **params: Any) -> str:
    """The text of a code. Lists of names become quoted, plain or arrowed text, as the template asks for."""
    names = params.get("names", ())
    available = params.get("available", ())
    values = {
        **params,
        "names": ", ".join(f"'{name}'" for name in names),
        "plain_names": ", ".join(names),
        "arrow_names": " → ".join(names),
        "available": ", ".join(available),
    }
    if code not in CATALOGUE:
        return f"[{code}]"  # said by a newer version
    return CATALOGUE[code][language].format(**values)


def explain(refusal: Refused, language: Language) -> str:
    """The sentence for a refused command."""
    return render(refusal.code, language, **refusal.params)


def show(fact: Fact, language: Language) -> str | None:
    """The text for people that goes with a fact, if the catalogue has one."""
    match fact:
        case NoticePosted():
            return render(**asdict(fact), language=language)
        case StepAsked(code=code) if code:
            return render(code, language)
        case _:
            return None
