"""Which of the known CLIs are on this machine, which version, and whether somebody is logged in: names, no secrets."""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from moot.agents.cli.presets import PRESETS, Name
from moot.agents.environment import pick_environment
from moot.agents.process import Bounds, Program, start
from moot.core.errors import AgentError

VERSION_S = 15.0
MEASURED: dict[Name, str] = {"claude": "2.1.197", "codex": "0.166.0", "gemini": "0.61.0"}
_PACKAGES: dict[Name, str] = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
}
_KEYS: dict[Name, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("CODEX_API_KEY", "OPENAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
}
_LOGINS: dict[Name, tuple[str, str, str]] = {  # the variable that moves the folder, its usual place, a login's file
    "claude": ("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"),
    "codex": ("CODEX_HOME", ".codex", "auth.json"),
    "gemini": ("", ".gemini", "oauth_creds.json"),
}
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.-]*")


class FoundCli(Struct, frozen=True, kw_only=True):
    """`path` is empty when it is not installed; `login` names how somebody is logged in, empty when nobody is."""

    name: Name
    path: str = ""
    version: str = ""
    login: str = ""
    problem: str = ""

    @property
    def fix(self) -> str:
        if not self.path:
            return f"npm install -g {_PACKAGES[self.name]}"
        if self.problem:
            return f"run `{self.name} --version` and see what it says"
        return "" if self.login else f"run `{self.name}` once and log in, or set {_KEYS[self.name][0]}"


async def find_clis() -> list[FoundCli]:
    """All of them, asked at the same time."""
    return list(await asyncio.gather(*(_find(name) for name in PRESETS)))


async def _find(name: Name) -> FoundCli:
    path = shutil.which(name)
    if path is None:
        return FoundCli(name=name)
    login = find_login(name, os.environ)
    program = Program(argv=(name, "--version"), environment=pick_environment((), fixed=PRESETS[name].environment))
    try:
        async with start(program, Bounds(output_bytes=65_536, idle_s=VERSION_S, total_s=VERSION_S)) as child:
            said = b"".join([chunk async for chunk in child.chunks()]).decode(errors="replace")
            ended = await child.ended()
    except AgentError as error:
        return FoundCli(name=name, path=path, login=login, problem=str(error))
    found = _VERSION.search(said)
    problem = "" if found else f"it tells no version (exit {ended.code})"
    return FoundCli(name=name, path=path, version=found[0] if found else "", login=login, problem=problem)


def find_login(name: Name, environment: Mapping[str, str]) -> str:
    """The name of a variable that holds a key, or of the file that a login leaves; neither is read."""
    for key in _KEYS[name]:
        if environment.get(key):
            return key
    variable, usual, file = _LOGINS[name]
    home = Path(environment.get("HOME") or Path.home())
    folder = Path(environment[variable]) if environment.get(variable) else home / usual
    return file if (folder / file).is_file() else ""
