"""What Moot says to people: one catalogue, a code and its texts in Chinese and English.

A notice is logged as a code with parameters and rendered when it is shown. Refusals use the same catalogue.
Codes are stable; texts say what happened, what was acceptable, what to do.
"""

from typing import Any

from msgspec.structs import asdict

from moot.core.connection_texts import CONNECTION_TEXTS
from moot.core.errors import Refused
from moot.core.events import Fact, NoticePosted, RoutingDecided, SessionRenamed, StepAsked, TurnFailed
from moot.core.plan.events import ExecutionFailed, TaskFailed
from moot.core.supervisor_texts import SUPERVISOR_TEXTS
from moot.core.team import Language
from moot.core.work_texts import WORK_TEXTS

CATALOGUE: dict[str, dict[Language, str]] = {
    **CONNECTION_TEXTS,
    **SUPERVISOR_TEXTS,
    **WORK_TEXTS,
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
    "agent_asks_too_much": {
        "zh": "Agent {who} 请求许可的次数过多，已停止",
        "en": "Agent {who} asked for too many permissions and was stopped",
    },
    "hop_limit": {
        "zh": "⏸ AI 已连续发言 {limit} 轮。发消息或 /resume 继续，/end 结束",
        "en": "⏸ The AIs took {limit} turns in a row. Say something or /resume to go on, /end to stop",
    },
    "budget": {
        "zh": "⏸ 预算已用完（{detail}）。/resume 再给同样的额度，/end 结束",
        "en": "⏸ The budget is used up ({detail}). /resume grants as much again, /end stops",
    },
    "member_budget": {
        "zh": "⏸ {who} 的预算已用完（{detail}）。/resume 再给同样的额度，/end 结束",
        "en": "⏸ {who} has used up its budget ({detail}). /resume grants as much again, /end stops",
    },
    # the plan flow
    "confirm_plan": {
        "zh": "计划：{count} 个任务。批准、编辑或拒绝？",
        "en": "Tasks in this plan: {count}. Approve, edit or reject it?",
    },
    "plan_refused": {
        "zh": "规划者给出的结果无法执行：{detail}",
        "en": "What the planner returned cannot be run: {detail}",
    },
    "task_failed": {
        "zh": "任务“{who}”失败（{error_type}）：{detail}。怎么办？",
        "en": "Task {who!r} failed ({error_type}): {detail}. What now?",
    },
    "review_failed": {
        "zh": "任务“{who}”多次未通过审核：{detail}。怎么办？",
        "en": "Task {who!r} was rejected too often: {detail}. What now?",
    },
    "task_dropped": {
        "zh": "任务“{who}”已取消，{names} 依赖它。怎么办？",
        "en": "Task {who!r} was cancelled, and is needed by {names}. What now?",
    },
    "job_failed": {
        "zh": "{who} 的工作失败（{error_type}）：{detail}。怎么办？",
        "en": "{who} failed ({error_type}): {detail}. What now?",
    },
    "ask_replan": {
        "zh": "“{detail}”会改变整个计划。重新规划，还是按原计划继续？",
        "en": "'{detail}' changes the whole plan: plan again, or go on as planned?",
    },
    "ask_new_task": {
        "zh": "“{detail}”是另一个任务。先完成当前任务、关闭当前任务并开始，还是放弃它？",
        "en": "'{detail}' is another task: finish the current one first, close it and start this, or drop this?",
    },
    "ask_unsure": {
        "zh": "不确定“{detail}”的意思。您想怎么做？",
        "en": "It is not clear what '{detail}' means for the work. What do you want?",
    },
    "ask_permission": {"zh": "{who} 请求许可：{detail}", "en": "{who} asks for permission: {detail}"},
    "option_allow": {"zh": "允许", "en": "Allow"},
    "option_approve": {"zh": "批准", "en": "Approve"},
    "option_reject": {"zh": "拒绝", "en": "Reject"},
    "option_retry": {"zh": "重试", "en": "Try again"},
    "option_skip": {"zh": "跳过", "en": "Go on without it"},
    "option_reassign": {"zh": "换人执行", "en": "Give it to another member"},
    "option_replan": {"zh": "重新规划", "en": "Plan again"},
    "option_abort": {"zh": "中止", "en": "Stop the work"},
    "option_continue": {"zh": "按原计划继续", "en": "Go on as planned"},
    "option_minor_replan": {"zh": "小改动：调整计划", "en": "Change the plan a little"},
    "option_finish_first": {"zh": "先完成当前任务", "en": "Finish the current work first"},
    "option_close_and_start": {"zh": "关闭当前任务，开始新任务", "en": "Close the current work and start this"},
    "option_drop": {"zh": "放弃这条输入", "en": "Forget this input"},
    "option_run_without": {"zh": "不等它，继续执行", "en": "Run them without it"},
    "option_cancel_dependants": {"zh": "一并取消", "en": "Cancel them too"},
    "option_restart": {"zh": "重新执行它", "en": "Run it after all"},
    "option_pause": {"zh": "暂停", "en": "Pause"},
    "option_resume": {"zh": "继续", "en": "Resume"},
    "option_cancel": {"zh": "取消", "en": "Cancel the work"},
    "option_status_query": {"zh": "查看进度", "en": "Show the status"},
    "plan_waits": {
        "zh": "计划仍在等待确认：请批准、编辑或拒绝",
        "en": "The plan still waits: approve, edit or reject it",
    },
    "plan_status": {
        "zh": "状态：{detail} · 已完成 {count}/{limit} · 正在执行：{plain_names}",
        "en": "Status: {detail} · {count} of {limit} tasks done · running: {plain_names}",
    },
    "plan_in_the_making": {
        "zh": "计划正在制定或等待确认：批准之后才能取消或重新执行其中的任务",
        "en": "A plan is being made or waits to be confirmed: its tasks can be changed one by one once it is approved",
    },
    "plan_changes": {
        "zh": "计划正在调整，任务尚未继续：请稍后再暂停",
        "en": "The plan is being changed and no task runs: pause again in a moment",
    },
    "still_understanding": {
        "zh": "输入还在理解中，尚无任务可以暂停：请稍后再试",
        "en": "What was said is still being understood and no work has begun: pause again in a moment",
    },
    "no_work": {"zh": "当前没有任务", "en": "No work is under way: say what you want done"},
    "input_dropped": {"zh": "已放弃：{detail}", "en": "Dropped: {detail}"},
    "understood_by_rules": {
        "zh": "模型未能理解这条输入（{detail}），已改用规则",
        "en": "The model did not understand this ({detail}): the rules did",
    },
    "no_queue_here": {
        "zh": "此流程没有发言队列：[NEXT:] 和 [DROP:] 不起作用",
        "en": "This flow has no queue: [NEXT:] and [DROP:] mean nothing here",
    },
    "no_workflow": {
        "zh": "当前没有进行中的任务",
        "en": "No work is under way: send a message or user.solve_tasks first",
    },
    "workflow_active": {
        "zh": "已有任务在进行中：请等它完成，或先取消",
        "en": "Work is under way already: wait for its end, or cancel it first",
    },
    "invalid_plan": {"zh": "计划无效：{problems}", "en": "The plan cannot be run: {problems}"},
    "unknown_task": {
        "zh": "没有任务 {detail}。现有：{available}",
        "en": "There is no task {detail}: use one of {available}",
    },
    "task_over": {
        "zh": "任务 {detail} 已结束，无法更改；可用 user.replan 重新规划",
        "en": "Task {detail} is over and cannot be changed: use user.replan",
    },
    "task_not_started": {
        "zh": "任务 {detail} 还没有开始，无需重新执行",
        "en": "Task {detail} has not started yet, there is nothing to begin again: wait for it, or cancel it",
    },
    "nobody_else": {
        "zh": "没有其他成员可以执行“{detail}”",
        "en": "No other member can run {detail!r}: retry, skip or replan",
    },
    "no_such_member": {
        "zh": "没有 AI 成员 {detail}。可选：{available}",
        "en": "No AI member is called {detail}: use one of {available}",
    },
    "too_many_inputs": {
        "zh": "还有 {limit} 条输入等待理解，请稍候",
        "en": "{limit} inputs wait to be understood already: wait a moment",
    },
    # answers to slash commands
    "help": {
        "zh": "[NEXT: 名字] 指定下一位 · [DONE] 结束 · /status 状态 · /queue 队列 · /queue skip 跳过队首 · "
        "/queue clear 清空 · /retry 重试 · /pause 暂停 · /resume 继续 · /rename 标题 改名 · /lang zh|en 语言 · "
        "/end 结束",
        "en": "[NEXT: name] says who is next · [DONE] ends · /status · /queue · /queue skip · /queue clear · /retry · "
        "/pause · /resume · /rename TITLE · /lang zh|en · /end",
    },
    "status": {
        "zh": "状态：{detail} · 等待：{who} · AI 连续轮数：{limit}",
        "en": "Status: {detail} · waiting for: {who} · AI turns in a row: {limit}",
    },
    "waiting_for": {"zh": "⏸ 等待 {who}", "en": "⏸ Waiting for {who}"},
    "session_over": {"zh": "■ 会话结束", "en": "■ The session is over"},
    "session_renamed": {"zh": "✎ 会话改名为：{detail}", "en": "✎ The session is now called: {detail}"},
    "queue": {"zh": "📋 队列: {arrow_names}", "en": "📋 Queue: {arrow_names}"},
    "queue_is_empty": {"zh": "📋 队列为空", "en": "📋 The queue is empty"},
    "confirm_queue_clear": {"zh": "清空队列？", "en": "Clear the queue?"},
    "option_clear": {"zh": "清空", "en": "Clear the queue"},
    "option_keep": {"zh": "保留", "en": "Keep it"},
    # the front door
    "route_continue_execution": {"zh": "收到，任务继续执行", "en": "Noted; the work goes on as planned"},
    "route_minor_replan": {"zh": "收到，小幅调整计划后继续", "en": "Noted; the plan is adjusted a little and goes on"},
    "route_full_replan": {
        "zh": "这会改变任务的目标或范围。要重新规划吗？",
        "en": "This changes the goal or the scope of the work. Plan it again?",
    },
    "route_new_task": {"zh": "开始新任务", "en": "A new task begins"},
    "route_new_task_asks": {
        "zh": "这看起来是另一个任务。先做完当前任务、关闭它并开始新任务，还是放弃新任务？",
        "en": "This looks like another task. Finish the current one first, close it and start this, or drop this?",
    },
    "route_pause": {"zh": "暂停当前任务", "en": "Pausing the work"},
    "route_resume": {"zh": "恢复执行当前任务", "en": "Resuming the work"},
    "route_cancel": {"zh": "取消当前任务", "en": "Cancelling the work"},
    "route_status_query": {"zh": "查询当前进度", "en": "Looking up how far the work is"},
    "route_unsure": {
        "zh": "不确定你的意思。要重新规划、照原计划继续、开始新任务，还是中止？",
        "en": "I am not sure what you mean. Plan again, go on as planned, start a new task, or abort?",
    },
    "route_minor_unsure": {
        "zh": "这可能是一处小改动，但把握不大。要按它调整计划吗？",
        "en": "This may be a small change, but that is not certain. Adjust the plan to it?",
    },
    "route_confirm": {"zh": "这一步需要你确认后才会执行", "en": "This needs your confirmation before anything is done"},
    "route_contradiction": {
        "zh": "对这条输入的理解自相矛盾，请你来决定下一步",
        "en": "The reading of this input contradicts itself: please decide what is to be done",
    },
    # refusals
    "empty_message": {
        "zh": "消息内容不能为空：请输入文字，或用 [NEXT: 名字] 指定成员",
        "en": "Message content cannot be empty: type some text, or name somebody with [NEXT: name]",
    },
    "message_too_long": {
        "zh": "消息太长：{length} 个字符，上限 {limit}。请拆成几条",
        "en": "The message has {length} characters, the limit is {limit}: split it",
    },
    "title_empty": {
        "zh": "标题不能为空：请写一行文字",
        "en": "A title cannot be empty: use one line of text",
    },
    "title_too_long": {
        "zh": "标题太长：{length} 个字符，上限 {limit}",
        "en": "The title has {length} characters, the limit is {limit}: shorten it",
    },
    "title_not_plain": {
        "zh": "标题里有换行或控制字符：请写一行普通文字",
        "en": "The title holds line breaks or control characters: use one line of plain text",
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
        "en": "There is no failed turn to retry: say what is to be done, or name somebody with [NEXT: name]",
    },
    "nothing_to_resume": {
        "zh": "没有可继续的工作：请说明要做什么，或用 [NEXT: 名字] 指定下一位",
        "en": "There is nothing to resume: say what is to be done, or name somebody with [NEXT: name]",
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
        "problems": "; ".join(params.get("problems", ())),
    }
    if code not in CATALOGUE:
        return f"[{code}]"  # said by a newer version
    return CATALOGUE[code][language].format(**values)


def tell_failure(error_type: str, message: str, language: Language) -> str:
    """What went wrong: an agent's own words; without any it was Moot that ended it, and the type says why."""
    code = f"failure_{error_type}"
    return message or (render(code, language) if code in CATALOGUE else error_type)


def explain(refusal: Refused, language: Language) -> str:
    """The sentence for a refused command."""
    return refusal.sentence or render(refusal.code, language, **refusal.params)


# What a decision was told in, to tell it in the reader's language; a model's own question is not among them.
_ROUTE_CODES = {text: code for code, said in CATALOGUE.items() if code.startswith("route_") for text in said.values()}


def show(fact: Fact, language: Language) -> str | None:
    """The text for people that goes with a fact, if the catalogue has one."""
    match fact:
        case NoticePosted(code="plan_status"):
            status = render(f"status_{fact.detail}", language)
            return render(fact.code, language, detail=status, count=fact.count, limit=fact.limit, names=fact.names)
        case NoticePosted(code="status" | "supervisor_status"):
            status, *acting = fact.detail.split(" ", 1)
            told = " ".join([render(f"status_{status}", language), *acting])
            return render(**{**asdict(fact), "detail": told}, language=language)
        case NoticePosted():
            return render(**asdict(fact), language=language)
        case StepAsked(kind="tool", who=who, question=question):
            return render("ask_permission", language, who=who, detail=question)
        case StepAsked(code=code) if code:
            detail = tell_failure(fact.error_type, fact.detail, language)
            about = {"who": fact.who, "detail": detail, "error_type": fact.error_type, "names": fact.names}
            return render(code, language, **about, count=len(fact.tasks or ()))
        case StepAsked(question=question) if question:
            return question
        case SessionRenamed(title=title):
            return render("session_renamed", language, detail=title)
        case RoutingDecided(user_message=message) if message:  # logged in the session's language
            return CATALOGUE[_ROUTE_CODES[message]][language] if message in _ROUTE_CODES else message
        case TurnFailed() | TaskFailed() | ExecutionFailed():
            return tell_failure(fact.error_type, fact.message, language)
        case _:
            return None
