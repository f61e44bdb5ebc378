"""Everything that a team file would run on this machine, as it would be run: what trust is asked for."""

from collections.abc import Iterator

from moot.agents.cli.member import list_command
from moot.config.agent_specs import AcpAgent, CliAgent, LlmAgent, PythonAgent
from moot.config.team_file import MemberSpec, TeamFile
from moot.config.trust import Start


def list_starts(team: TeamFile) -> list[Start]:
    """Scripted members and plain models start nothing."""
    return [start for member in team.members for start in _starts_of(member)]


def _starts_of(member: MemberSpec) -> Iterator[Start]:
    for function in member.tools:
        yield Start(member=member.id, argv=("python", function))
    match member.agent:
        case CliAgent(cwd=cwd, env=env) as cli:
            yield Start(member=member.id, argv=list_command(cli), folder=cwd or "", names=env)
        case AcpAgent(command=command, cwd=cwd, env=env):
            yield Start(member=member.id, argv=command, folder=cwd or "", names=env)
        case PythonAgent(call=call):
            yield Start(member=member.id, argv=("python", call))
        case LlmAgent(tools=tools, mcp=mcp):
            for function in tools:
                yield Start(member=member.id, argv=("python", function))
            for server in mcp:
                if server.command:
                    yield Start(member=member.id, argv=server.command, names=server.env)
