"""The agents of the table: how each is put into a team here, and what it could do when it was first tried."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from moot.agents.acp.acp_agent import AcpAgent
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.llm.llm_agent import LlmAgent
from moot.config.agent_specs import AgentSpec, McpServer
from tests.agents.real_clis import MODEL, OPENCODE_MODEL, QUIET

MCP_SERVER = Path(__file__).parents[1] / "mcp_server.py"
_ACP_NAMES = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"),
    *("HTTPS_PROXY", "NO_PROXY", *QUIET),
)


class Column(NamedTuple):
    """An agent. `program` is empty for one that needs none. `make` takes its settings and the model's `url`."""

    name: str
    program: str
    make: Callable[..., AgentSpec]

    @property
    def version(self) -> str | None:
        """What the program says of itself; None if it is not installed."""
        if not self.program:
            return ""
        found = shutil.which(self.program)
        if found is None:
            return None
        try:
            ran = subprocess.run(
                [found, "--version"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                stdin=subprocess.DEVNULL,
                env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
            )
        except subprocess.TimeoutExpired:
            return "?"
        words = [word for word in ran.stdout.split() if word[:1].isdigit()]
        return words[0] if words else _read_package_version(Path(found).resolve())


def _read_package_version(program: Path) -> str:
    """Return the version of the npm package that a program is part of, for one that does not say its own."""
    packages = (folder / "package.json" for folder in program.parents)
    return next((json.loads(file.read_text())["version"] for file in packages if file.is_file()), "?")


def _preset(name: str, model: str = MODEL) -> Callable[..., AgentSpec]:
    def make(**settings: Any) -> AgentSpec:
        settings.pop("url", None)
        return CliAgent(preset=name, model=model, **settings)

    return make


def _acp(*command: str) -> Callable[..., AgentSpec]:
    def make(**settings: Any) -> AgentSpec:
        settings.pop("url", None)
        return AcpAgent(command=command, env=_ACP_NAMES, **settings)

    return make


def _llm(url: str = "", **settings: Any) -> AgentSpec:
    if settings.get("permissions") == "ask":  # about something that it can do
        settings["mcp"] = (McpServer(command=(sys.executable, str(MCP_SERVER), os.devnull)),)
    return LlmAgent(model=f"openai-chat:{MODEL}", base_url=url, key="OPENAI_API_KEY", **settings)


COLUMNS = (
    Column("claude", "claude", _preset("claude")),
    Column("codex", "codex", _preset("codex")),
    Column("gemini", "gemini", _preset("gemini")),
    Column("qwen", "qwen", _preset("qwen")),
    Column("opencode", "opencode", _preset("opencode", OPENCODE_MODEL)),
    Column("claude-agent-acp", "claude-agent-acp", _acp("claude-agent-acp")),
    Column("codex-acp", "codex-acp", _acp("codex-acp")),
    Column("llm", "", _llm),
)

_NAMES = ("claude", "codex", "gemini", "qwen", "opencode", "claude-agent-acp", "codex-acp", "llm")


def _first(marks: str) -> dict[str, str]:
    return {name: mark for name, mark in zip(_NAMES, marks.split(), strict=True) if mark != "?"}


# What the agents did when they were first tried, by row; "?" was not tried, qwen and opencode were over ACP.
BEFORE = {
    "turn": _first("W W W W W W W W"),
    "hand-over": _first("W W W W W W W W"),
    "text live": _first("W N W W W W W W"),
    "tools as steps": _first("W W W P P W P W"),
    "asks the human": _first("N N N W N W N N"),
    "shows what will happen": _first("– – – P – N – –"),
    "a yes for the session lasts": _first("– – – P – W – –"),
    "a cancelled turn leaves no process": _first("W W W W W W W W"),
    "goes on in the next turn": _first("W W W N W W W W"),
    "goes on after a restart": _first("W W W N W W W W"),
    "remembers a cancelled turn": _first("N N N N N N N N"),
    "401": _first("W W W W P N W W"),
    "429": _first("W W N N N N N W"),
    "500": _first("W W N N N N N W"),
    "network down": _first("W N N W ? N ? ?"),
    "tokens are those the model counted": _first("W W W N N N N W"),
}
