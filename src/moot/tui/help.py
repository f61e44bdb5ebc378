"""Every key on one screen; any key closes it. And a text in full, to read."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from moot.core.team import Language
from moot.tui.plain import Content, Line, plain

# what is pressed or typed, and what it does
KEYS: tuple[tuple[str, dict[Language, str]], ...] = (
    ("Enter  Ctrl+J  Alt+Enter  F5", {"zh": "发送", "en": "send"}),
    ("\\ Enter", {"zh": "换行", "en": "break the line"}),
    ("↑ ↓", {"zh": "说过的话", "en": "what was said before"}),
    ("@", {"zh": "指定下一位", "en": "who is next"}),
    ("/", {"zh": "命令；/help 全部列出", "en": "commands; /help lists them"}),
    ("Esc", {"zh": "暂停，或关闭打开的内容", "en": "pause, or close what is open"}),
    ("F6  Shift+F6", {"zh": "下一个、上一个区域", "en": "next, previous pane"}),
    ("F2  F3  F4", {"zh": "时间线、任务、状态", "en": "timeline, tasks, state"}),
    ("F7", {"zh": "到问题", "en": "to the question"}),
    ("a  e  r", {"zh": "在问题上：批准、编辑、拒绝计划", "en": "at the question: approve, edit, reject the plan"}),
    ("Alt+↑  Alt+↓  Ctrl+S", {"zh": "编辑计划时：移动任务、批准", "en": "in the plan editor: move a task, approve"}),
    ("PgUp  PgDn  Home  End", {"zh": "滚动对话", "en": "scroll the conversation"}),
    ("y  o", {"zh": "在对话中：复制、全文阅读消息", "en": "in the conversation: copy a message, read it in full"}),
    ("Ctrl+N", {"zh": "新会话", "en": "new session"}),
    ("Ctrl+P", {"zh": "命令面板", "en": "command palette"}),
    ("Ctrl+Q", {"zh": "退出", "en": "quit"}),
)
COLUMN = 30


def help_content(language: Language) -> Content:
    lines = [
        plain(keys, "bold").pad_right(COLUMN - plain(keys).cell_length) + plain(does[language]) for keys, does in KEYS
    ]
    return Content("\n").join(lines)


class HelpScreen(ModalScreen[None]):
    """Asked for, so it may take the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1,enter", "dismiss", show=False)]

    def __init__(self, content: Content) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Line(self._content)
