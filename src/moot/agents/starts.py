"""Lists everything that a team file would run on this machine, for the question of trust.

Each agent type lists its own (`AgentSpec.starts`).
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from moot.agents.llm.models import ModelAddress, is_local
from moot.config.agent_specs import McpServer
from moot.config.team_file import MemberSpec, TeamFile
from moot.config.trust import Start


def list_starts(team: TeamFile) -> list[Start]:
    """Every program, Python function and foreign address of a team, those of its understander first."""
    understanding = team.understander()
    address = ModelAddress(name=understanding.model or "", base_url=understanding.base_url)
    starts = [start for member in team.members for start in _list_member_starts(member)]
    if understanding.agent is not None:
        starts = [*understanding.agent.starts("understanding"), *starts]
    for argv in (*team.workspace.setup, *team.workspace.check) if team.workspace else ():
        starts.append(Start(member="workspace", argv=argv))
    if team.sandbox == "off":
        starts = [replace(start, is_unconfined=start.kind == "program") for start in starts]
    return [*list_addresses("understanding", address), *starts]


def starts_programs(team: TeamFile) -> bool:
    return any(start.kind == "program" for start in list_starts(team))


def _list_member_starts(member: MemberSpec) -> Iterator[Start]:
    yield from list_tools(member.id, member.tools, member.mcp)
    if member.agent is not None:
        yield from member.agent.starts(member.id)


def list_addresses(member: str, address: ModelAddress) -> Iterator[Start]:
    """The address of a model, if the team file names one."""
    if address.base_url:
        yield from _ask_about(member, address.base_url, address.key_name)


def list_tools(member: str, functions: Iterable[str], servers: Iterable[McpServer]) -> Iterator[Start]:
    """The Python functions and MCP servers that a member may use."""
    for function in functions:
        yield Start(member=member, argv=("python", function), kind="code")
    for server in servers:
        if server.command:
            yield Start(member=member, argv=server.command, names=server.env)
        elif server.url:
            yield from _ask_about(member, server.url, server.key or "")


def name_servers(servers: Iterable[McpServer]) -> dict[str, McpServer]:
    """Give each MCP server a name that an agent can show: that of its program or host, each once."""
    named: dict[str, McpServer] = {}
    for server in servers:
        plain = Path(server.command[0]).stem if server.command else urlsplit(server.url or "").hostname or "server"
        name = re.sub(r"[^A-Za-z0-9_-]", "_", plain)
        count = sum(other == name or other.startswith(f"{name}_") for other in named)
        named[f"{name}_{count + 1}" if count else name] = server
    return named


def _ask_about(member: str, url: str, key: str) -> Iterator[Start]:
    """An address needs trust if it is not on this machine, or if it is sent a key.

    A local port may belong to another user or lead elsewhere through a tunnel, and `key` can name any variable.
    """
    if key or not is_local(url):
        yield Start(member=member, argv=("ask", url), names=(key,) if key else (), kind="address")
