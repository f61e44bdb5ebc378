"""Agent type `python`: an async function that gets the turn and returns or yields what it has to say."""

import importlib
import inspect
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from msgspec import Meta, Struct

from moot.agents.agent_type import AgentType, Seat
from moot.agents.environment import hide_secrets
from moot.config.quantities import FunctionPath
from moot.config.trust import Start
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.events import Option
from moot.runtime.ports import Ask, Delta, Output, Result, Step, Thinking

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


class PythonMember:
    """Calls the function once per turn. Text that it yields is streamed and joined; what it returns is the result.

    A function with a parameter `ask` gets a way to ask people (see `runtime.ports.Ask`).
    """

    def __init__(self, function: AgentFunction) -> None:
        self._function = function
        self._is_coroutine = inspect.iscoroutinefunction(function)
        self._asks = "ask" in inspect.signature(function).parameters
        self.__name__ = getattr(function, "__name__", "agent")
        self.__doc__ = function.__doc__

    def __call__(self, turn: TurnInput, **options: Ask) -> Awaitable[FunctionOutput] | AsyncIterator[FunctionOutput]:
        return self._function(turn, **options)

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self.act_asking(turn, _ask_nobody)

    def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        return self._act(partial(self._function, turn, ask=ask) if self._asks else partial(self._function, turn))

    async def _act(self, call: AgentFunction) -> AsyncGenerator[Output, None]:
        """Play a turn. If an error message holds secrets, they are removed, and the traceback with them."""
        try:
            async with aclosing(self._play(call)) as outputs:
                async for output in outputs:
                    yield output
        except Exception as error:
            message = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            safe = hide_secrets(message, os.environ)
            if safe == message:
                raise
            raise AgentError(getattr(error, "error_type", "agent"), safe) from None

    async def _play(self, call: AgentFunction) -> AsyncGenerator[Output, None]:
        if self._is_coroutine:
            yield _as_result(await call())  # type: ignore[misc]
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


async def _ask_nobody(
    question: str,  # noqa: ARG001 - one signature for all
    options: Sequence[Option] = (),  # noqa: ARG001
    *,
    key: str = "",  # noqa: ARG001
    default: str | None = None,
) -> str | None:
    return default


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


def agent(function: AgentFunction) -> PythonMember:
    """Turn an async function into an agent: `moot.open(team, agents={"bob": function})`.

    Args:
        function: takes the turn, and `ask` if it has such a parameter. It returns text, a Result or None, or yields
            text, Deltas, Thinkings, Steps and a Result.

    Raises:
        TypeError: the function is not async.
    """
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        raise TypeError(f"@moot.agent needs an async function, {function!r} is not one")
    return PythonMember(function)


def load(call: str, folder: Path | None = None) -> PythonMember:
    """Load the agent function `package.module:function`. Raises AgentError if it cannot be loaded or is not async."""
    function = load_function(call, folder)
    try:
        return function if isinstance(function, PythonMember) else agent(function)
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
