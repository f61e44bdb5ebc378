"""Servers of the Model Context Protocol: programs of the team file, or addresses. The library is part of moot[llm]."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.agents.environment import pick_environment
from moot.config.agent_specs import McpServer
from moot.core.errors import AgentError

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.client import CallToolResult
    from fastmcp.client.transports import ClientTransport

START_S = 30.0
CALL_S = 300.0
ERROR_CHARS = 500
LINE_CHARS = 400


def make_transport(server: McpServer, folder: Path | None) -> "ClientTransport":
    """The way to a server; nothing is started yet. AgentError says what is missing."""
    try:
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    except ImportError:
        raise AgentError("config", "no library for MCP servers: install moot[llm]") from None
    if server.url:
        return StreamableHttpTransport(server.url, headers=_headers(server))
    program, *arguments = server.command or ()
    # it lives as long as who uses it; what it writes on stderr is no part of ours
    return StdioTransport(
        program,
        arguments,
        env=pick_environment(server.env),
        cwd=str(folder) if folder else None,
        keep_alive=False,
        log_file=Path(os.devnull),
    )


def _headers(server: McpServer) -> dict[str, str]:
    if server.key is None:
        return {}
    key = os.environ.get(server.key)
    if not key:
        raise AgentError("auth", f"MCP server {server.url} needs a key: set {server.key}")
    return {"Authorization": f"Bearer {key}"}


def explain(server: McpServer, error: Exception) -> AgentError:
    """Why there is nothing to talk to. Only an address that does not answer may do so later."""
    said = str(error)[:ERROR_CHARS]
    if server.url is None:
        return AgentError("config", f"MCP server {' '.join(server.command or ())} cannot be started: {said}")
    if isinstance(error, (OSError, RuntimeError)):  # the library's own kind of error is told below
        return AgentError("network", f"MCP server {server.url} cannot be reached ({said}); is it running?")
    wants = f", and key {server.key}" if server.key else "; does it want a key?"
    return AgentError("config", f"MCP server {server.url} does not let us in ({said}): check url{wants}")


@asynccontextmanager
async def connect(server: McpServer, folder: Path | None) -> "AsyncIterator[Client[Any]]":
    """A program is started for it and ended with it."""
    transport = make_transport(server, folder)
    from fastmcp import Client

    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(Client(transport, timeout=CALL_S, init_timeout=START_S))
        except Exception as error:  # whatever a program or a stranger's address provokes in the library
            raise explain(server, error) from error
        yield client


async def list_tools(server: McpServer, folder: Path | None) -> list[str]:
    """What it offers, one line each: `name(arguments): what it does`."""
    async with connect(server, folder) as client:
        found = await client.list_tools()
    return [_describe(tool.name, tool.input_schema or {}, tool.description or "") for tool in found]


def _describe(name: str, schema: dict[str, Any], description: str) -> str:
    return f"{name}({', '.join(schema.get('properties', {}))}): {' '.join(description.split())}"[:LINE_CHARS]


async def call_tool(servers: Sequence[McpServer], folder: Path | None, name: str, args: dict[str, Any]) -> Any:
    """What the tool of the first server that has it gave. AgentError when none has it, or it says what went wrong."""
    known: list[str] = []
    for server in servers:
        async with connect(server, folder) as client:
            known += [tool.name for tool in await client.list_tools()]
            if name in known:
                return _read(await client.call_tool(name, args, raise_on_error=False))
    raise AgentError("config", f"no MCP server has a tool {name!r}; there are {', '.join(known) or 'none'}")


def _read(found: "CallToolResult") -> Any:
    """Plain data where there is some, else text."""
    said = "\n".join(getattr(block, "text", f"({block.type})") for block in found.content)
    if found.is_error:
        raise AgentError("agent", said[:ERROR_CHARS])
    if found.structured_content is not None:
        return found.structured_content.get("result", found.structured_content)
    return said
