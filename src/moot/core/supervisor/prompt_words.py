"""The words of the supervisor's prompt that its sections are made of, in Chinese and English."""

from moot.core.team import Language

WORDS: dict[str, dict[Language, str]] = {
    "no_goal": {"zh": "（还没有人说明目标：请先问清楚）", "en": "(nobody has said it yet: have somebody ask)"},
    "open": {"zh": "未完成", "en": "open"},
    "done": {"zh": "已完成", "en": "done"},
    "rounds": {"zh": "未通过的审核轮数", "en": "reviews that did not approve:"},
    "no_purpose": {"zh": "（没有说明）", "en": "(no description)"},
    "needs": {"zh": "前置条件", "en": "needs"},
    "or": {"zh": " 或 ", "en": " or "},
    "else": {"zh": "缺少时改由", "en": "if that is missing, first"},
    "writes": {"zh": "写入", "en": "writes"},
    "nothing_decided": {"zh": "还没有任何决策。", "en": "Nothing yet: this is your first decision."},
    "corrected": {"zh": "缺少前置条件，已纠正", "en": "corrected, what it needs was missing"},
    "approval": {"zh": "审核通过", "en": "the review's approval"},
    # the format
    "format": {
        "zh": "先用一两句话分析，然后给出一个 JSON 对象，四个键都要有。guidance 和 context_from_previous "
        "各不超过 200 字，focus_areas 最多 5 项。只有最后一个 JSON 对象有效。",
        "en": "Think in a sentence or two, then give one JSON object with all four keys. guidance and "
        "context_from_previous have at most 200 characters each, focus_areas at most 5 entries. Only the last JSON "
        "object of your answer counts.",
    },
    "allowed": {"zh": "next_agent 必须与以下名字之一完全一致：", "en": "next_agent is exactly one of:"},
    "example_guidance": {
        "zh": "基于已有材料工作，强调重点信息",
        "en": "Work from what is there and stress what matters most",
    },
    "example_context": {"zh": "上一位提炼了 3 条要点", "en": "The agent before you found three key points"},
    "example_areas": {"zh": "要点, 读者, 可操作建议", "en": "key points, the reader, what to do next"},
    # examples made from the team
    "example_missing": {
        "zh": "{key} ❌ 未完成，而 {agent} 需要它：",
        "en": "{key} is ❌ open, and {agent} needs it:",
    },
    "example_fill": {"zh": "先补上 {key}", "en": "Provide {key} first"},
    "example_done": {
        "zh": "所需的内容都 ✅ 已完成，审核也通过了：",
        "en": "All that is needed is ✅ done and the review approved:",
    },
    # hints
    "fault_no_json": {
        "zh": "上一次回答中没有包含 next_agent 的有效 JSON 对象。请给出一个，next_agent 可选：{allowed}",
        "en": "Your last answer had no valid JSON object with next_agent. Give one; next_agent is one of: {allowed}",
    },
    "fault_empty": {
        "zh": "上一次回答中的 next_agent 为空。可选：{allowed}",
        "en": "next_agent was empty in your last answer. It is one of: {allowed}",
    },
    "fault_not_text": {
        "zh": "上一次回答中的 next_agent 是 {given}，不是文本。可选：{allowed}",
        "en": "next_agent was {given} in your last answer, which is no text. It is one of: {allowed}",
    },
    "fault_unknown": {
        "zh": "没有名为 “{given}” 的 agent。名字必须完全一致，可选：{allowed}",
        "en": 'There is no agent "{given}". Names must match exactly; next_agent is one of: {allowed}',
    },
    "fault_early_end": {
        "zh": "现在还不能 END，还缺少：{missing}",
        "en": "The work cannot END yet. Still missing: {missing}",
    },
    "fault_not_ready": {
        "zh": "{given} 现在还不能工作：它的前置条件缺失。请先选择能补上前置条件的 agent，可选：{allowed}",
        "en": "{given} cannot act yet, what it needs is missing. First choose one that provides it, of: {allowed}",
    },
    "said": {"zh": "有人说 {said}", "en": "Somebody said {said}"},
    "review_failed": {"zh": "审核没有通过{low}。", "en": "The review did not approve{low}."},
    "fallback": {
        "zh": "建议回退到 {agent}；如果你有更好的判断，可以选择其他 agent。",
        "en": "{agent} is the one to go back to, unless you know better.",
    },
    "out_of_rounds": {
        "zh": "迭代次数已用完：可以用 END 交付目前的结果（会标记为部分完成）。",
        "en": "The rounds are used up: you may END with what there is; it will be marked as partial.",
    },
}

# how a condition reads, by its word in the team file
IS: dict[str, dict[Language, str]] = {
    "present": {"zh": "已存在", "en": "is there"},
    "non_blank": {"zh": "有内容", "en": "has text"},
    "non_empty": {"zh": "不为空", "en": "is not empty"},
    "true": {"zh": "为 true", "en": "is true"},
    "false": {"zh": "为 false", "en": "is false"},
}
