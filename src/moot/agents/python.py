"""Members written in Python: an async function that gets the turn and returns or yields what it has to say."""

import importlib
import inspect
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

from moot.core.errors import AgentError
from moot.core.turns import TurnInput
from moot.runtime.ports import Delta, Output, Result, Step

Said = str | Output | None
AgentFunction = Callable[[TurnInput], Awaitable[Said] | AsyncIterator[Said]]


class PythonMember:
    """Calls the function once a turn. What it yields is streamed and joined; what it returns is the result."""

    def __init__(self, function: AgentFunction) -> None:
        self._function = function
        self._is_coroutine = inspect.iscoroutinefunction(function)
        self.__name__ = getattr(function, "__name__", "agent")
        self.__doc__ = function.__doc__

    def __call__(self, turn: TurnInput) -> Awaitable[Said] | AsyncIterator[Said]:
        return self._function(turn)

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        if self._is_coroutine:
            yield _as_result(await self._function(turn))  # type: ignore[misc]
            return
        written: list[str] = []
        async with aclosing(cast("AsyncGenerator[Said, None]", self._function(turn))) as outputs:
            async for said in outputs:
                match said:
                    case Result():
                        yield said
                        return
                    case Step():
                        yield said
                    case str() | Delta():
                        text = said if isinstance(said, str) else said.text
                        written.append(text)
                        yield Delta(text)
                    case None:
                        pass
                    case _:
                        kind = type(said).__name__
                        raise AgentError("agent", f"yielded {kind}; yield text, a Step, a Delta or a Result")
        yield Result(text="".join(written))


def _as_result(said: Said) -> Result:
    match said:
        case Result():
            return said
        case str():
            return Result(text=said)
        case None:
            return Result()
        case _:
            raise AgentError("agent", f"returned {type(said).__name__}; return text, a Result or nothing")


def agent(function: AgentFunction) -> PythonMember:
    """Turn an async function into a member: `moot.open(team, agents={"bob": function})`."""
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        raise TypeError(f"@moot.agent needs an async function, {function!r} is not one")
    return PythonMember(function)


def load(call: str) -> PythonMember:
    """The member played by the function named `package.module:function`. AgentError says what is wrong with it."""
    found = load_function(call)
    try:
        return found if isinstance(found, PythonMember) else agent(found)
    except TypeError as error:
        raise AgentError("config", f"cannot load {call!r} ({error}); it must be package.module:function") from error


def load_function(call: str) -> Callable[..., Any]:
    """What is named `package.module:function`. AgentError says what is wrong with the name."""
    module_name, _, function_name = call.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # the module may lie beside the team file, as with `python -m`
    try:
        return cast("Callable[..., Any]", getattr(importlib.import_module(module_name), function_name))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise AgentError("config", f"cannot load {call!r} ({error}); it must be package.module:function") from error
