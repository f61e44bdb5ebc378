"""The tools of members: Python functions named in the team files on disk, never in anything that was logged."""

from collections.abc import Iterable, Mapping

from moot.agents.python import load_function
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.runtime.tools import ToolFunction


class Toolbox:
    """`overrides` are tools for every member, by name, whatever the team files say."""

    def __init__(self, teams: Iterable[TeamFile], overrides: Mapping[str, ToolFunction]) -> None:
        self._teams = {team.name: team for team in teams}
        self._overrides = overrides
        self._functions: dict[str, ToolFunction] = {}

    def find(self, team_name: str, member_id: str, name: str) -> ToolFunction:
        """A tool goes by the name of its function. AgentError says which ones the member has."""
        if name in self._overrides:
            return self._overrides[name]
        team = self._teams.get(team_name)
        if team is None:
            raise AgentError("config", f"team {team_name!r} is not loaded here; start with its team file")
        paths = {path.rpartition(":")[2]: path for path in team.member(member_id).tools}
        if name not in paths:
            raise AgentError("config", f"{member_id!r} has no tool {name!r}; it has {', '.join(paths) or 'none'}")
        path = paths[name]
        if path not in self._functions:
            self._functions[path] = load_function(path)
        return self._functions[path]
