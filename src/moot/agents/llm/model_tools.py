"""Opens the tools of a model: the Python functions and MCP servers that the team file names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from moot.agents.llm.mcp import START_S, make_transport
from moot.agents.python import load_function
from moot.agents.run_environment import RunEnvironment
from moot.agents.starts import name_servers
from moot.config.agent_specs import McpServer

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

ERROR_CHARS = 500
RESULT_CHARS = 200_000  # of one call; the rest is cut


def open_tools(
    functions: Sequence[str], servers: Sequence[McpServer], run_environment: RunEnvironment
) -> "Sequence[AbstractToolset[Any]]":
    """Return the toolsets of a member; nothing is started yet. Raises AgentError (config) if a tool is missing."""
    from moot.agents.llm.toolsets import Guarded, Served, function_toolset

    toolsets: list[AbstractToolset[Any]] = []
    if functions:
        toolsets.append(Guarded(function_toolset([load_function(path, run_environment.folder) for path in functions])))
    for name, server in name_servers(servers).items():
        transport = make_transport(server, run_environment)
        from pydantic_ai.mcp import MCPToolset

        toolset: MCPToolset[Any] = MCPToolset(transport, init_timeout=START_S, tool_error_behavior="failed")
        toolsets.append(Served(toolset, server, name))
    return toolsets
