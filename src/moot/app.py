"""The one place that wires things together: a log, a clock, workers, the teams on offer."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from moot.agents.python import AgentFunction, PythonMember, agent
from moot.agents.roster import Roster
from moot.config.loading import TeamTarget, load_team
from moot.config.team_file import TeamFile
from moot.core.codec import Event
from moot.core.commands import Answer, HumanCommand, Post
from moot.core.machines.session import Status
from moot.core.state import State, evolve
from moot.runtime.clock import SystemClock
from moot.runtime.dispatch import EmbeddedDispatch
from moot.runtime.ports import Agent, Clock, CommandKey, Log, Receipt
from moot.runtime.sessions import Sessions
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.sqlite import SqliteLog

DATABASE = "moot.db"


class App:
    """Sessions of one or more teams, in this process."""

    def __init__(self, teams: list[TeamFile], log: Log, sessions: Sessions) -> None:
        self.teams = teams
        self.log = log
        self.sessions = sessions

    async def session(self, session_id: str | None = None, *, team: str | None = None, title: str = "") -> "Session":
        """A new session of the named team (the first one by default), or the one with this id."""
        if session_id is not None:
            engine = await self.sessions.open(session_id)
        else:
            engine = await self.sessions.create(self._team(team).team(), title)
        return Session(engine.session_id, self)

    async def recover(self) -> int:
        """Go on with every session of these teams that was busy when the last process ended."""
        return await self.sessions.recover({team.name for team in self.teams})

    def _team(self, name: str | None) -> TeamFile:
        for team in self.teams:
            if name is None or team.name == name:
                return team
        raise KeyError(f"no team {name!r}; there are {', '.join(team.name for team in self.teams)}")


class Session:
    """A handle on one session. It holds no state: the log does."""

    def __init__(self, session_id: str, app: App) -> None:
        self.id = session_id
        self._app = app

    async def state(self) -> State:
        return (await self._app.sessions.open(self.id)).state

    async def submit(self, command: HumanCommand, key: CommandKey | None = None) -> Receipt:
        """Durable when this returns. Raises Refused."""
        engine = await self._app.sessions.open(self.id)
        return await engine.submit(command, key)

    def say(self, text: str, by: str | None = None) -> AsyncIterator[Event]:
        """Post a text and follow the session until the floor is back with a human. Raises Refused."""
        return self._run(Post(text=text, by=by))

    def answer(self, step_id: str, *, by: str | None = None, **said: object) -> AsyncIterator[Event]:
        """Answer an open step with `confirmed`, `choice` or `answer`, and follow like `say`."""
        return self._run(Answer(step_id=step_id, by=by, **said))  # type: ignore[arg-type]

    async def settle(self) -> AsyncIterator[Event]:
        """Follow what runs, e.g. after a restart, until the floor is back with a human."""
        async for event in self._run(None):
            yield event

    async def _run(self, command: HumanCommand | None) -> AsyncIterator[Event]:
        engine = await self._app.sessions.open(self.id)
        state, seq = engine.state, engine.head.seq
        if command is None and is_settled(state):
            return
        if command is not None:
            receipt = await engine.submit(command)
            if receipt.seq == seq:
                return
        async for events in self._app.log.follow(self.id, seq):
            for event in events:
                state = evolve(state, event.fact)
                yield event
            if is_settled(state):
                return

    def follow(self, after: int = 0) -> AsyncIterator[list[Event]]:
        return self._app.log.follow(self.id, after)


def is_settled(state: State) -> bool:
    """Nothing runs: the floor is with a human, or the session is over."""
    return not state.running and state.status is not Status.ACTIVE


@asynccontextmanager
async def open_app(
    *teams: TeamTarget | TeamFile,
    data: str | Path | None = None,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """Sessions of these teams in this process, kept in `data` (a folder) or, without it, in memory.

    `agents` gives members a Python function or object to play them, whatever the team file says.
    """
    files = [team if isinstance(team, TeamFile) else load_team(team) for team in teams]
    clock = clock or SystemClock()
    log: Log = MemoryLog() if data is None else await SqliteLog.open(Path(data) / DATABASE)
    failure: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as tasks:
            roster = Roster(files, {name: _as_agent(each) for name, each in (agents or {}).items()}, clock)
            sessions = Sessions(log, clock, EmbeddedDispatch(tasks, roster.find), tasks)
            try:
                yield App(files, log, sessions)
            except BaseException as error:  # raised below, outside of the group that would wrap it
                failure = error
            await sessions.close()
    finally:
        await log.close()
    if failure:
        raise failure


def _as_agent(played_by: AgentFunction | Agent) -> Agent:
    if isinstance(played_by, PythonMember) or hasattr(played_by, "act"):
        return played_by
    return agent(played_by)
