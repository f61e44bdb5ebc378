"""What is said to people about a supervisor's job: part of the notice catalogue."""

from moot.core.team import Language

SUPERVISOR_TEXTS: dict[str, dict[Language, str]] = {
    "decision_corrected": {
        "zh": "↪ {detail} 的前置条件缺失，改由 {who} 先做",
        "en": "↪ What {detail} needs is missing: {who} acts first",
    },
    "quality_corrected": {
        "zh": "↪ Supervisor 没有给出决策，按审核分数改由 {who} 执行",
        "en": "↪ The supervisor is silent; by the review's scores it is {who}'s turn",
    },
    "supervisor_undecided": {
        "zh": "⏸ {who} 连续 {limit} 次没有给出可用的决策",
        "en": "⏸ {who} gave no usable decision {limit} times in a row",
    },
    "step_limit": {
        "zh": "⏸ AI 已执行 {limit} 步，达到上限",
        "en": "⏸ The AIs took {limit} turns, that is the limit",
    },
    "iteration_limit": {
        "zh": "⏸ {limit} 次审核都没有通过，也没有可以交付的结果",
        "en": "⏸ {limit} reviews did not approve, and there is nothing to show",
    },
    "supervisor_stuck": {
        "zh": "接下来怎么办？选择由谁执行、直接告诉 Supervisor，或结束",
        "en": "What now? Choose who acts, say something to the supervisor, or end it",
    },
    "review_output": {
        "zh": "请检查 {who} 的结果：批准、退回并说明原因，或直接修改？",
        "en": "{who} is done. Approve it, reject it and say why, or edit it?",
    },
    "question_repeated": {
        "zh": "{who} 的问题已经问过，不再重复：{detail}",
        "en": "{who} asked that before, it is not asked again: {detail}",
    },
    "question_limit": {
        "zh": "最多提问 {limit} 次，{who} 的问题未提出：{detail}",
        "en": "No more than {limit} questions are asked; left out: {who}, {detail}",
    },
    "state_refused": {
        "zh": "⚠️ {who} 无权写入或内容无效，已忽略：{detail}",
        "en": "⚠️ {who} may not write this, or it is no plain data; ignored: {detail}",
    },
    "tools_ignored": {
        "zh": "⚠️ {who} 的工具调用未执行：没有声明工具，或次数已用完",
        "en": "⚠️ The tools that {who} called are not run: none are declared, or the rounds are used up",
    },
    "supervisor_status": {
        "zh": "状态：{detail} · 当前：{who} · 步数 {count}/{limit}",
        "en": "Status: {detail} · acting: {who} · step {count} of {limit}",
    },
    "route_to_supervisor": {"zh": "收到，Supervisor 下一次决策时会考虑", "en": "Noted; the supervisor hears it next"},
    # as lines of a transcript
    "told_choice": {"zh": "→ {who}：{detail}", "en": "→ {who}: {detail}"},
    "told_end": {"zh": "→ 结束", "en": "→ END"},
    "told_undecided": {
        "zh": "✗ {who} 没有给出可用的决策（{detail}），第 {count} 次",
        "en": "✗ No usable decision of {who} ({detail}), {count} in a row",
    },
    "told_state": {"zh": "  ✎ {who}：{plain_names}", "en": "  ✎ {who}: {plain_names}"},
    "told_tool": {"zh": "  ⚙ {who}：{detail}", "en": "  ⚙ {who}: {detail}"},
    "told_approved": {"zh": "✓ 审核通过", "en": "✓ The review approves"},
    "told_rejected": {"zh": "✗ 审核未通过（第 {count} 次）", "en": "✗ The review does not approve ({count})"},
    "told_rejected_hint": {
        "zh": "✗ 审核未通过（第 {count} 次），建议回退到 {who}",
        "en": "✗ The review does not approve ({count}); the scores point at {who}",
    },
    "told_complete": {"zh": "✓ 完成", "en": "✓ Done"},
    "told_partial": {"zh": "◐ 部分完成", "en": "◐ Done in part"},
    "told_cancelled": {"zh": "✗ 已取消", "en": "✗ Cancelled"},
    "nobody_plays": {
        "zh": "此团队没有成员担任：{plain_names}",
        "en": "Nobody in this team plays {plain_names}: give AI members these roles",
    },
    "option_tell_supervisor": {"zh": "告诉 Supervisor", "en": "Tell the supervisor"},
    "option_edit": {"zh": "修改", "en": "Edit"},
    "option_end": {"zh": "结束", "en": "End it"},
}
