"""Who plays which AI member: made from the team files on disk, never from anything that was logged or received."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from moot.agents import python
from moot.agents.acp.member import AcpMember
from moot.agents.cli.member import CliMember
from moot.agents.equipped import Equipped
from moot.agents.llm.member import LlmMember
from moot.agents.script import ScriptedMember
from moot.agents.surroundings import Surroundings
from moot.agents.toolbox import Toolbox
from moot.config.agent_specs import AcpAgent, CliAgent, LlmAgent, PythonAgent, ScriptAgent
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.core.team import Flow
from moot.runtime.ports import Agent, Clock


class Roster:
    """`folders`: where each team's file lies; `surroundings`: what is kept of the programs that play its members.

    `toolbox` has what members of the supervisor flow may call between their turns.
    """

    def __init__(
        self,
        teams: Iterable[TeamFile],
        overrides: Mapping[str, Agent],
        clock: Clock,
        surroundings: Surroundings | None = None,
        folders: Mapping[str, Path] | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        self._teams = {team.name: team for team in teams}
        self._overrides = overrides
        self._clock = clock
        self._surroundings = surroundings or Surroundings()
        self._folders = folders or {}
        self._toolbox = toolbox or Toolbox(self._teams.values(), {})
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
        instructions = entry.instructions if entry else ""
        prompts = team.prompts.given()
        around = replace(self._surroundings, folder=self._folders.get(team_name))
        match entry.agent if entry else None:
            case ScriptAgent() as script:
                return ScriptedMember(script, self._clock)
            case PythonAgent(call=call):
                return python.load(call)
            case LlmAgent() as model:
                made: Agent = LlmMember(model, self._clock, instructions, prompts, around.folder)
            case CliAgent() as cli:
                made = CliMember(cli, instructions, around, prompts=prompts)
            case AcpAgent() as spec:
                made = AcpMember(spec, instructions, around, prompts=prompts)
            case None:
                raise AgentError("config", f"team {team_name!r} has no agent for member {member_id!r}")
            case other:
                assert_never(other)
        describe = partial(self._toolbox.describe, team_name, member_id)
        return Equipped(made, describe) if team.flow is Flow.SUPERVISOR else made
