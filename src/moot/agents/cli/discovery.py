"""Finds the known CLIs on this machine: path, version, and whether somebody is logged in. Reads no secrets."""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from moot.agents.cli.presets import Preset, list_presets
from moot.agents.environment import pick_environment
from moot.agents.process import Bounds, Program, start
from moot.core.errors import AgentError

VERSION_S = 15.0
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.-]*")


class FoundCli(Struct, frozen=True, kw_only=True):
    """`path` is empty if it is not installed. `login` is the variable or file of the login, empty if there is none."""

    preset: Preset
    path: str = ""
    version: str = ""
    login: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        return self.preset.name

    @property
    def fix(self) -> str:
        if not self.path:
            return self.preset.install
        if self.problem:
            return f"run `{self.name} --version` and see what it says"
        return "" if self.login else f"run `{self.name}` once and log in, or set {self.preset.keys[0]}"


async def find_clis() -> list[FoundCli]:
    """Return all of them; their versions are asked for at the same time."""
    return list(await asyncio.gather(*map(_find, list_presets())))


async def _find(preset: Preset) -> FoundCli:
    path = shutil.which(preset.name)
    if path is None:
        return FoundCli(preset=preset)
    login = find_login(preset, os.environ)
    program = Program(argv=(preset.name, "--version"), environment=pick_environment((), fixed=preset.environment))
    try:
        async with start(program, Bounds(output_bytes=65_536, idle_s=VERSION_S, total_s=VERSION_S)) as child:
            output = b"".join([chunk async for chunk in child.chunks()]).decode(errors="replace")
            ended = await child.ended()
    except AgentError as error:
        return FoundCli(preset=preset, path=path, login=login, problem=str(error))
    match = _VERSION.search(output)
    problem = "" if match else f"it prints no version (exit {ended.code})"
    return FoundCli(preset=preset, path=path, version=match[0] if match else "", login=login, problem=problem)


def find_login(preset: Preset, environment: Mapping[str, str]) -> str:
    """Return the name of a variable that holds a key, or of the file that a login leaves. Neither is read."""
    for key in preset.keys:
        if environment.get(key):
            return key
    login = preset.login
    home = Path(environment.get("HOME") or Path.home())
    folder = Path(environment[login.variable]) if environment.get(login.variable) else home / login.folder
    return login.file if (folder / login.file).is_file() else ""
