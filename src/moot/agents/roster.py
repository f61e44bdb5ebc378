"""Makes the agents of AI members from the team files on disk, never from anything that was logged or received."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from moot.agents.agent_type import AgentType, Seat
from moot.agents.run_environment import RunEnvironment
from moot.agents.toolbox import Toolbox
from moot.agents.with_tools import WithTools
from moot.config.agent_specs import AgentSpec
from moot.config.team_file import TeamFile
from moot.core.errors import AgentError
from moot.core.flows.registry import FLOWS
from moot.runtime.ports import Agent, Clock
from moot.runtime.telemetry import Player


class Roster:
    """Finds the agent of a member.

    Args:
        overrides: agents by member id; they win over the team files.
        environments: where and how the programs of each team run, by team name.
        toolbox: what members may call between their turns, in flows that have such tools.
    """

    def __init__(
        self,
        teams: Iterable[TeamFile],
        overrides: Mapping[str, Agent],
        clock: Clock,
        environments: Mapping[str, RunEnvironment] | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        self._teams = {team.name: team for team in teams}
        self._overrides = overrides
        self._clock = clock
        self._environments = dict(environments or {})
        self._toolbox = toolbox or Toolbox(self._teams.values(), {})
        self._agents: dict[tuple[str, str], Agent] = {}

    def load(self, team: TeamFile, environment: RunEnvironment) -> None:
        """Add a team, or reload its file: its agents are made again for their next turns."""
        self._teams[team.name] = team
        self._environments[team.name] = environment
        self._agents = {key: agent for key, agent in self._agents.items() if key[0] != team.name}
        self._toolbox.load(team, environment)

    def find(self, team_name: str, member_id: str) -> Agent:
        """Return the agent of a member. Raises AgentError if the team is not loaded or the agent cannot be made."""
        if member_id in self._overrides:
            return self._overrides[member_id]
        key = team_name, member_id
        if key not in self._agents:
            self._agents[key] = self._make(team_name, member_id)
        return self._agents[key]

    def describe(self, team_name: str, member_id: str) -> Player:
        """What plays a member, for telemetry."""
        team = self._teams.get(team_name)
        agents = (member.agent for member in (team.members if team else ()) if member.id == member_id)
        agent = next(agents, None)
        if agent is None or member_id in self._overrides:
            return Player()
        provider, model = agent.name_model()
        return Player(provider=provider, model=model, traces_tools=agent.traces_tools)

    def find_pool(self, played_here: Collection[str], team_name: str, member_id: str) -> str | None:
        """The pool of workers that plays a member; None if it is one of those that are played here, or has none."""
        if member_id in self._overrides:
            return None
        team = self._teams.get(team_name)
        members = team.members if team else ()
        pool = next((member.runs_on for member in members if member.id == member_id), "")
        return pool if pool and pool not in played_here else None

    def find_understander(self, team_name: str) -> Agent:
        """The agent that understands inputs of a team: a member's, or the team file's own. Raises AgentError."""
        team = self._teams[team_name]
        chosen = team.understander()
        if chosen.member is not None:
            return self.find(team_name, chosen.member)
        key = team_name, ""
        if key not in self._agents and chosen.agent is not None:
            self._agents[key] = self._seat(team, _as_agent_type(chosen.agent), "")
        return self._agents[key]

    def _seat(self, team: TeamFile, kind: AgentType, instructions: str) -> Agent:
        return kind.make(
            Seat(
                clock=self._clock,
                instructions=instructions,
                prompts=team.prompts.by_phase(),
                run_environment=self._environments.get(team.name) or RunEnvironment(),
            )
        )

    def _make(self, team_name: str, member_id: str) -> Agent:
        team = self._teams.get(team_name)
        if team is None:
            raise AgentError("config", f"team {team_name!r} is not loaded here; start with its team file")
        entry = next((member for member in team.members if member.id == member_id), None)
        if entry is None or entry.agent is None:
            raise AgentError("config", f"team {team_name!r} has no agent for member {member_id!r}")
        kind = _as_agent_type(entry.agent)
        agent = self._seat(team, kind, entry.instructions)
        if not FLOWS[team.flow].tells_tools or not kind.is_told_tools:
            return agent
        return WithTools(agent, partial(self._toolbox.describe, team_name, member_id))


def _as_agent_type(spec: AgentSpec) -> AgentType:
    if not isinstance(spec, AgentType):
        raise AgentError("config", f"{type(spec).__name__} cannot play a member: it is no AgentType")
    return spec
