"""The tools that Moot runs for members between their turns: Python functions and MCP servers.

What a tool's name stands for is read from the team files on disk, never from the log.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moot.agents.llm import mcp
from moot.agents.python import load_function
from moot.agents.run_environment import RunEnvironment
from moot.config.agent_specs import McpServer
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.errors import AgentError
from moot.runtime.ports import ToolFunction


class Toolbox:
    """Finds tools by team, member and name.

    Args:
        overrides: tools for every member, by name; they win over the team files.
        environments: where Python modules are found and MCP servers run, by team name.
    """

    def __init__(
        self,
        teams: Iterable[TeamFile],
        overrides: Mapping[str, ToolFunction],
        environments: Mapping[str, RunEnvironment] | None = None,
    ) -> None:
        self._teams = {team.name: team for team in teams}
        self._overrides = overrides
        self._environments = dict(environments or {})
        self._functions: dict[tuple[str, str], ToolFunction] = {}

    def load(self, team: TeamFile, environment: RunEnvironment) -> None:
        """Add a team, or reload its file."""
        self._teams[team.name] = team
        self._environments[team.name] = environment
        self._functions = {key: function for key, function in self._functions.items() if key[0] != team.name}

    def find(self, team_name: str, member_id: str, name: str) -> ToolFunction:
        """Find a tool by the name of its function, or by its server's name for it. Raises AgentError."""
        if name in self._overrides:
            return self._overrides[name]
        member = self._member(team_name, member_id)
        paths = _paths(member)
        if name in paths:
            return self._load(team_name, paths[name])
        if member.mcp:
            return _at_servers(member.mcp, self._environment(team_name), name)
        raise AgentError("config", f"{member_id!r} has no tool {name!r}; it has {', '.join(paths) or 'none'}")

    async def describe(self, team_name: str, member_id: str) -> tuple[str, ...]:
        """Describe the tools of a member, one line each. Raises AgentError if a server cannot be reached."""
        member = self._member(team_name, member_id)
        functions = {**self._overrides, **{name: self._load(team_name, path) for name, path in _paths(member).items()}}
        lines = [_describe(name, function) for name, function in functions.items()]
        for server in member.mcp:
            lines += await mcp.list_tools(server, self._environment(team_name))
        return tuple(lines)

    def _member(self, team_name: str, member_id: str) -> MemberSpec:
        team = self._teams.get(team_name)
        if team is None:
            raise AgentError("config", f"team {team_name!r} is not loaded here; start with its team file")
        return team.member(member_id)

    def _environment(self, team_name: str) -> RunEnvironment:
        return self._environments.get(team_name) or RunEnvironment()

    def _load(self, team_name: str, path: str) -> ToolFunction:
        key = team_name, path
        if key not in self._functions:
            self._functions[key] = load_function(path, self._environment(team_name).folder)
        return self._functions[key]


def _paths(member: MemberSpec) -> dict[str, str]:
    return {path.rpartition(":")[2]: path for path in member.tools}


def _describe(name: str, function: ToolFunction) -> str:
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"{name}{inspect.signature(function)}: {summary}"


def _at_servers(servers: Sequence[McpServer], environment: RunEnvironment, name: str) -> ToolFunction:
    async def call(**args: Any) -> Any:
        return await mcp.call_tool(servers, environment, name, args)

    return call
