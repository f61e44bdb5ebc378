"""What a model may use: Python functions and MCP servers, as the team file on disk names them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.agents.llm.mcp import START_S, make_transport
from moot.agents.python import load_function
from moot.config.agent_specs import LlmAgent

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

ERROR_CHARS = 500
RESULT_CHARS = 200_000  # of one call; what is longer is cut and marked


def open_tools(spec: LlmAgent, folder: Path | None) -> "Sequence[AbstractToolset[Any]]":
    """AgentError of type config says which tool is not there. Nothing is started yet."""
    from moot.agents.llm.toolsets import Guarded, Served, function_toolset

    found: list[AbstractToolset[Any]] = []
    if spec.tools:
        found.append(Guarded(function_toolset([load_function(path) for path in spec.tools])))
    for server in spec.mcp:
        transport = make_transport(server, folder)
        from pydantic_ai.mcp import MCPToolset

        toolset: MCPToolset[Any] = MCPToolset(transport, init_timeout=START_S, tool_error_behavior="failed")
        found.append(Served(toolset, server))
    return found
