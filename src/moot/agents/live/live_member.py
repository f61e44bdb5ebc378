"""Plays the turns of a member over a live conversation that outlasts them.

The conversation belongs to a session, a member and a tree (in a plan: a task). What the agent was told stays with it
through anything but a new session: a turn that was cancelled or failed, a crash, a restart, another model.
"""

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from moot.agents.answer_shapes import SHAPES, Shape
from moot.agents.cli.failures import read_failure
from moot.agents.cli.memory import Conversation, IsId
from moot.agents.context import NO_PROMPTS, build_context, describe_message
from moot.agents.environment import hide_secrets
from moot.agents.live.link import Hooks, Known, Link, Setup
from moot.agents.live.pool import Lease, LinkPool, Place
from moot.agents.member_tools import SERVER, MemberTools
from moot.agents.output_limits import Censor, OutputLimiter, PartialOutput, censor_error
from moot.agents.permits import PermissionRequest, Permit, choose_permit, number_questions, permit_own_tools
from moot.agents.prices import add_cost
from moot.agents.process import Bounds, Child, Program, start
from moot.agents.run_environment import RunEnvironment
from moot.config.agent_specs import McpServer
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.attachments import HandedFile
from moot.core.session.state import Message
from moot.core.session.usage import Usage
from moot.core.texts import render
from moot.runtime.ports import Clock, Delivery, Desk, Output, Result, Step

START_S = 120.0  # some agents install packages at their first start
INTERRUPT_S = 2.0
SIGN_S = 60.0  # an agent that is silent for longer is said to be at work
STEERS = 50  # messages into one turn
FOREVER_S = 1e9
EVENT_BYTES = 1 << 40  # of a program that lives for days; each turn has bounds of its own
LOST = "lost"  # the error type of a conversation that the agent no longer knows
DIED = "died"  # of a program that had ended, unnoticed, before it could read the prompt
_MENDABLE = (LOST, DIED)
_FRESH = ("understand",)  # jobs that must not become part of a conversation


class LiveProtocol(Struct, frozen=True, kw_only=True):
    """How one agent is talked to over a program that stays.

    Args:
        argv: Makes the command line. The id is that of the conversation to begin or to go on with.
        link: Speaks the agent's protocol with the program.
        is_id: Whether a text may be the id of a conversation.
        chooses_id: Moot gives a new conversation its id, so that a crash in its first turn does not lose it.
        takeover: The command with which a person opens a conversation in the agent itself.
        module: A library that it needs and that may not be installed.
        environment: Set for the program.
        is_shaped_at_start: The form of an answer is part of its command line: another form needs a new program.
    """

    argv: Callable[[Setup, Known | None], tuple[str, ...]]
    link: Callable[[Child, Setup, Path], Link]
    is_id: IsId
    chooses_id: bool = False
    takeover: Callable[[str], tuple[str, ...]] | None = None
    module: str = ""
    environment: Mapping[str, str] = {}
    is_shaped_at_start: bool = False

    @property
    def is_possible(self) -> bool:
        return not self.module or find_spec(self.module) is not None


class LiveSeat(Struct, frozen=True, kw_only=True):
    """What a live member is made of, besides its protocol."""

    name: str
    setup: Setup
    environment: Mapping[str, str]
    run_environment: RunEnvironment
    program: tuple[str, ...]  # what identifies it: another program has other conversations
    clock: Clock
    cwd: str | None = None
    instructions: str = ""
    prompts: Mapping[str, str] = NO_PROMPTS
    bounds: Bounds = Bounds()
    is_kept: bool = True  # between turns; otherwise a turn has a program of its own


class LiveMember:
    """`permit` answers all permission requests; a test or a program may give one."""

    def __init__(self, protocol: LiveProtocol, seat: LiveSeat, permit: Permit | None = None) -> None:
        self._protocol = protocol
        self._seat = seat
        self._permit = permit
        self._steered: dict[tuple[str, str], _Steered] = {}  # by session and turn

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self._act(turn, self._permit or self._choose_permit(turn, None), None, asks_people=False)

    def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        permit = self._permit or self._choose_permit(turn, desk)
        asks_people = self._permit is None and self._seat.setup.permissions == "ask"
        return self._act(turn, permit_own_tools(permit), desk, asks_people=asks_people)

    def _choose_permit(self, turn: TurnInput, desk: Desk | None) -> Permit:
        setup, hide = self._seat.setup, partial(hide_secrets, environment=os.environ)
        return choose_permit(setup.permissions, setup.allow, desk, turn.language, turn.grants, hide)

    async def steer(self, turn: TurnInput, message: Message) -> Delivery | None:
        """Deliver a message to a running turn. Return when it arrives, None if it cannot be delivered."""
        steered = self._steered.get((turn.session_id, turn.turn_id))
        if steered is None:
            return None
        text = describe_message(turn, message)
        if steered.playing:
            return await steered.playing.steer(text)
        steered.early.append(text)  # its program is being started
        return "now"

    async def _act(
        self, turn: TurnInput, permit: Permit, desk: Desk | None, *, asks_people: bool
    ) -> AsyncGenerator[Output, None]:
        key = (turn.session_id, turn.turn_id)
        steered = self._steered[key] = _Steered()
        try:
            async with aclosing(self._mend(turn, permit, desk, asks_people=asks_people)) as outputs:
                async for output in outputs:
                    yield output
        finally:
            if self._steered.get(key) is steered:  # else the turn is played again already
                del self._steered[key]

    async def _mend(
        self, turn: TurnInput, permit: Permit, desk: Desk | None, *, asks_people: bool
    ) -> AsyncGenerator[Output, None]:
        """Play a turn. Play it again, once each, if the agent no longer knows the conversation (then a new one begins)
        or if its program had ended before it read the prompt (then it is resumed)."""
        mended: set[str] = set()
        while True:
            try:
                async with aclosing(self._play(turn, permit, desk, asks_people=asks_people)) as outputs:
                    async for output in outputs:
                        yield output
            except AgentError as error:
                if error.error_type not in _MENDABLE or error.error_type in mended:
                    raise
                mended.add(error.error_type)
                if error.error_type == LOST:
                    self._forget(turn)
                else:
                    yield Step(observation=render("agent_resumed", turn.language, detail=str(error)))
            else:
                return

    async def _play(
        self, turn: TurnInput, permit: Permit, desk: Desk | None, *, asks_people: bool
    ) -> AsyncGenerator[Output, None]:
        seat = self._seat
        folder = seat.run_environment.at(turn).place(seat.cwd)
        turn = await asyncio.to_thread(seat.run_environment.handouts.place, turn)
        pool = seat.run_environment.pool if seat.is_kept and turn.job not in _FRESH else None
        async with AsyncExitStack() as stack:
            if pool is None:
                pool = await stack.enter_async_context(LinkPool(seat.clock, idle_s=0))
            known = self._find(turn)
            lease = await self._take(pool, turn, folder, desk)
            if lease.link.socket and desk:
                tools = MemberTools(turn, desk, folder, seat.run_environment.sandbox.hidden)
                stack.enter_context(lease.link.socket.serve(tools, turn.language))
            playing = _Playing(lease, seat, turn, permit, asks_people=asks_people)
            steered = self._steered[turn.session_id, turn.turn_id]
            censor = Censor(os.environ, folder)
            is_over = False
            try:
                self._keep(turn, lease, is_cut=True)
                text, files = self._tell(turn, lease, known)
                playing.begin("\n\n".join([text, *steered.early]), files)
                steered.playing = playing
                async with aclosing(playing.outputs()) as outputs:
                    async for output in outputs:
                        for safe in censor.admit(output):
                            yield safe
                result = await playing.result()
                result = replace(result, usage=await add_cost(result.usage, seat.setup.model))
                is_over = lease.remembers = True
            except AgentError as error:
                if playing.is_unread:
                    error = AgentError(DIED, str(error))
                error.usage = await add_cost(error.usage, seat.setup.model)
                raise censor_error(error, os.environ) from None
            finally:
                steered.playing = None
                was_cut = bool(known and known.is_cut) if playing.is_unread else not is_over
                await self._let_go(pool, turn, lease, playing, desk, is_over=is_over, is_cut=was_cut)
            for safe in censor.admit(result):
                yield safe

    async def _let_go(
        self,
        pool: LinkPool,
        turn: TurnInput,
        lease: Lease,
        playing: "_Playing",
        desk: Desk | None,
        *,
        is_over: bool,
        is_cut: bool,
    ) -> None:
        """Keep the program after a turn that ended well. Otherwise end it, after the agent could store what it did."""
        try:
            if not is_over:
                spent = await add_cost(await playing.stop(), self._seat.setup.model)
                if desk:
                    desk.spend(spent)
            self._keep(turn, lease, is_cut=is_cut, doing=playing.doing)
        finally:
            await asyncio.shield(asyncio.ensure_future(pool.give_back(lease) if is_over else pool.end(lease)))

    async def _take(self, pool: LinkPool, turn: TurnInput, folder: Path | None, desk: Desk | None) -> Lease:
        place = Place(session_id=turn.session_id, member=turn.member.id, tree=find_tree(turn), folder=str(folder or ""))
        try:
            async with asyncio.timeout(START_S):
                return await pool.take(place, partial(self._open, turn, folder, desk), self._find_shape_at_start(turn))
        except TimeoutError:
            raise AgentError("timeout", f"{self._seat.name} did not start a session in {START_S:g} s") from None

    def _find_shape_at_start(self, turn: TurnInput) -> Shape | None:
        return SHAPES.get(turn.job) if self._protocol.is_shaped_at_start else None

    async def _open(
        self, turn: TurnInput, folder: Path | None, desk: Desk | None, stack: AsyncExitStack
    ) -> tuple[Link, bool]:
        """Start the program and open the conversation. Return whether the agent remembers it."""
        seat, known = self._seat, self._find(turn)
        sockets = seat.run_environment.sockets if desk and turn.job not in _FRESH else None
        socket = await stack.enter_async_context(sockets.open(turn.language)) if sockets else None
        handed = seat.run_environment.handouts.find_folder(turn.session_id)
        setup = replace(seat.setup, folders=(handed,), shape=self._find_shape_at_start(turn))
        sandbox = seat.run_environment.at(turn).showing(handed)
        if socket:
            own = {SERVER: McpServer(command=socket.command)}
            setup = replace(setup, servers={**setup.servers, **own})
            sandbox = replace(sandbox, shown=(*sandbox.shown, socket.folder))
        begun = Known(session_id=known.session_id, is_begun=True) if known else None
        if begun is None and self._protocol.chooses_id:
            begun = Known(session_id=str(uuid.uuid4()), is_begun=False)
        program = Program(
            argv=self._protocol.argv(setup, begun),
            environment=seat.environment,
            folder=folder,
            sandbox=sandbox,
            talks=True,
        )
        bounds = Bounds(output_bytes=EVENT_BYTES, idle_s=FOREVER_S, total_s=FOREVER_S, stop_s=seat.bounds.stop_s)
        child = await stack.enter_async_context(start(program, bounds, seat.run_environment.book))
        link = self._protocol.link(child, setup, (folder or Path()).absolute())
        link.socket = socket
        try:
            remembers = await link.open(begun)
        except AgentError as error:
            raise censor_error(error, os.environ) from None
        except (ConnectionError, EOFError):
            raise censor_error(await explain_end(seat.name, child), os.environ) from None
        if socket:
            await socket.wait_until_listed()
        return link, remembers

    def _tell(self, turn: TurnInput, lease: Lease, known: Conversation | None) -> tuple[str, tuple[HandedFile, ...]]:
        seat = self._seat
        context = build_context(turn, seat.instructions, prompts=seat.prompts, is_resumed=lease.remembers)
        if known is None or not known.is_cut or not lease.remembers:
            return context.text, context.files
        doing = render("context.was_doing", turn.language, detail=known.doing) if known.doing else ""
        return f"{render('context.interrupted', turn.language)}{doing}\n\n{context.text}", context.files

    # What is remembered beside the log

    def _find(self, turn: TurnInput) -> Conversation | None:
        if turn.job in _FRESH:
            return None
        seat = self._seat
        conversations = seat.run_environment.conversations
        return conversations.find(
            turn.session_id, turn.member.id, seat.program, self._protocol.is_id, tree=find_tree(turn)
        )

    def _keep(self, turn: TurnInput, lease: Lease, *, is_cut: bool, doing: str = "") -> None:
        if turn.job in _FRESH:
            return
        seat, conversation = self._seat, lease.link.conversation
        takeover = self._protocol.takeover(conversation) if self._protocol.takeover and conversation else ()
        seat.run_environment.conversations.keep(
            turn.session_id,
            turn.member.id,
            seat.program,
            conversation,
            Usage(),
            self._protocol.is_id,
            tree=find_tree(turn),
            is_cut=is_cut,
            doing=hide_secrets(doing, os.environ),
            takeover=takeover,
            folder=str(lease.link.folder),
        )

    def _forget(self, turn: TurnInput) -> None:
        self._seat.run_environment.conversations.forget(turn.session_id, turn.member.id, tree=find_tree(turn))


def find_tree(turn: TurnInput) -> str:
    """Return which of a member's conversations a turn belongs to: in a plan each task has its own."""
    return turn.task_id


async def explain_end(name: str, child: Child) -> AgentError:
    """Say why a program ended in the middle of something."""
    ended = await child.ended()
    if ended.code in (137, -9):
        return AgentError("agent", f"{name} was killed (exit 137), perhaps for lack of memory")
    if ended.code < 0:
        return AgentError("agent", f"{name} was ended by signal {-ended.code}")
    return read_failure(name, ended.stderr[-1_000:] or f"it ended in the middle of a turn (exit code {ended.code})")


class _Steered:
    """Where messages into a turn go: to the prompt that is under way, or with the one that is about to be sent."""

    def __init__(self) -> None:
        self.early: list[str] = []
        self.playing: _Playing | None = None


class _Playing:
    """One prompt under way: its outputs, its questions, and messages into it."""

    def __init__(self, lease: Lease, seat: LiveSeat, turn: TurnInput, permit: Permit, *, asks_people: bool) -> None:
        self._lease = lease
        self._seat = seat
        self._turn = turn
        self._permit = number_questions(permit)
        self._asks_people = asks_people
        self._outputs: asyncio.Queue[PartialOutput | None] = asyncio.Queue()
        self._limiter = OutputLimiter(seat.name)
        self._failure: AgentError | None = None
        self._asking = 0
        self._task: asyncio.Task[Result] | None = None
        self._steers = 0
        self._has_told = False
        self.doing = ""  # the last use of a tool that did not end

    @property
    def is_unread(self) -> bool:
        """Whether a program that was kept ended before it told anything: it had not read the prompt, or done nothing.

        Its end between two turns may be noticed only when the next prompt is written to it.
        """
        return self._lease.was_kept and not self._has_told and not self._lease.link.is_alive

    def begin(self, text: str, files: tuple[HandedFile, ...] = ()) -> None:
        self._lease.link.child.on_stderr = self._tell_stderr
        self._task = asyncio.create_task(self._run(text, files))

    async def _run(self, text: str, files: tuple[HandedFile, ...]) -> Result:
        hooks = Hooks(emit=self._receive, permit=self._ask, shape=SHAPES.get(self._turn.job))
        try:
            return await self._lease.link.prompt(text, hooks, files)
        finally:
            self._lease.link.child.on_stderr = None
            self._outputs.put_nowait(None)

    async def outputs(self) -> AsyncGenerator[PartialOutput, None]:
        """Yield what the agent tells. Raises AgentError of type timeout if it gets nowhere for too long.

        That it tries again, or waits for the network, is told to people but is no progress.
        """
        loop, idle_s = asyncio.get_running_loop(), self._seat.bounds.idle_s
        began = loop.time()
        while True:
            try:
                output = await asyncio.wait_for(self._outputs.get(), min(SIGN_S, idle_s))
            except TimeoutError:
                began = loop.time() if self._asking else began
                silent_s = loop.time() - began
                if 0 < silent_s < idle_s:
                    yield Step(observation=render("agent_silent", self._turn.language, detail=f"{silent_s:.0f}"))
            else:
                if output is None:
                    return
                began = loop.time() if _is_progress(output) else began
                yield output
                self._outputs.task_done()
            if loop.time() - began >= idle_s:
                raise AgentError("timeout", f"{self._seat.name} was silent for {idle_s:g} s{self._last_words}")

    @property
    def _last_words(self) -> str:
        stderr = self._lease.link.child.stderr
        return f": {stderr[-500:]}" if stderr else ""

    async def result(self) -> Result:
        assert self._task is not None  # noqa: S101 - begun before
        try:
            return await self._task
        except AgentError as error:
            raise self._failure or error from None
        except (ConnectionError, EOFError):
            raise self._failure or await explain_end(self._seat.name, self._lease.link.child) from None
        except Exception as error:  # what a broken agent provokes in a library
            raise self._failure or read_failure(self._seat.name, str(error) or type(error).__name__) from None

    async def stop(self) -> Usage:
        """Ask the agent to end the prompt, so that it can store what it did; then stop waiting for it.

        Return what the prompt has cost, as far as the agent tells.
        """
        task = self._task
        if task is None:
            return Usage()
        if not task.done() and self._lease.link.is_alive:
            with suppress(Exception):  # a broken agent: it is ended next
                async with asyncio.timeout(INTERRUPT_S):
                    await self._lease.link.interrupt()
                    await asyncio.wait({task})
        task.cancel()
        try:
            return (await task).usage
        except AgentError as error:
            return error.usage
        except (asyncio.CancelledError, Exception):
            return Usage()

    async def steer(self, text: str) -> Delivery | None:
        self._steers += 1
        if self._task is None or self._task.done() or self._steers > STEERS:
            return None
        with suppress(Exception):  # a broken agent: the message waits for the next turn
            return await self._lease.link.steer(text)
        return None

    def _receive(self, output: PartialOutput) -> None:
        self._has_told = True
        self._emit(output)

    def _emit(self, output: PartialOutput) -> None:
        if isinstance(output, Step) and output.tool:
            self.doing = "" if output.tool.is_over else output.tool.title
        try:
            for admitted in self._limiter.admit((output,)):
                self._outputs.put_nowait(admitted)
        except AgentError as error:
            self._failure = self._failure or error
            raise

    def _tell_stderr(self, line: str) -> None:
        with suppress(AgentError):
            self._emit(Step(observation=f"{self._seat.name}: {line}"))

    async def _ask(self, request: PermissionRequest) -> bool:
        """Ask for a permission, after people could see what it is about."""
        self._has_told = True
        self._asking += 1
        try:
            await self._outputs.join()
            is_allowed = await self._permit(request)
            if not is_allowed and not self._asks_people:  # otherwise question and answer are in the log
                self._emit(Step(observation=f"not allowed: {request.command or request.tool.title}"))
            return is_allowed
        finally:
            self._asking -= 1


def _is_progress(output: PartialOutput) -> bool:
    """Whether an output is progress. A status message alone is not."""
    return not isinstance(output, Step) or bool(output.tool or output.thought or output.action)
