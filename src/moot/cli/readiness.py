"""What a valid team lacks on this machine: programs, logins, optional packages, modules, keys. Nothing is started."""

import importlib.machinery
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from moot.agents.acp.acp_agent import AcpAgent
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.cli.discovery import find_login
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.llm.models import PROVIDERS, ModelAddress
from moot.agents.prices import has_price
from moot.config.agent_specs import AgentSpec
from moot.config.problem import Problem
from moot.config.source import Source
from moot.config.team_file import TeamFile
from moot.config.trust import Start
from moot.core.errors import WorkspaceError
from moot.runtime.workspaces.git import Git
from moot.runtime.workspaces.repository import find_repository

PROVIDERS_WITH_KEY = tuple(name for name in PROVIDERS if name not in ("ollama", "vllm", "litellm"))
OTHER_KEYS = {"google": ("GEMINI_API_KEY",)}  # variables that a provider's library takes besides its usual one
REPORTS_COST = ("claude", "opencode")  # presets whose programs say what a turn cost


def list_warnings(team: TeamFile, source: Source) -> list[Problem]:
    """Return what will fail when the team runs here, each with its line."""
    folder = (source.folder or Path()).absolute()
    warnings: list[Problem] = []
    for position, member in enumerate(team.members):
        if member.agent is None:
            continue
        path: tuple[str | int, ...] = ("members", position, "agent")
        for text, hint in _list_lacks(member.id, member.agent, folder):
            warnings.append(Problem(path=path, text=text, hint=hint, line=source.find_line(path)))
    for path, text, hint in list_uncounted(team):
        warnings.append(Problem(path=path, text=text, hint=hint, line=source.find_line(path)))
    return [*warnings, *_check_workspace(team, source, folder)]


def list_uncounted(team: TeamFile) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield the limits in USD that cannot work because nobody knows what a member costs: path, text, hint."""
    unknown = [member for member in team.members if member.agent and not _has_cost(member.agent)]
    hint = "limit max_tokens or max_turns, or name a model with a known price"
    if team.budget.max_cost_usd and unknown:
        names = ", ".join(member.id for member in unknown)
        yield ("budget", "max_cost_usd"), f"the cost of {names} is not known and counts as 0", hint
    for position, member in enumerate(team.members):
        if member in unknown and member.budget.max_cost_usd:
            path = ("members", position, "budget", "max_cost_usd")
            yield path, f"the cost of {member.id} is not known and counts as 0", hint


def _has_cost(agent: AgentSpec) -> bool:
    """Whether the turns of an agent have a cost: one that it reports, or that of its model in the price list."""
    if isinstance(agent, CliAgent):
        return agent.preset in REPORTS_COST or has_price(agent.model)
    if isinstance(agent, LlmAgent | AcpAgent):
        return has_price(agent.model)
    return True  # scripts and functions say what they cost


def _check_workspace(team: TeamFile, source: Source, folder: Path) -> Iterator[Problem]:
    """Yield why no tree can be made here, and which copied files git has already: changes of them are not recorded."""
    spec = team.workspace
    if spec is None or spec.type != "worktree":
        return
    try:
        top = find_repository(folder, spec.base)
        names = [f":(top,literal){name}" for name in spec.copy]
        tracked = set(Git(folder=top).run("ls-files", "-z", "--", *names).parts) if spec.copy else set()
    except WorkspaceError as error:
        path: tuple[str | int, ...] = ("workspace",)
        text, _, hint = str(error).partition("; ")
        yield Problem(path=path, text=text, hint=hint, line=source.find_line(path))
        return
    for position, name in enumerate(spec.copy):
        if any(each == name or each.startswith(f"{name.rstrip('/')}/") for each in tracked):
            path = ("workspace", "copy", position)
            text = (
                f"{name!r} is tracked by git: every tree has it anyway, and what members change in it is not recorded"
            )
            yield Problem(path=path, text=text, hint="leave it out of copy", line=source.find_line(path))


def _list_lacks(member: str, agent: AgentSpec, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what an agent lacks, and what to do about it."""
    extra = agent.extra
    if extra and importlib.util.find_spec(extra.module) is None:
        yield f"needs the extra {extra.name!r}, which is not installed", f"pip install 'moot[{extra.name}]'"
    for start in agent.starts(member):
        if start.kind == "program" and not _has_program(start, folder):
            yield f"the program {start.argv[0]!r} was not found", "install it; `moot doctor` says how"
            return
        if start.kind == "code" and not _has_module(start.argv[1], folder):
            yield f"the module of {start.argv[1]!r} was not found", "put it beside the team file, or install it"
    if isinstance(agent, CliAgent) and (preset := agent.find_preset()) and not find_login(preset, os.environ):
        yield f"{preset.name} is not logged in", f"run `{preset.name}` once and log in, or set {preset.keys[0]}"
    if isinstance(agent, CliAgent | AcpAgent) and agent.cwd and not (folder / agent.cwd).is_dir():
        yield f"there is no folder {agent.cwd!r}", "cwd is a folder beside the team file, or an absolute path"
    if isinstance(agent, LlmAgent):
        yield from _list_lacks_of_model(agent)


def _list_lacks_of_model(agent: LlmAgent) -> Iterator[tuple[str, str]]:
    if ":" not in agent.model and not agent.base_url:
        yield "the model names no provider", f"write provider:name, such as openai:{agent.model}"
        return
    address = ModelAddress(name=agent.model, base_url=agent.base_url, key=agent.key)
    needs_key = agent.key or (agent.base_url is None and address.provider in PROVIDERS_WITH_KEY)
    names = [address.key_name, *OTHER_KEYS.get(address.provider, ())]
    if needs_key and not any(os.environ.get(name) for name in names):
        yield f"the variable {address.key_name} is not set", f"export {address.key_name}=… before you start the team"


def _has_program(start: Start, folder: Path) -> bool:
    name = start.argv[0]
    if os.sep in name:
        return os.access(folder / start.folder / name, os.X_OK)
    return shutil.which(name) is not None


def _has_module(path: str, folder: Path) -> bool:
    """Look for the package of a function without importing it: that would run its code."""
    name = path.partition(":")[0].partition(".")[0]
    return importlib.machinery.PathFinder.find_spec(name, [str(folder), *sys.path]) is not None
