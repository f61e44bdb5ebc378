"""Gemini CLI, Qwen Code and opencode: over the Agent Client Protocol where its library is installed, else turn by turn.

Measured with Gemini CLI 0.61.0, Qwen Code 0.15.10 and opencode 1.18.33.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from moot.agents.acp.acp_link import AcpLink, is_id
from moot.agents.cli.claude import ClaudeReader
from moot.agents.cli.dialect import Answer, Tools, count, make_usage, part, show, word
from moot.agents.cli.gemini import GEMINI_TURNS
from moot.agents.cli.lines import Json
from moot.agents.cli.presets import Login, Preset, option
from moot.agents.environment import NETWORK_NAMES
from moot.agents.live.link import Known, Setup
from moot.agents.live.live_member import LiveProtocol
from moot.agents.member_tools import NAMES, SERVER
from moot.agents.output_limits import PartialOutput
from moot.agents.permits import Permissions
from moot.core.session.usage import Usage, add_usage
from moot.runtime.ports import Result

# opencode does what it likes unless it is told to ask. It asks Moot, which knows what the member may do.
_ASKING = '{"edit": "ask", "bash": "ask", "webfetch": "ask", "external_directory": "ask"}'


def speak_acp(
    name: str,
    *arguments: str,
    takes_model: bool = True,
    names_own_tools: bool = True,
    environment: Mapping[str, str] | None = None,
) -> LiveProtocol:
    """Return how one of these agents is talked to.

    Args:
        takes_model: its command line does, otherwise its protocol.
        names_own_tools: it says which tool of a server it asks about. Otherwise its command line allows Moot's own.
    """
    own = f"--allowed-tools={','.join(f'mcp__{SERVER}__{tool}' for tool in NAMES)}"

    def list_arguments(setup: Setup, _: Known | None) -> tuple[str, ...]:
        model = option("-m", setup.model if takes_model else None)
        allowed = (own,) if SERVER in setup.servers and not names_own_tools else ()
        return (name, *arguments, *model, *allowed, *setup.args)

    return LiveProtocol(
        argv=list_arguments,
        link=lambda child, setup, folder: AcpLink(
            child, replace(setup, model=None) if takes_model else setup, folder, name
        ),
        is_id=is_id,
        module="acp",
        environment=environment or {},
    )


def list_qwen_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    mode = {"read": "default", "ask": "default", "edit": "auto-edit", "all": "yolo"}[permissions]
    flags = ("-o", "stream-json", "--approval-mode", mode)
    return ("qwen", *flags, *option("-m", model), *option("--resume", session_id))


def list_opencode_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    """Its own settings say what it may do; `read` and `ask` take the agent of it that changes nothing."""
    agent = ("--agent", "plan") if permissions in ("read", "ask") else ()
    return ("opencode", "run", "--format", "json", *agent, *option("-m", model), *option("--session", session_id))


class OpencodeReader:
    """Reads `opencode run --format json`."""

    spent = Usage()  # each turn reports its own usage

    def __init__(self) -> None:
        self.session_id: str | None = None
        self._answer = Answer()
        self._tools = Tools()
        self._usage = Usage()
        self._is_over = False

    def read(self, event: Json) -> Iterator[PartialOutput]:
        about = part(event, "part")
        self.session_id = word(event, "sessionID") or self.session_id
        match event["type"]:
            case "text":
                yield from self._answer.end_block()
                self._answer.add(word(about, "text"))
                yield from show(word(about, "text"))
            case "tool_use":
                yield from self._answer.end_block()
                state, call_id = part(about, "state"), word(about, "callID") or word(about, "id")
                yield self._tools.begin(call_id, word(about, "tool"), state.get("input"))
                code = part(state, "metadata").get("exit")
                yield self._tools.end(
                    call_id,
                    state.get("output") or state.get("error"),
                    failed=state.get("status") == "error",
                    exit_code=code if isinstance(code, int) else None,
                )
            case "step_finish":
                tokens = part(about, "tokens")
                cached = part(tokens, "cache")
                given = count(tokens.get("input")) + count(cached.get("read")) + count(cached.get("write"))
                thinking = count(tokens.get("reasoning"))
                spent = make_usage(
                    given,
                    count(tokens.get("output")) + thinking,
                    about.get("cost"),
                    cached=cached.get("read"),
                    thinking=thinking,
                )
                self._usage = add_usage(self._usage, spent)
                self._is_over = about.get("reason") == "stop"

    def result(self) -> Result | None:
        return Result(text=self._answer.text, usage=self._usage) if self._is_over else None


GEMINI = replace(GEMINI_TURNS, live=speak_acp("gemini", "--acp"))
QWEN = Preset(
    name="qwen",
    argv=list_qwen_arguments,
    reader=lambda _: ClaudeReader("qwen"),
    names=("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", *NETWORK_NAMES),
    keys=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
    login=Login(folder=".qwen", file="oauth_creds.json"),
    install="npm install -g @qwen-code/qwen-code",
    tested_with="0.15.10",
    live=speak_acp("qwen", "--acp", names_own_tools=False),
)
OPENCODE = Preset(
    name="opencode",
    argv=list_opencode_arguments,
    reader=lambda _: OpencodeReader(),
    names=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENCODE_CONFIG", *NETWORK_NAMES),
    keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
    login=Login(folder=".local/share/opencode", file="auth.json"),
    install="npm install -g opencode-ai",
    tested_with="1.18.33",
    environment={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
    live=speak_acp("opencode", "acp", takes_model=False, environment={"OPENCODE_PERMISSION": _ASKING}),
)
