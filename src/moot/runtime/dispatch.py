"""The embedded implementation of Dispatch: workers are tasks of this process."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from moot.core.commands import CompleteTurn, FailTurn, ReportStep, WorkerCommand
from moot.core.errors import AgentError
from moot.core.turns import TurnInput
from moot.runtime.ports import Agent, Delta, Handle, Report, Result, Show, Step

logger = logging.getLogger(__name__)

FindAgent = Callable[[str, str], Agent]  # team name, member id → agent; raises AgentError


class EmbeddedDispatch:
    def __init__(self, tasks: asyncio.TaskGroup, find_agent: FindAgent) -> None:
        self._tasks = tasks
        self._find_agent = find_agent

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Handle:
        return _Worker(turn, team, report, show, self._find_agent, self._tasks)


class _Worker:
    """Plays one turn and reports its one end."""

    def __init__(
        self, turn: TurnInput, team: str, report: Report, show: Show, find_agent: FindAgent, tasks: asyncio.TaskGroup
    ) -> None:
        self._turn = turn
        self._team = team
        self._report = report
        self._show = show
        self._find_agent = find_agent
        self._is_over = False
        self._task = tasks.create_task(self._run())

    def cancel(self) -> None:
        if not self._is_over:
            self._task.cancel()

    async def _run(self) -> None:
        end = await self._play()
        if self._task.cancelling():
            return  # stopped: what an agent says while it is being stopped is no result
        self._is_over = True  # from here on the report decides: it is logged, or it comes too late
        await self._report(end)

    async def _play(self) -> WorkerCommand:
        turn_id = self._turn.turn_id
        try:
            agent = self._find_agent(self._team, self._turn.member.id)
            async with aclosing(agent.act(self._turn)) as outputs:
                async for output in outputs:
                    if isinstance(output, Result):
                        return CompleteTurn(turn_id=turn_id, text=output.text, usage=output.usage)
                    await self._pass_on(output)
        except AgentError as error:
            return FailTurn(turn_id=turn_id, error_type=error.error_type, message=str(error))
        # an agent is foreign code: whatever it raises is a failed turn, never a dead session
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if self._task.cancelling():
                raise asyncio.CancelledError from error
            logger.warning("agent %s failed", self._turn.member.id, exc_info=True)
            return FailTurn(turn_id=turn_id, error_type="agent", message=f"{type(error).__name__}: {error}")
        return CompleteTurn(turn_id=turn_id, text="")

    async def _pass_on(self, output: Delta | Step) -> None:
        turn_id = self._turn.turn_id
        match output:
            case Delta(text=text):
                self._show(turn_id, text)
            case Step(thought=thought, action=action, observation=observation):
                await self._report(ReportStep(turn_id=turn_id, thought=thought, action=action, observation=observation))
