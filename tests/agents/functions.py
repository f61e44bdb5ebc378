"""Functions that team files of the tests name."""

import asyncio
from collections.abc import AsyncIterator

import moot
from moot.core.flows.turns import TurnInput
from moot.core.session.usage import Usage
from moot.runtime.ports import Delta, Result, Step


async def greet(turn: TurnInput) -> str:
    """Says who spoke last."""
    assert turn.message is not None
    return f"hello {turn.message.member}"


@moot.agent
async def stream(turn: TurnInput) -> AsyncIterator[str | Step | Delta]:
    yield "one "
    yield Step(thought="two?")
    yield Delta("two")


@moot.agent
async def count(turn: TurnInput) -> Result:
    return Result(text="counted", usage=Usage(input_tokens=3, output_tokens=4, cost_usd=0.5))


def plain(turn: TurnInput) -> str:
    return "not async"


def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


async def fail() -> str:
    """Prints a page."""
    raise ValueError("out of paper")


lingering, go_on = asyncio.Event(), asyncio.Event()


async def linger() -> str:
    """Takes its time."""
    lingering.set()
    await go_on.wait()
    return "at last"


NOTHING = None
