"""The Dispatch port within this process: workers and tools run as asyncio tasks."""

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Sequence

from moot.core import limits
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session import permissions
from moot.core.session.commands import (
    AckDispatch,
    AskHuman,
    CompleteTool,
    CompleteTurn,
    FailTurn,
    NackDispatch,
    ReportStep,
    StartTask,
    WorkerCommand,
)
from moot.core.session.events import Option
from moot.runtime.ports import (
    Agent,
    Ask,
    Delta,
    Handle,
    Output,
    Report,
    Result,
    Show,
    Step,
    Thinking,
    ToolFunction,
    ToolJob,
    Worker,
)

logger = logging.getLogger(__name__)

ActAsking = Callable[[TurnInput, Ask], AsyncGenerator[Output, None]]
FindAgent = Callable[[str, str], Agent]  # team name, member id → agent; raises AgentError
FindTool = Callable[[str, str, str], ToolFunction]  # team name, member id, tool name → tool; raises AgentError


def find_no_tool(team: str, member: str, name: str) -> ToolFunction:
    raise AgentError("config", f"member {member!r} of team {team!r} has no tool {name!r} here")


class Room(asyncio.Semaphore):
    """Limits how many tasks run at once in all sessions; `waiting` counts those that wait in line."""

    waiting = 0


class EmbeddedDispatch:
    """Implements the Dispatch port.

    Args:
        tasks: the group that workers run in.
        find_agent: finds the agent of a member. Raises AgentError.
        max_tasks: how many tasks of plans run at once in all sessions.
        find_tool: finds a tool of a member by name. Raises AgentError.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        find_agent: FindAgent,
        max_tasks: int = limits.TASKS_AT_ONCE,
        find_tool: FindTool = find_no_tool,
    ) -> None:
        self._tasks = tasks
        self._find_tool = find_tool
        self._find_agent = find_agent
        self._room = Room(max_tasks)

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        return _Worker(turn, team, report, show, self._find_agent, self._tasks, None)

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        return _Worker(turn, team, report, show, self._find_agent, self._tasks, self._room)

    def call(self, job: ToolJob, report: Report) -> Handle:
        return self._tasks.create_task(_run_tool(self._find_tool, job, report))


class _Worker:
    """Plays one turn and reports its end once.

    With `room` the turn is a task of a plan: the worker accepts or refuses it first and waits for room to start.
    """

    __slots__ = (
        "_answers",
        "_find_agent",
        "_is_over",
        "_report",
        "_room",
        "_show",
        "_task",
        "_team",
        "_turn",
        "is_in_line",
    )

    def __init__(
        self,
        turn: TurnInput,
        team: str,
        report: Report,
        show: Show,
        find_agent: FindAgent,
        tasks: asyncio.TaskGroup,
        room: Room | None,
    ) -> None:
        self._turn = turn
        self._team = team
        self._report = report
        self._show = show
        self._find_agent = find_agent
        self._room = room
        self._is_over = False
        self._answers: dict[str, asyncio.Future[str | None]] = {}  # by the question's step id
        self.is_in_line = False
        self._task = tasks.create_task(self._run())

    @property
    def is_alive(self) -> bool:
        return not self._task.done()

    def cancel(self) -> None:
        if not self._is_over:
            self._task.cancel()

    def answer(self, step_id: str, choice: str | None) -> None:
        answer = self._answer_to(step_id)
        if not answer.done():
            answer.set_result(choice)

    def _answer_to(self, step_id: str) -> "asyncio.Future[str | None]":
        return self._answers.setdefault(step_id, asyncio.get_running_loop().create_future())

    async def _ask(
        self, question: str, options: Sequence[Option] = (), *, key: str = "", default: str | None = None
    ) -> str | None:
        turn_id, key = self._turn.turn_id, key or question
        answer = self._answer_to(permissions.name_step(turn_id, key))
        await self._report(
            AskHuman(
                turn_id=turn_id,
                key=key,
                question=question,
                options=tuple(options),
                default=default,
                asked=tuple(self._answers),
            )
        )
        return await asyncio.shield(answer)  # shared by all who ask the same question

    async def _run(self) -> None:
        end: WorkerCommand
        if self._room is None:
            end = await self._play()
        elif (reason := self._find_refusal()) is not None:
            end = NackDispatch(dispatch_id=self._turn.turn_id, reason=reason)
        else:
            end = await self._play_in(self._room)
        if self._task.cancelling():
            return  # cancelled: ignore what the agent returned meanwhile
        self._is_over = True  # from here on it is not cancelled: the report is logged, or refused as too late
        await self._report(end)

    def _find_refusal(self) -> str | None:
        """Return why the agent refuses the task, None if it accepts. An agent that cannot be found refuses."""
        try:
            agent = self._find_agent(self._team, self._turn.member.id)
            refuse = getattr(agent, "refuse", None)
            return refuse(self._turn) if refuse else None
        except AgentError as error:
            return str(error)
        except Exception as error:  # an agent is foreign code
            logger.warning("agent %s failed to say whether it takes a task", self._turn.member.id, exc_info=True)
            return f"{type(error).__name__}: {error}"

    async def _play_in(self, room: Room) -> WorkerCommand:
        """Report that the task is accepted and started (in one append if there is room at once), then play it."""
        dispatch_id = self._turn.turn_id
        started = StartTask(dispatch_id=dispatch_id)
        if not room.locked():
            async with room:
                await self._report(AckDispatch(dispatch_id=dispatch_id), started)
                return await self._play()
        room.waiting += 1
        try:
            await self._report(AckDispatch(dispatch_id=dispatch_id, place=room.waiting))
            self.is_in_line = True
            await room.acquire()
        finally:
            room.waiting -= 1
        try:
            self.is_in_line = False
            await self._report(started)
            return await self._play()
        finally:
            room.release()

    async def _play(self) -> WorkerCommand:
        turn_id = self._turn.turn_id
        try:
            agent = self._find_agent(self._team, self._turn.member.id)
            outputs = self._act(agent)
            try:
                async for output in outputs:
                    if isinstance(output, Result):
                        return CompleteTurn(
                            turn_id=turn_id,
                            text=output.text,
                            usage=output.usage,
                            plan=output.plan,
                            patches=output.patches,
                            review=output.review,
                            evaluation=output.evaluation,
                            state=output.state,
                            tool_calls=output.tool_calls,
                            ask=output.ask,
                        )
                    await self._pass_on(output)
            finally:
                await outputs.aclose()
        except AgentError as error:
            return FailTurn(
                turn_id=turn_id,
                error_type=error.error_type,
                message=str(error),
                retry_after_s=error.retry_after_s,
                usage=error.usage,
            )
        # An agent is foreign code: whatever it raises fails the turn, never the session.
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if self._task.cancelling():
                raise asyncio.CancelledError from error
            logger.warning("agent %s failed", self._turn.member.id, exc_info=True)
            return FailTurn(turn_id=turn_id, error_type="agent", message=f"{type(error).__name__}: {error}")
        return CompleteTurn(turn_id=turn_id, text="")

    def _act(self, agent: Agent) -> AsyncGenerator[Output, None]:
        act_asking: ActAsking | None = getattr(agent, "act_asking", None)
        return act_asking(self._turn, self._ask) if act_asking else agent.act(self._turn)

    async def _pass_on(self, output: Delta | Thinking | Step) -> None:
        turn_id = self._turn.turn_id
        match output:
            case Delta() | Thinking():
                self._show(turn_id, output)
            case Step():
                await self._report(
                    ReportStep(
                        turn_id=turn_id,
                        thought=output.thought,
                        action=output.action,
                        observation=output.observation,
                        total=output.total,
                    )
                )


async def _run_tool(find_tool: FindTool, job: ToolJob, report: Report) -> None:
    """Call a tool and report its result or its error, whatever it raises: it is foreign code."""
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
