"""The real CLIs on a machine of their own: an empty home, a model on loopback, and a wall around everything else."""

import asyncio
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from moot.core.flows.turns import TurnInput
from moot.runtime.ports import Agent, Output
from tests.agents.fake_models import Asked, Call, FakeModels, Reply

SHELLS = {
    "Bash": lambda command: {"command": command, "description": "run a command"},
    "exec_command": lambda command: {"cmd": command},
    "bash": lambda command: {"command": command, "description": "run a command"},
    "run_shell_command": lambda command: {"command": command, "description": "run a command", "is_background": False},
}
QUIET = (  # Claude Code's own switches; the preset sets them
    *("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"),
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
CODEX = """\
model = "fake-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
QWEN = {**GEMINI, "security": {"auth": {"selectedType": "openai"}}}
MODEL = "fake-model"  # as every CLI knows it but opencode
OPENCODE_MODEL = f"fake/{MODEL}"


def configure_opencode(url: str) -> dict[str, Any]:
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": url, "apiKey": "sk-canary-openai"},
        "models": {MODEL: {"name": MODEL}},
    }
    return {"provider": {"fake": fake}, "model": OPENCODE_MODEL, "autoupdate": False, "share": "disabled"}


def need(name: str) -> None:
    """Skip with a reason where the CLI is not installed."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed; .ci/run installs it from npm")


def settle(home: Path, models: FakeModels, wall: "Wall", monkeypatch: pytest.MonkeyPatch) -> None:
    """A home in which every CLI knows the model on loopback, and no other."""
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI))
    (home / "codex").mkdir()
    (home / "codex" / "config.toml").write_text(CODEX.format(url=models.url))
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text(json.dumps(QWEN))
    (home / ".config" / "opencode").mkdir(parents=True)
    (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(configure_opencode(models.url)))
    for name, value in {
        "HOME": str(home),
        "CODEX_HOME": str(home / "codex"),
        "OPENAI_API_KEY": "sk-canary-openai",
        "OPENAI_BASE_URL": models.url,  # for Qwen Code
        "OPENAI_MODEL": MODEL,
        "ANTHROPIC_API_KEY": "sk-canary-anthropic",
        "ANTHROPIC_BASE_URL": models.root,
        "GEMINI_API_KEY": "canary-gemini-key",
        "GOOGLE_GEMINI_BASE_URL": models.root,
        "HTTPS_PROXY": wall.url,
        "NO_PROXY": "127.0.0.1,localhost",
        **dict.fromkeys(QUIET, "1"),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)


def answer(asked: Asked) -> Reply:
    """`RUN: command` in the prompt calls the shell tool once; else a few words."""
    shell = next((tool for tool in asked.tools if tool in SHELLS), None)
    if "RUN: " in asked.prompt and shell and not asked.results:
        command = asked.prompt.rpartition("RUN: ")[2].splitlines()[0].strip()
        return Reply(calls=(Call(shell, SHELLS[shell](command)),))
    if asked.results:
        return Reply(text=f"the tool said {asked.results[-1][:200]}")
    return Reply(text="fine, thank you")


async def act(member: Agent, turn: TurnInput) -> list[Output]:
    async with asyncio.timeout(100), aclosing(member.act(turn)) as outputs:
        return [output async for output in outputs]


class Wall:
    """A proxy for everything that is not on loopback: it lets nothing through and remembers who knocked."""

    def __init__(self) -> None:
        self.knocks: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                knock, _ = self._socket.accept()
                knock.settimeout(5)
                with knock, suppress(OSError):
                    self.knocks.append(knock.recv(200).decode(errors="replace").partition("\r\n")[0])

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def a_wall() -> Iterator[Wall]:
    wall = Wall()
    try:
        yield wall
    finally:
        wall.close()
