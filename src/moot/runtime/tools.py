"""Running the tools that agents of the supervisor flow call between their turns."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from moot.core.commands import CompleteTool
from moot.core.errors import AgentError
from moot.runtime.ports import Report, ToolJob

logger = logging.getLogger(__name__)

ToolFunction = Callable[..., Any | Awaitable[Any]]
FindTool = Callable[[str, str, str], ToolFunction]  # team name, member id, tool name; raises AgentError


def find_no_tool(team: str, member: str, name: str) -> ToolFunction:
    raise AgentError("config", f"member {member!r} of team {team!r} has no tool {name!r} here")


async def run_tool(find_tool: FindTool, job: ToolJob, report: Report) -> None:
    """Call it and report its one end. A tool is foreign code: whatever it raises is told to the agent."""
    call = job.call
    try:
        function = find_tool(job.team, job.member, call.name)
        if inspect.iscoroutinefunction(function):
            result = await function(**call.args)
        else:
            result = await asyncio.to_thread(function, **call.args)
        end = CompleteTool(call_id=call.call_id, result=result)
    except AgentError as error:
        end = CompleteTool(call_id=call.call_id, error=str(error))
    except Exception as error:
        logger.warning("tool %s of %s failed", call.name, job.member, exc_info=True)
        end = CompleteTool(call_id=call.call_id, error=f"{type(error).__name__}: {error}")
    await report(end)
