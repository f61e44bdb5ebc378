"""What the tests of the shell share: a loop to run in, an agent on strings, an app on a log of one's own."""

import asyncio
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from moot.agents.roster import Roster
from moot.app import App, Session, build
from moot.config.team_file import TeamFile
from moot.core import limits
from moot.core.codec import Event
from moot.core.facts import Fact
from moot.core.flows.turns import TurnInput
from moot.core.session.state import State
from moot.runtime.dispatch import EmbeddedDispatch, FindTool, find_no_tool
from moot.runtime.files import Files
from moot.runtime.ports import Agent, Log, Output, Result, Understander
from moot.runtime.understanding.rules.understand import RulesUnderstander
from moot.testing import VirtualClock, human, make_team, scripted

P = ParamSpec("P")
SomeFact = TypeVar("SomeFact", bound=Fact)

TRIO = make_team(human("alice"), scripted("bob", "done"), scripted("carol", "done"))
_DEADLINE_S = 180


def run(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """An async test as a plain one; a test that hangs fails."""

    @functools.wraps(test)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), _DEADLINE_S))

    return wrapped


class Puppet:
    """An agent that does nothing before the test says so. It remembers its turns, and which of them were killed."""

    def __init__(self) -> None:
        self.turns: list[TurnInput] = []
        self.killed: list[str] = []
        self._said: dict[str, asyncio.Future[str]] = {}

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        self.turns.append(turn)
        said = self._said[turn.turn_id] = asyncio.get_running_loop().create_future()
        try:
            text = await said
        except asyncio.CancelledError:
            self.killed.append(turn.turn_id)
            raise
        yield Result(text=text)

    async def is_called(self, times: int = 1) -> TurnInput:
        """Wait for its turn to come."""
        await until(lambda: len(self.turns) >= times)
        return self.turns[-1]

    def replies(self, text: str) -> None:
        self._said[self.turns[-1].turn_id].set_result(text)


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Let the loop turn until it is so."""
    while True:
        is_so = condition()
        if is_so if isinstance(is_so, bool) else await is_so:
            return
        await asyncio.sleep(0)


@asynccontextmanager
async def open_on(
    log: Log,
    *teams: TeamFile,
    clock: VirtualClock | None = None,
    agents: Mapping[str, Agent] | None = None,
    understander: Understander | None = None,
    max_tasks: int = limits.TASKS_AT_ONCE,
    find_tool: FindTool = find_no_tool,
) -> AsyncIterator[App]:
    """Like `open_app`, on a log that the test made: a broken one, or one that two nodes share. The log stays open."""
    clock = clock or VirtualClock()
    roster = Roster(teams, agents or {}, clock)

    async with asyncio.TaskGroup() as tasks:  # what raises in here cancels whatever still runs, as a dying process does
        dispatch = EmbeddedDispatch(tasks, roster.find, max_tasks, find_tool, files=Files(log))
        app = build(tasks, teams, log, clock, dispatch, lambda _: understander or RulesUnderstander())
        try:
            yield app
        finally:
            await app.sessions.close()


async def read(app: App, session: Session) -> list[Event]:
    return await app.log.read(session.id, limit=100_000)


async def names(app: App, session: Session) -> list[str]:
    return [event.name for event in await read(app, session)]


async def facts(app: App, session: Session, kind: type[SomeFact]) -> list[SomeFact]:
    """The facts of one kind, in order."""
    return [event.fact for event in await read(app, session) if isinstance(event.fact, kind)]


async def has(app: App, session: Session, name: str, times: int = 1) -> None:
    """Wait until the log has that event so many times."""

    async def is_so() -> bool:
        return (await names(app, session)).count(name) >= times

    await until(is_so)


async def settle(session: Session) -> State:
    """Follow what runs, if anything does, until the floor is with a human."""
    async for _ in session.settle():
        pass
    return await session.state()


async def say(session: Session, text: str, by: str | None = None) -> list[str]:
    """Say it, follow until the floor is back; the names of what happened."""
    return [event.name async for event in session.say(text, by)]
