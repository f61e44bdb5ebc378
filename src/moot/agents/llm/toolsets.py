"""Tools as the library knows them. Imported when a model is first used."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed, UserError
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset

from moot.agents.llm import mcp
from moot.agents.llm.tools import ERROR_CHARS, RESULT_CHARS
from moot.config.agent_specs import McpServer
from moot.core import text
from moot.core.errors import AgentError
from moot.runtime import telemetry

_MEANT = (ModelRetry, ToolFailed, CallDeferred, ApprovalRequired)


def function_toolset(functions: Sequence[Callable[..., Any]]) -> AbstractToolset[Any]:
    try:
        return FunctionToolset(list(functions), max_retries=2)
    except UserError as error:  # a signature that no schema can be made of, one name twice
        raise AgentError("config", f"a tool cannot be used: {error}") from None


class Guarded(WrapperToolset[Any]):
    """A tool that fails is something the model is told, not the end of its turn."""

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        try:
            with telemetry.tool_call(name, ctx.tool_call_id or ""):
                found = await super().call_tool(name, tool_args, ctx, tool)
        except _MEANT:
            raise
        except Exception as error:  # a tool is foreign code
            raise ToolFailed(f"{type(error).__name__}: {error}"[:ERROR_CHARS]) from error
        return text.cut(found, RESULT_CHARS) if isinstance(found, str) else found


@dataclass
class Served(Guarded):
    """The tools of an MCP server. AgentError says which one is not there, before the model is asked anything."""

    server: McpServer

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except Exception as error:  # whatever a program or a stranger's address provokes in the library
            raise mcp.explain(self.server, error) from error
