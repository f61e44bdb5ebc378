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
    from moot.agents.llm.toolsets import Guarded, function_toolset

    found: list[AbstractToolset[Any]] = []
    if spec.tools:
        found.append(function_toolset([load_function(path) for path in spec.tools]))
    found += [_open_server(server, folder) for server in spec.mcp]
    return [Guarded(each) for each in found]


def _open_server(server: McpServer, folder: Path | None) -> "AbstractToolset[Any]":
    try:
        from fastmcp.client.transports import StdioTransport
        from pydantic_ai.mcp import MCPToolset
    except ImportError:
        raise AgentError("config", "no library for MCP servers: install moot[llm]") from None
    if server.url:
        return MCPToolset(server.url, init_timeout=MCP_START_S, tool_error_behavior="failed")
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
