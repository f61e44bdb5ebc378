"""Connects to MCP servers: programs that the team file names, or URLs. The library is part of moot[llm]."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.agents.environment import pick_environment
from moot.agents.process_book import make_mark
from moot.agents.run_environment import RunEnvironment
from moot.config.agent_specs import McpServer
from moot.core.errors import AgentError
from moot.runtime.process_table import MARK_NAME

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.client import CallToolResult
    from fastmcp.client.transports import ClientTransport

START_S = 30.0
CALL_S = 300.0
ERROR_CHARS = 500
LINE_CHARS = 400


def make_transport(server: McpServer, run_environment: RunEnvironment) -> "ClientTransport":
    """Make the transport for a server; nothing is started yet. Raises AgentError if library or key is missing."""
    try:
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    except ImportError:
        raise AgentError("config", "no library for MCP servers: install moot[llm]") from None
    if server.url:
        return StreamableHttpTransport(server.url, headers=_headers(server))
    folder = run_environment.folder
    environment = pick_environment(server.env)
    program, *arguments = run_environment.sandbox.wrap(server.command or (), folder)
    # It ends with the connection; its stderr must not mix with ours.
    return StdioTransport(
        program,
        arguments,
        env={**environment, MARK_NAME: make_mark()},
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
    """Describe why a server cannot be used. Only `network` is retryable: a URL that does not answer may later."""
    detail = str(error)[:ERROR_CHARS]
    if server.url is None:
        return AgentError("config", f"MCP server {' '.join(server.command or ())} cannot be started: {detail}")
    if isinstance(error, (OSError, RuntimeError)):  # the library's own errors are handled below
        return AgentError("network", f"MCP server {server.url} cannot be reached ({detail}); is it running?")
    wants = f", and key {server.key}" if server.key else "; does it want a key?"
    return AgentError("config", f"MCP server {server.url} does not let us in ({detail}): check url{wants}")


def _make_client(server: McpServer, run_environment: RunEnvironment) -> "Client[Any]":
    transport = make_transport(server, run_environment)  # first: it raises AgentError when the library is not installed
    from fastmcp import Client

    return Client(transport, timeout=CALL_S, init_timeout=START_S)


@asynccontextmanager
async def connect(server: McpServer, run_environment: RunEnvironment) -> "AsyncIterator[Client[Any]]":
    """Connect to a server for the length of the block; a program runs that long. Raises AgentError."""
    client = await asyncio.to_thread(_make_client, server, run_environment)  # the library takes half a second to load
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(client)
        except Exception as error:  # a program or a foreign URL may provoke anything in the library
            raise explain(server, error) from error
        yield client


async def list_tools(server: McpServer, run_environment: RunEnvironment) -> list[str]:
    """Describe its tools, one line each: `name(arguments): description`."""
    async with connect(server, run_environment) as client:
        tools = await client.list_tools()
    return [_describe(tool.name, tool.input_schema or {}, tool.description or "") for tool in tools]


def _describe(name: str, schema: dict[str, Any], description: str) -> str:
    return f"{name}({', '.join(schema.get('properties', {}))}): {' '.join(description.split())}"[:LINE_CHARS]


async def call_tool(
    servers: Sequence[McpServer], run_environment: RunEnvironment, name: str, args: dict[str, Any]
) -> Any:
    """Call a tool of the first server that has it. Raises AgentError if none has it or the tool fails."""
    known: list[str] = []
    for server in servers:
        async with connect(server, run_environment) as client:
            known += [tool.name for tool in await client.list_tools()]
            if name in known:
                return _read(await client.call_tool(name, args, raise_on_error=False))
    raise AgentError("config", f"no MCP server has a tool {name!r}; there are {', '.join(known) or 'none'}")


def _read(result: "CallToolResult") -> Any:
    """Return the structured content if there is some, else the text."""
    text = "\n".join(getattr(block, "text", f"({block.type})") for block in result.content)
    if result.is_error:
        raise AgentError("agent", text[:ERROR_CHARS])
    if result.structured_content is not None:
        return result.structured_content.get("result", result.structured_content)
    return text
