"""What a model may use: Python functions and MCP servers, as the team file on disk names them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.agents.environment import pick_environment
from moot.agents.python import load_function
from moot.config.agent_specs import LlmAgent, McpServer
from moot.core.errors import AgentError

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

ERROR_CHARS = 500
RESULT_CHARS = 200_000  # of one call; what is longer is cut and marked
MCP_START_S = 30.0


def open_tools(spec: LlmAgent, folder: Path | None) -> "Sequence[AbstractToolset[Any]]":
    """AgentError of type config says which tool is not there. Nothing is started yet."""
    from moot.agents.llm.toolsets import Guarded, Served, function_toolset

    found: list[AbstractToolset[Any]] = []
    if spec.tools:
        found.append(Guarded(function_toolset([load_function(path) for path in spec.tools])))
    found += [Served(_open_server(server, folder), server) for server in spec.mcp]
    return found


def _open_server(server: McpServer, folder: Path | None) -> "AbstractToolset[Any]":
    try:
        from fastmcp.client.transports import StdioTransport
        from pydantic_ai.mcp import MCPToolset
    except ImportError:
        raise AgentError("config", "no library for MCP servers: install moot[llm]") from None
    if server.url:
        return MCPToolset(server.url, headers=_headers(server), init_timeout=MCP_START_S, tool_error_behavior="failed")
    program, *arguments = server.command or ()
    # it lives as long as the turn that uses it; what it writes on stderr is no part of ours
    transport = StdioTransport(
        program,
        arguments,
        env=pick_environment(server.env),
        cwd=str(folder) if folder else None,
        keep_alive=False,
        log_file=Path(os.devnull),
    )
    return MCPToolset(transport, init_timeout=MCP_START_S, tool_error_behavior="failed")


def _headers(server: McpServer) -> dict[str, str]:
    if server.key is None:
        return {}
    key = os.environ.get(server.key)
    if not key:
        raise AgentError("auth", f"MCP server {server.url} needs a key: set {server.key}")
    return {"Authorization": f"Bearer {key}"}


def explain_server(server: McpServer, error: Exception) -> AgentError:
    """Why there is nothing to talk to. Only an address that does not answer may do so later."""
    said = str(error)[:ERROR_CHARS]
    if server.url is None:
        return AgentError("config", f"MCP server {' '.join(server.command or ())} cannot be started: {said}")
    if isinstance(error, (OSError, RuntimeError)):  # the library's own kind of error is told below
        return AgentError("network", f"MCP server {server.url} cannot be reached ({said}); is it running?")
    wants = f", and key {server.key}" if server.key else "; does it want a key?"
    return AgentError("config", f"MCP server {server.url} does not let us in ({said}): check url{wants}")
