"""Everything that a team file would run on this machine, as it would be run: what trust is asked for."""

from collections.abc import Iterable, Iterator

from moot.agents.cli.member import list_command
from moot.agents.llm.models import ModelAddress, is_local
from moot.config.agent_specs import AcpAgent, CliAgent, LlmAgent, McpServer, PythonAgent
from moot.config.team_file import MemberSpec, TeamFile
from moot.config.trust import Start


def list_starts(team: TeamFile) -> list[Start]:
    """Scripted members and plain models start nothing. A key that goes to an address of the file's is asked about."""
    asked = team.understander()
    understander = _addresses("understanding", ModelAddress(name=asked.model or "", base_url=asked.base_url))
    return [*understander, *(start for member in team.members for start in _starts_of(member))]


def _addresses(who: str, address: ModelAddress) -> Iterator[Start]:
    if address.base_url:
        yield from _address(who, address.base_url, address.key_name)


def _address(who: str, url: str, *keys: str) -> Iterator[Start]:
    """A team file could send a person's key anywhere. What stays on this machine is nobody else's business."""
    if not is_local(url):
        yield Start(member=who, argv=("ask", url), names=keys)


def _starts_of(member: MemberSpec) -> Iterator[Start]:
    yield from _tools(member.id, member.tools, member.mcp)
    match member.agent:
        case CliAgent(cwd=cwd, env=env) as cli:
            yield Start(member=member.id, argv=list_command(cli), folder=cwd or "", names=env)
        case AcpAgent(command=command, cwd=cwd, env=env):
            yield Start(member=member.id, argv=command, folder=cwd or "", names=env)
        case PythonAgent(call=call):
            yield Start(member=member.id, argv=("python", call))
        case LlmAgent(tools=tools, mcp=mcp) as model:
            yield from _addresses(member.id, ModelAddress(name=model.model, base_url=model.base_url, key=model.key))
            yield from _tools(member.id, tools, mcp)


def _tools(who: str, functions: Iterable[str], servers: Iterable[McpServer]) -> Iterator[Start]:
    for function in functions:
        yield Start(member=who, argv=("python", function))
    for server in servers:
        if server.command:
            yield Start(member=who, argv=server.command, names=server.env)
        elif server.url:
            yield from _address(who, server.url, *([server.key] if server.key else []))
