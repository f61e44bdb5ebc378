"""Who plays which AI member: made from the team files on disk, never from anything that was logged or received."""

from collections.abc import Iterable, Mapping

from moot.agents import python
from moot.agents.script import ScriptedMember
from moot.config.agent_specs import PythonAgent, ScriptAgent
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.runtime.ports import Agent, Clock


class Roster:
    def __init__(self, teams: Iterable[TeamFile], overrides: Mapping[str, Agent], clock: Clock) -> None:
        self._teams = {team.name: team for team in teams}
        self._overrides = overrides
        self._clock = clock
        self._agents: dict[tuple[str, str], Agent] = {}

    def find(self, team_name: str, member_id: str) -> Agent:
        """The agent that plays a member. AgentError when the team is not on offer here or cannot be played."""
        if member_id in self._overrides:
            return self._overrides[member_id]
        key = team_name, member_id
        if key not in self._agents:
            self._agents[key] = self._make(team_name, member_id)
        return self._agents[key]

    def _make(self, team_name: str, member_id: str) -> Agent:
        team = self._teams.get(team_name)
        if team is None:
            raise AgentError("config", f"team {team_name!r} is not loaded here; start with its team file")
        entry = next((member for member in team.members if member.id == member_id), None)
        match entry.agent if entry else None:
            case ScriptAgent() as script:
                return ScriptedMember(script, self._clock)
            case PythonAgent(call=call):
                return python.load(call)
            case None:
                raise AgentError("config", f"team {team_name!r} has no agent for member {member_id!r}")
            case other:
                kind = type(other).__struct_config__.tag
                raise AgentError("config", f"this version cannot play agents of type {kind}; use script or python")
