"""What the terminal says: the words of the web page, so that both speak alike, and a few of its own."""

import json
import re
from functools import cache
from importlib import resources

from moot.core.team import Language

# only what a page has no use for
TERMINAL: dict[str, dict[Language, str]] = {
    "here": {"zh": "本机 · 第 {seq} 条", "en": "On this machine · event {seq}"},
    "reconnect_reset": {"zh": "历史已重新载入", "en": "The history was loaded again"},
    "new_below": {"zh": "↓ {count} 条新消息（End 到底部）", "en": "↓ {count} new (End goes there)"},
    "written_below": {"zh": "↓ {name} 正在回复（End 到底部）", "en": "↓ {name} is replying (End goes there)"},
    "hops": {"zh": "AI 连续 {hops}/{max} 轮", "en": "AI turns {hops}/{max}"},
    "leave_with": {"zh": "{pressed} 退出", "en": "{pressed} leaves"},
    "key.quit": {"zh": "退出", "en": "quit"},
    "key.pause": {"zh": "暂停", "en": "pause"},
    "key.focus": {"zh": "切换区域", "en": "pane"},
    "key.card": {"zh": "回答问题", "en": "answer"},
    "key.help": {"zh": "帮助", "en": "help"},
    "key.palette": {"zh": "命令", "en": "commands"},
    "composer.hint": {
        "zh": "{send} 发送 · \\ 加 Enter 换行 · ↑ 历史 · {help} 帮助",
        "en": "{send} sends · \\ Enter: new line · ↑ history · {help} help",
    },
    "card.many": {"zh": "{at}/{count}", "en": "{at} of {count}"},
    "plan.after_hint": {"zh": "任务 id，用逗号分隔", "en": "ids of tasks, with commas"},
    "task.hint": {"zh": "r 重新执行 · c 取消 · Enter 结果", "en": "r run again · c cancel · Enter result"},
    "copied": {"zh": "已复制", "en": "Copied"},
    "pausing": {"zh": "这一轮后暂停", "en": "Pausing after this turn"},
    "goodbye.session": {"zh": "会话 {id}", "en": "session {id}"},
    "goodbye.resume": {"zh": "继续：{command}", "en": "to go on: {command}"},
    "goodbye.transcript": {"zh": "全文：{path}", "en": "transcript: {path}"},
    "goodbye.kept_not": {"zh": "演示不保存任何内容", "en": "a demo keeps nothing"},
    "demo.next": {
        "zh": "自动继续 · Enter 立即继续 · 也可以自己输入 · {pressed} 切断连接",
        "en": "goes on by itself · Enter: at once · or type something · {pressed} cuts the connection",
    },
    "demo.over": {
        "zh": "演示结束。可以向上滚动，也可以看看时间线、任务和状态。",
        "en": "The demo is over. Scroll back, look at the timeline, the tasks, the state.",
    },
    "editor.hint": {
        "zh": "Enter 修改这一行 · Alt+↑ Alt+↓ 移动 · Ctrl+S 批准 · Esc 稍后",
        "en": "Enter changes the row · Alt+↑ Alt+↓ move it · Ctrl+S approves · Esc: later",
    },
    "conversation.hint": {
        "zh": "↑ ↓ 选择消息 · {copy} 复制 · {open} 在分页器中打开 · Tab 返回输入",
        "en": "↑ ↓ choose a message · {copy} copies · {open} opens it in the pager · Tab: back",
    },
    "resumed": {"zh": "已补齐 {count} 条事件", "en": "caught up: {count} events replayed"},
    "composer.busy": {
        "zh": "{name} 正在回复 · {send} 立即送达 · {pause} 暂停",
        "en": "{name} is replying · {send} delivers now · {pause} pauses",
    },
    "line.chat": {
        "zh": "输入一行并回车即可发言；[NEXT: {name}] 指定下一位；/help 列出命令；Ctrl-D 离开，会话会保留。",
        "en": "Type a line and press Enter to say it. [NEXT: {name}] names who is next, /help lists the commands. "
        "Ctrl-D leaves; the session is kept.",
    },
    "line.work": {
        "zh": "输入你想要的结果并回车；执行中也可以随时补充；/help 列出命令；Ctrl-D 离开，会话会保留。",
        "en": "Type what you want done and press Enter; you may say more while it is being done. /help lists the "
        "commands. Ctrl-D leaves; the session is kept.",
    },
    "line.small": {
        "zh": "终端为 {columns}×{rows}，按行显示；达到 {least_columns}×{least_rows} 时显示完整界面。",
        "en": "This terminal is {columns}×{rows}, so it goes line by line; from {least_columns}×{least_rows} on "
        "there is a screen.",
    },
    "help.title": {"zh": "帮助", "en": "Help"},
}
_NAME = re.compile(r"\{(\w+)\}")


@cache
def _catalogue(language: Language) -> dict[str, str]:
    text = resources.files("moot").joinpath("web", "lang", f"{language}.json").read_text(encoding="utf-8")
    words: dict[str, str] = json.loads(text)
    return words


class Words:
    """`words("plan.approve", count=3)`; plural forms stand beside each other as `key.one` and `key.other`."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._words = _catalogue(language)

    def __call__(self, key: str, **params: object) -> str:
        form = ""
        if isinstance(params.get("count"), int):
            form = "one" if params["count"] == 1 and self.language == "en" else "other"
        own = TERMINAL.get(key, {}).get(self.language)
        text = own or self._words.get(f"{key}.{form}") or self._words.get(f"{key}.other") or self._words.get(key) or key
        return _NAME.sub(lambda found: str(params.get(found[1], found[0])), text)

    def term(self, family: str, code: str) -> str:
        """A code in words; one that has none is shown as it is."""
        return self._words.get(f"{family}.{code}", code)
