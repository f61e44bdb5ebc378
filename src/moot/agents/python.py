"""Members written in Python: an async function that gets the turn and returns or yields what it has to say."""

import importlib
import inspect
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, cast

from moot.agents.environment import hide_secrets
from moot.core.errors import AgentError
from moot.core.events import Option
from moot.core.turns import TurnInput
from moot.runtime.ports import Ask, Delta, Output, Result, Step, Thinking

Said = str | Output | None
AgentFunction = Callable[..., Awaitable[Said] | AsyncIterator[Said]]  # of the turn and, if it has one, `ask`


class PythonMember:
    """Calls the function once a turn. What it yields is streamed and joined; what it returns is the result.

    A function with a parameter `ask` is given a way to ask people (`runtime.ports.Ask`).
    """

    def __init__(self, function: AgentFunction) -> None:
        self._function = function
        self._is_coroutine = inspect.iscoroutinefunction(function)
        self._asks = "ask" in inspect.signature(function).parameters
        self.__name__ = getattr(function, "__name__", "agent")
        self.__doc__ = function.__doc__

    def __call__(self, turn: TurnInput, **given: Ask) -> Awaitable[Said] | AsyncIterator[Said]:
        return self._function(turn, **given)

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self.act_asking(turn, _ask_nobody)

    def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        return self._act(partial(self._function, turn, ask=ask) if self._asks else partial(self._function, turn))

    async def _act(self, call: AgentFunction) -> AsyncGenerator[Output, None]:
        """An error that quotes a key is told without it, and without the traceback, which would quote it too."""
        try:
            async with aclosing(self._play(call)) as outputs:
                async for output in outputs:
                    yield output
        except Exception as error:
            told = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            safe = hide_secrets(told, os.environ)
            if safe == told:
                raise
            raise AgentError(getattr(error, "error_type", "agent"), safe) from None

    async def _play(self, call: AgentFunction) -> AsyncGenerator[Output, None]:
        if self._is_coroutine:
            yield _as_result(await call())  # type: ignore[misc]
            return
        written: list[str] = []
        async with aclosing(cast("AsyncGenerator[Said, None]", call())) as outputs:
            async for said in outputs:
                match said:
                    case Result():
                        yield said
                        return
                    case Step() | Thinking():
                        yield said
                    case str() | Delta():
                        text = said if isinstance(said, str) else said.text
                        written.append(text)
                        yield Delta(text)
                    case None:
                        pass
                    case _:
                        kind = type(said).__name__
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
        sys.path.append(os.getcwd())  # the module may lie here, as with `python -m`
    try:
        return cast("Callable[..., Any]", getattr(importlib.import_module(module_name), function_name))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        must = "it must be package.module:function, installed or in the current folder"
        raise AgentError("config", f"cannot load {call!r} ({error}); {must}") from error
