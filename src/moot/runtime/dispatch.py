"""The Dispatch port within this process: workers and tools run as asyncio tasks."""

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection

from moot.core import limits
from moot.core.errors import AgentError, WorkspaceError
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import (
    AckDispatch,
    CompleteTool,
    CompleteTurn,
    FailTurn,
    NackDispatch,
    ReportDelivery,
    ReportSpending,
    ReportStep,
    StartTask,
    WorkerCommand,
)
from moot.core.session.state import Message
from moot.core.session.usage import NO_USAGE, Usage
from moot.runtime.clock import SystemClock
from moot.runtime.desk import WorkerDesk
from moot.runtime.files import Files
from moot.runtime.ports import (
    Agent,
    Clock,
    Delivery,
    Delta,
    Desk,
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
    Workspaces,
)
from moot.runtime.workspaces.no_workspaces import NoWorkspaces

logger = logging.getLogger(__name__)

ActAsking = Callable[[TurnInput, Desk], AsyncGenerator[Output, None]]
Steer = Callable[[TurnInput, Message], Awaitable[Delivery | None]]
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
        max_tasks: how many offered tasks run at once in all sessions.
        find_tool: finds a tool of a member by name. Raises AgentError.
        end_session: ends what is kept for a session between its turns.
        files: where the files are kept that people attach and members show.
        workspaces: makes and records the trees that turns work in.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        find_agent: FindAgent,
        max_tasks: int = limits.TASKS_AT_ONCE,
        find_tool: FindTool = find_no_tool,
        end_session: Callable[[str], None] = lambda _: None,
        *,
        clock: Clock | None = None,
        files: Files,
        workspaces: Workspaces | None = None,
    ) -> None:
        self.tasks = tasks
        self.clock = clock or SystemClock()
        self.files = files
        self.workspaces = workspaces or NoWorkspaces()
        self.find_agent = find_agent
        self._find_tool = find_tool
        self._room = Room(max_tasks)
        self._end_session = end_session

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        return _Worker(self, turn, team, report, show, None)

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        return _Worker(self, turn, team, report, show, self._room)

    def release(self, session_id: str) -> None:
        self._end_session(session_id)

    async def list_live(self, session_id: str) -> Collection[str]:  # noqa: ARG002 - workers end with their process
        return ()

    def call(self, job: ToolJob, report: Report) -> Handle:
        return self.tasks.create_task(_run_tool(self._find_tool, job, report))


class _Worker:
    """Plays one turn and reports its end once.

    With `room` the turn is an offered task: the worker first accepts or refuses it, then waits for room to start.
    """

    __slots__ = (
        "_agent",
        "_begun",
        "_bringing",
        "_changes",
        "_desk",
        "_dispatch",
        "_ends_line",
        "_has_text",
        "_is_after_tool",
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
        dispatch: EmbeddedDispatch,
        turn: TurnInput,
        team: str,
        report: Report,
        show: Show,
        room: Room | None,
    ) -> None:
        self._dispatch = dispatch
        self._turn = turn
        self._changes: tuple[WorkerCommand, ...] = ()  # of the tree, reported with the end
        self._team = team
        self._report = report
        self._show = show
        self._room = room
        self._is_over = False
        self._has_text = self._ends_line = False  # of what was shown so far
        self._is_after_tool = False
        self._desk = WorkerDesk(turn, report, dispatch.clock, dispatch.files)
        self.is_in_line = False
        self._agent: Agent | None = None  # once the turn has begun
        self._begun: asyncio.Future[Agent] | None = None  # made when somebody waits for that
        self._bringing: set[asyncio.Task[None]] = set()
        self._task = dispatch.tasks.create_task(self._run())

    @property
    def is_alive(self) -> bool:
        return not self._task.done()

    def cancel(self) -> None:
        if not self._is_over:
            self._task.cancel()

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        self._desk.answer(step_id, choice, answer)

    def bring(self, number: int, message: Message) -> None:
        """Deliver a message into the turn. One that is already in the turn's input has reached the agent."""
        bringing = self._dispatch.tasks.create_task(self._bring(number, message))
        self._bringing.add(bringing)
        bringing.add_done_callback(self._bringing.discard)
        self._task.add_done_callback(self._stop_bringing)

    async def _bring(self, number: int, message: Message) -> None:
        how: Delivery | None = "now"
        if number > len(self._turn.messages):
            agent = await self._find_acting()
            steer: Steer | None = getattr(agent, "steer", None)
            try:
                how = await steer(self._turn, message) if steer else None
            except Exception:  # an agent is foreign code
                logger.warning("agent %s did not take a message", self._turn.member.id, exc_info=True)
                how = None
        await self._report(ReportDelivery(turn_id=self._turn.turn_id, number=number, how=how or "next_turn"))

    async def _find_acting(self) -> Agent:
        """Wait until an agent plays the turn, and return it."""
        if self._agent:
            return self._agent
        self._begun = self._begun or asyncio.get_running_loop().create_future()
        return await self._begun

    def _stop_bringing(self, *_: object) -> None:
        for bringing in self._bringing:
            bringing.cancel()

    async def _run(self) -> None:
        try:
            end = await (self._play() if self._room is None else self._take(self._room))
        except asyncio.CancelledError:
            await self._tell_spending(self._desk.spent)
            raise
        if self._bringing:
            await asyncio.sleep(0)  # an agent that took a message just now has it
            self._stop_bringing()
        if self._task.cancelling():  # ignore what the agent returned meanwhile, but not what it cost
            await self._tell_spending(getattr(end, "usage", NO_USAGE))
            return
        self._is_over = True  # from here on it is not cancelled: the report is logged, or refused as too late
        await self._report(*self._changes, end)

    async def _tell_spending(self, usage: Usage) -> None:
        """Report what a stopped turn has cost."""
        turn = self._turn
        if usage != NO_USAGE:
            await self._report(ReportSpending(turn_id=turn.turn_id, member=turn.member.id, usage=usage))

    async def _take(self, room: Room) -> WorkerCommand:
        """Play the task, or refuse it. Return what to report."""
        if (reason := self._find_refusal()) is not None:
            return NackDispatch(dispatch_id=self._turn.turn_id, reason=reason)
        return await self._play_in(room)

    def _find_refusal(self) -> str | None:
        """Return why the agent refuses the task, None if it accepts. An agent that cannot be found refuses."""
        try:
            agent = self._dispatch.find_agent(self._team, self._turn.member.id)
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
        """Play the turn, in its tree if it has one. What it did there is recorded, also if it failed."""
        if self._turn.visit is None:
            return await self._play_turn()
        try:
            entered = await self._dispatch.workspaces.enter(self._turn, self._team, self._desk)
            self._turn = entered.turn
            if entered.reports:
                await self._report(*entered.reports)
            end = await self._play_turn()
            self._changes = await self._dispatch.workspaces.leave(self._turn, self._team)
        except WorkspaceError as error:
            return FailTurn(turn_id=self._turn.turn_id, error_type="workspace", message=str(error))
        return end

    async def _play_turn(self) -> WorkerCommand:
        turn_id = self._turn.turn_id
        try:
            agent = self._dispatch.find_agent(self._team, self._turn.member.id)
            self._turn = await self._dispatch.files.hand_over(self._turn)
            outputs = self._act(agent)
            self._agent = agent
            if self._begun and not self._begun.done():
                self._begun.set_result(agent)
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
        return act_asking(self._turn, self._desk) if act_asking else agent.act(self._turn)

    async def _pass_on(self, output: Delta | Thinking | Step) -> None:
        turn_id = self._turn.turn_id
        match output:
            case Delta(text=text):
                self._show(turn_id, Delta(self._begin_paragraph(text)))
            case Thinking():
                self._show(turn_id, output)
            case Step():
                self._is_after_tool = self._is_after_tool or bool(output.tool or output.action)
                await self._report(
                    ReportStep(
                        turn_id=turn_id,
                        thought=output.thought,
                        action=output.action,
                        observation=output.observation,
                        tool=output.tool,
                        diff=output.diff,
                        total=output.total,
                    )
                )

    def _begin_paragraph(self, text: str) -> str:
        """Keep text that is written after a tool was used apart from what was written before."""
        is_apart = not self._has_text or self._ends_line or text.startswith("\n")
        start = "\n\n" if self._is_after_tool and not is_apart else ""
        self._is_after_tool = False
        self._has_text = self._has_text or bool(text)
        self._ends_line = text.endswith("\n\n")
        return start + text


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
    except Exception as error:  # a tool is foreign code
        logger.warning("tool %s of %s failed", call.name, job.member, exc_info=True)
        end = CompleteTool(call_id=call.call_id, error=f"{type(error).__name__}: {error}")
    await report(end)
