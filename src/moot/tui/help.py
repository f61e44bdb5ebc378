"""Every key on one screen; any key closes it. And a text in full, to read."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from moot.core.team import Language
from moot.tui.keys import DEFAULTS, Keys
from moot.tui.plain import Content, Line, plain

# what is pressed (an action, or what cannot be changed) or typed, and what it does
KEYS: tuple[tuple[str, dict[Language, str]], ...] = (
    ("{send}", {"zh": "发送", "en": "send"}),
    ("\\ Enter", {"zh": "换行", "en": "break the line"}),
    ("↑ ↓", {"zh": "说过的话", "en": "what was said before"}),
    ("@", {"zh": "指定下一位", "en": "who is next"}),
    ("/", {"zh": "命令；/help 全部列出", "en": "commands; /help lists them"}),
    ("{pause}", {"zh": "暂停，或关闭打开的内容", "en": "pause, or close what is open"}),
    ("{next_pane}  {previous_pane}", {"zh": "下一个、上一个区域", "en": "next, previous pane"}),
    ("{timeline}  {tasks}  {state}", {"zh": "时间线、任务、状态", "en": "timeline, tasks, state"}),
    ("{question}", {"zh": "到问题", "en": "to the question"}),
    (
        "{approve}  {edit}  {reject}  1…9",
        {"zh": "在问题上：批准、编辑、拒绝、选择", "en": "there: approve, edit, reject, choose"},
    ),
    ("Alt+↑  Alt+↓  Ctrl+S", {"zh": "编辑计划时：移动任务、批准", "en": "in the plan editor: move a task, approve"}),
    ("PgUp  PgDn  Home  End", {"zh": "滚动对话", "en": "scroll the conversation"}),
    ("Shift+Tab", {"zh": "从输入框到对话", "en": "from the composer to the conversation"}),
    ("{copy}  {open}", {"zh": "在对话中：复制、在分页器中打开", "en": "there: copy a message, open it in the pager"}),
    ("{new_session}", {"zh": "新会话", "en": "new session"}),
    ("{palette}", {"zh": "命令面板", "en": "command palette"}),
    ("{quit}", {"zh": "退出", "en": "quit"}),
)
COLUMN = 30


def help_content(language: Language, keys: Keys) -> Content:
    every = {action: keys.every(action) for action in DEFAULTS}
    rows = [(pressed.format(**every), does[language]) for pressed, does in KEYS]
    return Content("\n").join(
        [plain(pressed, "bold").pad_right(COLUMN - plain(pressed).cell_length) + plain(does) for pressed, does in rows]
    )


class HelpScreen(ModalScreen[None]):
    """Asked for, so it may take the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1,enter", "dismiss", show=False)]

    def __init__(self, content: Content) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Line(self._content)
