"""The composition root: `open_app` chooses the log, the clock, the workers and the teams, and `build` wires them."""

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.agents.python import AgentFunction, PythonMember, agent
from moot.agents.roster import Roster
from moot.agents.run_environment import in_data_folder
from moot.agents.sandbox import Sandbox, find_bubblewrap, make_sandbox
from moot.agents.starts import starts_programs
from moot.agents.toolbox import Toolbox
from moot.agents.understanders import Understanders
from moot.config.loading import TeamTarget, load_team
from moot.config.own_folders import find_config_folder, find_data_folder, find_settings_file
from moot.config.team_file import TeamFile
from moot.core import limits
from moot.core.codec import Event
from moot.core.errors import CommandReused, Conflict
from moot.core.evolve import evolve
from moot.core.session.commands import Answer, HumanCommand, Post
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.view import View, project
from moot.runtime.clock import SystemClock
from moot.runtime.dispatch import EmbeddedDispatch
from moot.runtime.engine import Engine
from moot.runtime.ports import Agent, Clock, CommandKey, Dispatch, Log, Receipt, Store, ToolFunction, Understander
from moot.runtime.sessions import Sessions
from moot.runtime.stores.store import Address, find_store
from moot.runtime.telemetry import end_spans, traced

logger = logging.getLogger(__name__)


class App:
    """Sessions of one or more teams, in this process."""

    def __init__(self, teams: list[TeamFile], log: Log, sessions: Sessions) -> None:
        self.teams = teams
        self.log = log
        self.sessions = sessions
        self.spawn = sessions.spawn
        self.streams = sessions.streams

    async def session(
        self, session_id: str | None = None, *, team: str | None = None, title: str = "", once: str | None = None
    ) -> "Session":
        """A new session of the named team (the first one by default), or the one with this id.

        Asking again with the same `once` gives the same new session; CommandReused if team or title differ then.
        """
        if session_id is not None:
            engine = await self.sessions.open(session_id)
        elif once is None:
            engine = await self.sessions.create(self._team(team).team(), title)
        else:
            engine = await self._create_once(self._team(team).team(), title, once)
        return Session(engine.session_id, self)

    async def _create_once(self, team: Team, title: str, once: str) -> Engine:
        session_id = f"s_{hashlib.sha256(once.encode()).hexdigest()[:16]}"
        try:
            return await self.sessions.create(team, title, session_id)
        except Conflict:
            engine = await self.sessions.open(session_id)
            if (engine.state.team.name, engine.state.title) != (team.name, title):
                raise CommandReused("this command id made another session before") from None
            return engine

    async def recover(self) -> int:
        """Go on with every session of these teams that was busy when the last process ended, or when it was removed."""
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
        """As of now: everything that was shown to anybody is in it."""
        engine = await self._app.sessions.open(self.id)
        state, _ = await engine.current()
        return state

    async def view(self) -> View:
        """The session as every interface shows it, as of now."""
        return project(await self.state())

    async def submit(self, command: HumanCommand, key: CommandKey | None = None) -> Receipt:
        """Durable when this returns. Raises Refused."""
        engine = await self._app.sessions.open(self.id)
        return await engine.submit(command, key)

    def say(self, text: str, by: str | None = None, *, inputs: Mapping[str, Any] | None = None) -> AsyncIterator[Event]:
        """Post a text and follow the session until the floor is back with a human. Raises Refused.

        `inputs` are values of keys that people give in the supervisor flow.
        """
        return self._run(Post(text=text, by=by, inputs=dict(inputs) if inputs else None))

    def answer(self, step_id: str, *, by: str | None = None, **said: object) -> AsyncIterator[Event]:
        """Answer an open step with `confirmed`, `choice`, `answer` or edited `tasks`, and follow like `say`."""
        return self._run(Answer(step_id=step_id, by=by, **said))  # type: ignore[arg-type]

    async def settle(self) -> AsyncIterator[Event]:
        """Follow what runs, e.g. after a restart, until the floor is back with a human."""
        async for event in self._run(None):
            yield event

    async def _run(self, command: HumanCommand | None) -> AsyncIterator[Event]:
        engine = await self._app.sessions.open(self.id)
        state, head = await engine.current()
        accepted_seq = head.seq
        if command is not None:
            accepted_seq = (await engine.submit(command)).seq
        if accepted_seq == head.seq and state.is_settled:
            return
        async with aclosing(self._app.log.follow(self.id, head.seq)) as batches:
            async for events in batches:
                for event in events:
                    state = evolve(state, event.fact)
                    yield event
                if events[-1].seq >= accepted_seq and state.is_settled:
                    return

    async def history(self, after: int = 0) -> AsyncGenerator[Event, None]:
        """What is logged behind `after` as of now."""
        while events := await self._app.log.read(self.id, after):
            for event in events:
                yield event
            after = events[-1].seq

    def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]:
        return self._app.log.follow(self.id, after)


@asynccontextmanager
async def open_app(
    *teams: TeamTarget | TeamFile,
    data: str | Path | None = None,
    store: Log | Store | Address | None = None,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    clock: Clock | None = None,
    max_tasks: int = limits.TASKS_AT_ONCE,
    folders: Mapping[str, Path] | None = None,
    tools: Mapping[str, ToolFunction] | None = None,
) -> AsyncIterator[App]:
    """Open sessions of these teams in this process.

    Args:
        teams: Paths of team files, names of built-in teams, mappings, or `TeamFile` objects. The first is the default.
        data: This process's own folder, for what it must remember of the programs it starts. Unless `store` says
            otherwise the sessions are kept there too.
        store: Where the sessions are kept: a folder, a URL (`sqlite:DIR`, `memory:`, or the scheme of an installed
            store), a `Store`, or an open log, which stays open. Without `store` and `data` they are kept in memory.
        agents: Python functions or objects by member id. They play these members, whatever the team file says.
        clock: The clock of a test.
        max_tasks: How many tasks of plans run at once, in all sessions together.
        folders: Where the programs of a team run, by the team's name; otherwise in the folder of its file.
        tools: Functions that agents of the supervisor flow may call, besides those that the team file names.

    Raises InvalidTeam with every problem of a team, ConfigError for a store that is not known, Unusable or Locked if
    the store cannot be opened. Nobody is asked for trust: who calls this knows the team that it opens.
    """
    files = [team if isinstance(team, TeamFile) else load_team(team) for team in teams]
    folders = {**_find_folders(teams, files), **(folders or {})}
    run_environment = in_data_folder(None if data is None else Path(data))
    environments = {
        file.name: replace(
            run_environment,
            folder=folders.get(file.name),
            sandbox=_make_sandbox(file, folders.get(file.name), _list_hidden(data, store)),
        )
        for file in files
    }
    clock = clock or SystemClock()
    async with _opened_log(store, data) as log:
        run_environment.book.end_leftovers()  # of a process that died: nobody else can have the log
        overrides = {name: _as_agent(player) for name, player in (agents or {}).items()}
        toolbox = Toolbox(files, tools or {}, environments)
        roster = Roster(files, overrides, clock, environments, toolbox)

        failure: BaseException | None = None
        async with asyncio.TaskGroup() as tasks:
            dispatch = traced(EmbeddedDispatch(tasks, roster.find, max_tasks, toolbox.find))
            app = build(tasks, files, log, clock, dispatch, Understanders(files, roster.find_understander).find)
            try:
                yield app
            except BaseException as error:  # raised below, outside of the group that would wrap it
                failure = error
            await app.sessions.close()
            end_spans(dispatch)
        if failure:
            raise failure


def build(
    tasks: asyncio.TaskGroup,
    teams: Sequence[TeamFile],
    log: Log,
    clock: Clock,
    dispatch: Dispatch,
    find_understander: Callable[[str], Understander],
) -> App:
    """Wire an app from its parts: the only place that does.

    Its work runs in `tasks`. `find_understander` is given the name of a team. The caller closes the sessions and then
    the log.
    """
    return App(list(teams), log, Sessions(log, clock, dispatch, tasks, find_understander))


@asynccontextmanager
async def _opened_log(store: Log | Store | Address | None, data: str | Path | None) -> AsyncIterator[Log]:
    """The log of `store`, else of the data folder, else one in memory. One that was opened here is closed."""
    if store is None:
        store = "memory:" if data is None else Path(data)
    if isinstance(store, str | os.PathLike):
        store = find_store(store)
    if not isinstance(store, Store):
        yield store
        return
    log = await store.open()
    try:
        yield log
    finally:
        await log.close()


def _list_hidden(data: str | Path | None, store: object) -> list[Path]:
    """What programs must not see: tokens, sessions and settings, those of the user and those of this process."""
    hidden = [find_data_folder(), find_config_folder(), find_settings_file()]
    if data is not None:
        hidden.append(Path(data))
    if isinstance(store, str | os.PathLike):
        store = find_store(store)
    return hidden + (store.list_files() if isinstance(store, Store) else [])


def _make_sandbox(team: TeamFile, folder: Path | None, hidden: list[Path]) -> Sandbox:
    """The sandbox of a team that starts programs. Raises ConfigError if it insists on one and there is none."""
    if not starts_programs(team):
        return Sandbox()
    sandbox = make_sandbox(team.sandbox, hidden, folder)
    if team.sandbox == "auto" and sandbox.bubblewrap is None:
        _, problem = find_bubblewrap()
        logger.warning("the programs of %s run without a sandbox and can read your tokens: %s", team.name, problem)
    return sandbox


def _as_agent(played_by: AgentFunction | Agent) -> Agent:
    if isinstance(played_by, PythonMember) or hasattr(played_by, "act"):
        return played_by
    return agent(played_by)


def _find_folders(targets: Sequence[TeamTarget | TeamFile], files: Sequence[TeamFile]) -> dict[str, Path]:
    """Team name to the folder of its file, for teams that come from a file."""
    given = zip(targets, files, strict=True)
    return {
        file.name: Path(target).absolute().parent
        for target, file in given
        if isinstance(target, str | os.PathLike) and Path(target).is_file()
    }
