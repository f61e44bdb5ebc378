"""Toolsets of the library. Imports pydantic_ai; to be imported when a model is first used."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed, UserError
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset

from moot.agents.llm import mcp
from moot.agents.llm.model_tools import ERROR_CHARS, RESULT_CHARS
from moot.agents.member_tools import NAMES, MemberTools, ToolProblem, describe, find_schema
from moot.agents.permits import NO, PermissionRequest, Permit
from moot.agents.tool_steps import find_tool
from moot.config.agent_specs import McpServer
from moot.core import text
from moot.core.errors import AgentError
from moot.core.session.team import Language
from moot.runtime import telemetry


@dataclass
class Turn:
    """What the tools of one turn know of it: what people write to the member meanwhile, and who permits what."""

    incoming: list[str]
    permit: Permit


_CONTROL_FLOW = (ModelRetry, ToolFailed, CallDeferred, ApprovalRequired)


def function_toolset(functions: Sequence[Callable[..., Any]]) -> AbstractToolset[Any]:
    try:
        return FunctionToolset(list(functions), max_retries=2)
    except UserError as error:  # a signature without a schema, or a name used twice
        raise AgentError("config", f"a tool cannot be used: {error}") from None


def member_toolset(tools: MemberTools, language: Language) -> AbstractToolset[Any]:
    """Moot's own tools, bound to one turn. What a call does wrong is told to the model."""

    def make(name: str) -> Tool[Any]:
        async def call(**arguments: Any) -> str:
            try:
                return await tools.call(name, arguments)
            except ToolProblem as problem:
                raise ToolFailed(str(problem)) from None

        return Tool.from_schema(call, name, describe(name, language), find_schema(name))

    return Guarded(FunctionToolset([make(name) for name in NAMES], max_retries=2))


def take_incoming(incoming: list[str]) -> str:
    """Return what people wrote to the member since the last request, as one text, and empty the list."""
    said = "\n\n".join(incoming)
    incoming.clear()
    return said


class Guarded(WrapperToolset[Any]):
    """Reports the failure of a tool to the model instead of failing the turn, and what people wrote meanwhile.

    The dependencies of a run are a `Turn`.
    """

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        try:
            with telemetry.tool_call(name, ctx.tool_call_id or ""):
                result = await super().call_tool(name, tool_args, ctx, tool)
        except _CONTROL_FLOW:
            raise
        except Exception as error:  # a tool is foreign code
            raise ToolFailed(f"{type(error).__name__}: {error}"[:ERROR_CHARS]) from error
        finally:
            if ctx.deps and ctx.deps.incoming:
                ctx.enqueue(take_incoming(ctx.deps.incoming))
        return text.cut(result, RESULT_CHARS) if isinstance(result, str) else result


@dataclass
class Served(Guarded):
    """The tools of an MCP server, each use of which needs a permission.

    Raises AgentError on entering, before the model is asked, if the server cannot be used.
    """

    server: McpServer
    server_name: str

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except Exception as error:  # a program or a foreign URL may provoke anything in the library
            raise mcp.explain(self.server, error) from error

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        if not await ctx.deps.permit(self._describe(name, tool_args, ctx.tool_call_id or "")):
            raise ToolFailed(NO)
        return await super().call_tool(name, tool_args, ctx, tool)

    def _describe(self, name: str, arguments: dict[str, Any], call_id: str) -> PermissionRequest:
        named = f"mcp__{self.server_name}__{name}"
        return PermissionRequest(
            tool=find_tool(call_id, name, arguments, kind="other").tool,
            name=named,
            key=f"{named}: {json.dumps(arguments, sort_keys=True, default=str)}",
            arguments=arguments,
        )
