"""Agent type `python`: an async function that gets the turn and returns or yields what it has to say."""

import asyncio
import importlib
import inspect
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from msgspec import Meta, Struct

from moot.agents.agent_type import AgentType, Seat
from moot.agents.environment import hide_secrets
from moot.agents.member_tools import NAMES, MemberTools
from moot.agents.output_limits import Censor
from moot.config.quantities import FunctionPath
from moot.config.trust import Start
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.state import Message
from moot.runtime.desk import EmptyDesk
from moot.runtime.ports import Agent, Delivery, Delta, Desk, Output, Result, Step, Thinking

MESSAGES = "messages"  # the parameter by which a function is given what people write to it while it runs
FunctionOutput = str | Output | None
# Takes the turn, and `ask` if it has such a parameter.
AgentFunction = Callable[..., Awaitable[FunctionOutput] | AsyncIterator[FunctionOutput]]


class PythonAgent(
    AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="python"
):
    """An async function that gets the turn and yields outputs."""

    call: Annotated[FunctionPath, Meta(description="package.module:function, in the team file's folder or installed")]

    is_told_tools: ClassVar[bool] = False  # a function calls what it needs itself

    def starts(self, member: str) -> tuple[Start, ...]:
        return (Start(member=member, argv=("python", self.call), kind="code"),)

    def make(self, seat: Seat) -> "PythonMember":
        return load(self.call, seat.run_environment.folder)


class FunctionAgent(AgentType, Struct, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """An agent of a team that is built in code (`moot.team`); a team file cannot name it."""

    player: Any  # an Agent

    is_told_tools: ClassVar[bool] = False

    def starts(self, member: str) -> tuple[Start, ...]:  # noqa: ARG002 - the program that opens the team runs it already
        return ()

    def make(self, seat: Seat) -> Agent:  # noqa: ARG002
        return cast("Agent", self.player)


class Incoming:
    """What people write to a member while its function runs."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Message, asyncio.Event]] = []
        self._has_some = asyncio.Event()

    async def add(self, message: Message) -> None:
        """Add a message and wait until the function takes it."""
        is_taken = asyncio.Event()
        self._waiting.append((message, is_taken))
        self._has_some.set()
        await is_taken.wait()

    def take(self) -> list[Message]:
        """Return what came since the last call: it counts as delivered from now on."""
        waiting, self._waiting = self._waiting, []
        self._has_some.clear()
        for _, is_taken in waiting:
            is_taken.set()
        return [message for message, _ in waiting]

    async def wait(self) -> list[Message]:
        """Wait until somebody writes something, and take it."""
        await self._has_some.wait()
        return self.take()


class PythonMember:
    """Calls the function once per turn. Text that it yields is streamed and joined; what it returns is the result.

    A function with a parameter `ask` gets a way to ask for permissions (see `runtime.ports.Ask`); one with a parameter
    named like one of Moot's own tools (`ask_human`, `ask_member`, `hand_over`, `report_blocked`, `show_file`) gets that
    tool, bound to the turn. One with a parameter `messages` gets an `Incoming`: what people write to it meanwhile.
    """

    def __init__(self, function: AgentFunction, folder: Path | None = None) -> None:
        self._function = function
        self._folder = folder
        self._is_coroutine = inspect.iscoroutinefunction(function)
        parameters = inspect.signature(function).parameters
        self._asks = "ask" in parameters
        self._incoming: dict[tuple[str, str], Incoming] | None = {} if MESSAGES in parameters else None
        self._uses = tuple(name for name in NAMES if name in parameters)
        self.__name__ = getattr(function, "__name__", "agent")
        self.__doc__ = function.__doc__

    def __call__(self, turn: TurnInput, **options: Any) -> Awaitable[FunctionOutput] | AsyncIterator[FunctionOutput]:
        return self._function(turn, **options)

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self.act_asking(turn, EmptyDesk())

    def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        tools = MemberTools(turn, desk, self._folder)
        options: dict[str, Any] = {name: getattr(tools, name) for name in self._uses}
        if self._asks:
            options["ask"] = desk
        return self._act(turn, options)

    async def steer(self, turn: TurnInput, message: Message) -> Delivery | None:
        """Give the function a message. It has it once it takes it; a function that never does gets it next time."""
        incoming = (self._incoming or {}).get((turn.session_id, turn.turn_id))
        if incoming is None:
            return None
        await incoming.add(message)
        return "now"

    async def _act(self, turn: TurnInput, options: dict[str, Any]) -> AsyncGenerator[Output, None]:
        """Play a turn. Secrets of this process are removed from what it says and from errors, with the traceback."""
        key, censor = (turn.session_id, turn.turn_id), Censor(os.environ)
        if self._incoming is not None:
            options[MESSAGES] = self._incoming[key] = Incoming()
        call = partial(self._function, turn, **options)
        try:
            async with aclosing(self._play(call)) as outputs:
                async for output in outputs:
                    for safe in censor.admit(output):
                        yield safe
        except Exception as error:  # a function is foreign code: its errors may hold secrets
            message = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            told = hide_secrets(message, os.environ)
            if told == message:
                raise
            raise AgentError(getattr(error, "error_type", "agent"), told) from None
        finally:
            if self._incoming is not None:
                self._incoming.pop(key, None)

    async def _play(self, call: AgentFunction) -> AsyncGenerator[Output, None]:
        if self._is_coroutine:
            yield _as_result(await call())  # type: ignore[misc] # a coroutine function, see __init__
            return
        written: list[str] = []
        async with aclosing(cast("AsyncGenerator[FunctionOutput, None]", call())) as outputs:
            async for output in outputs:
                match output:
                    case Result():
                        yield output
                        return
                    case Step() | Thinking():
                        yield output
                    case str() | Delta():
                        text = output if isinstance(output, str) else output.text
                        written.append(text)
                        yield Delta(text)
                    case None:
                        pass
                    case _:
                        kind = type(output).__name__
                        raise AgentError(
                            "agent", f"yielded {kind}; yield text, a Step, a Delta, a Thinking or a Result"
                        )
        yield Result(text="".join(written))


def _as_result(returned: FunctionOutput) -> Result:
    match returned:
        case Result():
            return returned
        case str():
            return Result(text=returned)
        case None:
            return Result()
        case _:
            raise AgentError("agent", f"returned {type(returned).__name__}; return text, a Result or nothing")


def agent(function: AgentFunction, folder: Path | None = None) -> PythonMember:
    """Turn an async function into an agent: `moot.open(team, agents={"bob": function})`.

    Args:
        function: takes the turn, and what else it has parameters for: `ask`, and Moot's own tools. It returns text, a
            Result or None, or yields text, Deltas, Thinkings, Steps and a Result.
        folder: whose files it may show; the current one by default.

    Raises:
        TypeError: the function is not async.
    """
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        name = getattr(function, "__name__", repr(function))
        raise TypeError(f"{name} is no async function; an agent is an `async def` that takes the turn")
    return PythonMember(function, folder)


def as_agent(member: str, player: AgentFunction | Agent) -> Agent:
    """What a program gave to play a member. Raises TypeError, with the member's id, if that cannot play one."""
    if isinstance(player, PythonMember) or hasattr(player, "act"):
        return cast("Agent", player)
    if callable(player) and (inspect.iscoroutinefunction(player) or inspect.isasyncgenfunction(player)):
        return PythonMember(player)
    kind = "a plain function" if inspect.isroutine(player) else f"{type(player).__name__} {player!r}"
    raise TypeError(
        f"member {member!r} cannot be played by {kind}; give it an async function or an object with act(turn)"
    )


def load(call: str, folder: Path | None = None) -> PythonMember:
    """Load the agent function `package.module:function`. Raises AgentError if it cannot be loaded or is not async."""
    function = load_function(call, folder)
    try:
        return function if isinstance(function, PythonMember) else agent(function, folder)
    except TypeError as error:
        raise AgentError("config", f"cannot load {call!r} ({error}); it must be package.module:function") from error


def load_function(call: str, folder: Path | None = None) -> Callable[..., Any]:
    """Import `package.module:function` from `folder`, which is the team file's, or from an installed package.

    The current folder does not count: whoever trusted a team file trusted the code beside it, and nothing else.

    Raises:
        AgentError: it cannot be imported, or its name means a module of another place than `folder`.
    """
    module_name, _, function_name = call.partition(":")
    if folder and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        module = importlib.import_module(module_name)
        _check_origin(module_name, folder)
        return cast("Callable[..., Any]", getattr(module, function_name))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        must = "it must be package.module:function, in the team file's folder or installed"
        raise AgentError("config", f"cannot load {call!r} ({error}); {must}") from error


def _check_origin(module_name: str, folder: Path | None) -> None:
    """Raise ImportError if the folder has such a module and Python has imported another of the same name.

    Modules are shared by the whole process: the first team that names `helpers` decides which one it is.
    """
    name = module_name.partition(".")[0]
    if folder is None or not ((folder / name).is_dir() or (folder / f"{name}.py").is_file()):
        return
    places = [Path(place) for place in (*getattr(sys.modules[name], "__path__", ()), _file_of(name)) if place]
    if not any(place.resolve().is_relative_to(folder.resolve()) for place in places):
        raise ImportError(f"{name!r} is already {_file_of(name) or 'a part of Python'}: rename it in {str(folder)!r}")


def _file_of(module_name: str) -> str | None:
    return getattr(sys.modules[module_name], "__file__", None)
