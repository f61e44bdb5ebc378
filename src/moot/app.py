"""The composition root: `open_app` chooses the log, the clock, the workers and the teams, and `build` wires them."""

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from moot import __version__
from moot.agents.cli.memory import Conversations
from moot.agents.cli.takeovers import list_takeovers
from moot.agents.handouts import Handouts
from moot.agents.live.pool import IDLE_S, MAX_PROCESSES, LinkPool
from moot.agents.member_sockets import MemberSockets
from moot.agents.python import AgentFunction, as_agent
from moot.agents.roster import Roster
from moot.agents.run_environment import RunEnvironment, in_data_folder
from moot.agents.sandbox import Sandbox, find_bubblewrap, make_sandbox
from moot.agents.starts import starts_programs
from moot.agents.toolbox import Toolbox
from moot.agents.understanders import Understanders
from moot.agents.worksites import find_worksite
from moot.config.loading import TeamTarget, load_team
from moot.config.message_format import suggest
from moot.config.own_folders import find_config_folder, find_data_folder, find_settings_file, find_trees_folder
from moot.config.team_file import TeamFile
from moot.conversation import Conversation, Piece
from moot.core import limits
from moot.core.codec import Event
from moot.core.errors import CommandReused, ConfigError, Conflict, Refused
from moot.core.evolve import evolve
from moot.core.session.attachments import Attachment
from moot.core.session.commands import HumanCommand
from moot.core.session.principal import Principal, Role
from moot.core.session.state import State
from moot.core.session.team import Kind, Team
from moot.core.session.workspace_view import Changes, FileDiff
from moot.core.view import View, project
from moot.runtime.clock import SystemClock
from moot.runtime.cluster import cluster_of
from moot.runtime.dispatch import EmbeddedDispatch
from moot.runtime.engine import Engine
from moot.runtime.file_lock import FileLock
from moot.runtime.files import Files
from moot.runtime.job_dispatch import FindPool, JobDispatch, RoutedDispatch
from moot.runtime.ports import (
    Agent,
    Clock,
    CommandKey,
    Dispatch,
    Listing,
    Log,
    Project,
    Receipt,
    Store,
    Takeover,
    ToolFunction,
    Understander,
)
from moot.runtime.private_folder import make_private
from moot.runtime.sessions import Sessions
from moot.runtime.snapshots import load_state
from moot.runtime.stores.store import Address, find_store
from moot.runtime.summaries import Need, find_need
from moot.runtime.telemetry import end_spans, traced
from moot.runtime.waiting_list import InboxItem, WaitingList
from moot.runtime.worker_jobs import Jobs, LocalJobs
from moot.runtime.workspaces.git_workspaces import GitWorkspaces, Worksite
from moot.runtime.workspaces.work_changes import WorkChanges

logger = logging.getLogger(__name__)


class App:
    """Sessions of one or more teams, in this process.

    Args:
        projects: where each team comes from, by its name; a new session remembers it.
        load: makes the agents of a team that is added later.
        conversations: those that members of this machine have with their programs.
    """

    def __init__(
        self,
        teams: list[TeamFile],
        log: Log,
        sessions: Sessions,
        projects: Mapping[str, Project] | None = None,
        load: Callable[[TeamFile, Path], None] | None = None,
        workspaces: GitWorkspaces | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        self.teams = teams
        self._projects = dict(projects or {})
        self._load = load
        self._conversations = conversations or Conversations()
        self.log = log
        self.sessions = sessions
        self.waiting = WaitingList(log, sessions)
        self.workspaces = workspaces
        self.changes = WorkChanges(log, workspaces.root if workspaces else find_trees_folder())
        self.files = Files(log)
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
        else:
            chosen = self._team(team)
            if once is None:
                engine = await self.sessions.create(chosen.team(), title)
            else:
                engine = await self._create_once(chosen.team(), title, once)
            if project := self._projects.get(chosen.name):
                await self.log.set_project(engine.session_id, project)
        return Session(engine.session_id, self)

    def find_project(self, team: str) -> Project | None:
        """Where a team comes from, if it comes from a file or is a built-in one."""
        return self._projects.get(team)

    def offer(self, team: TeamFile, project: Project, folder: Path) -> None:
        """Take a team in, or its file as it is now, while sessions run. Its programs run in `folder`.

        Raises ConfigError if another file has a team of that name, or if the app cannot take teams in.
        """
        loaded = next((each for each in self.teams if each.name == team.name), None)
        known = self._projects.get(team.name)
        if loaded and known != project:
            where = f"of {known.file} " if known else ""
            raise ConfigError(f"a team {team.name!r} {where}is in use already; give one of the two another name")
        if loaded == team:
            return
        if self._load is None:
            raise ConfigError("this process takes no further teams")
        self._load(team, folder)
        self._projects[team.name] = project
        if loaded:
            self.teams[self.teams.index(loaded)] = team
        else:
            self.teams.append(team)

    async def _create_once(self, team: Team, title: str, once: str) -> Engine:
        session_id = f"s_{hashlib.sha256(once.encode()).hexdigest()[:16]}"
        try:
            return await self.sessions.create(team, title, session_id)
        except Conflict:
            engine = await self.sessions.open(session_id)
            if (engine.state.team.name, engine.state.title) != (team.name, title):
                raise CommandReused("this command id made another session before") from None
            return engine

    async def list_waiting(self, member: str | None = None) -> list[InboxItem]:
        """List what waits for this member, or for anybody, in all sessions, oldest first."""
        return await self.waiting.list_items(Principal(token_id="", role=Role.OWNER, member=member), None)

    async def list_takeovers(self, session_id: str) -> list[Takeover]:
        """List the members' conversations that can be opened in their own programs, on this machine."""
        state, _ = await load_state(self.log, session_id)
        return list(list_takeovers(self._conversations, session_id, project(state)))

    def find_need(self, listing: Listing) -> Need | None:
        """What a session needs of people, if anything."""
        return find_need(listing.summary)

    async def join(self, *, acts: bool = True) -> None:
        """Become one of the nodes that share the log, if it is shared. `acts`: play members of these teams here."""
        await self.sessions.join(lambda: [team.name for team in self.teams] if acts else (), __version__)

    async def recover(self) -> int:
        """Go on with every session of these teams that was busy when the last process ended, or when it was removed."""
        return await self.sessions.recover({team.name for team in self.teams})

    def _team(self, name: str | None) -> TeamFile:
        for team in self.teams:
            if name is None or team.name == name:
                return team
        raise Refused("unknown_team", detail=name or "", available=tuple(team.name for team in self.teams))


class Session(Conversation):
    """A session in this process. The handle holds no state: the log does."""

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

    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes:
        return await self._app.changes.list_files(self.id, task=task, turn=turn, offset=offset)

    async def diff(self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> FileDiff:
        return await self._app.changes.read_diff(self.id, path, task=task, turn=turn, offset=offset)

    async def attach(self, data: bytes, name: str) -> Attachment:
        return await self._app.files.put(self.id, data, name)

    async def _run(self, command: HumanCommand | None) -> AsyncGenerator[Event, None]:
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

    async def _run_live(self, command: HumanCommand | None) -> AsyncGenerator[Event | Piece, None]:
        arrived: asyncio.Queue[Event | Piece | None] = asyncio.Queue()

        def hear(session_id: str, event: str, metadata: dict[str, str]) -> None:
            if session_id == self.id:
                arrived.put_nowait(
                    Piece(turn_id=metadata["turn_id"], text=metadata["text"], is_thinking=event == "turn.thinking")
                )

        async def follow() -> None:
            try:
                async for event in self._run(command):
                    arrived.put_nowait(event)
            finally:
                arrived.put_nowait(None)

        self._app.streams.listeners.add(hear)
        following = asyncio.create_task(follow())
        try:
            while (item := await arrived.get()) is not None:
                yield item
            await following
        finally:
            self._app.streams.listeners.discard(hear)
            following.cancel()

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
    projects: Mapping[str, Project] | None = None,
    idle_s: float = IDLE_S,
    max_processes: int = MAX_PROCESSES,
    trees: Path | None = None,
    acts: bool = True,
    plays: Collection[str] = (),
) -> AsyncIterator[App]:
    """Open sessions of these teams in this process.

    Args:
        teams: Paths of team files, names of built-in teams, mappings, or `TeamFile` objects. The first is the default.
        data: This process's own folder; the sessions are kept there too, unless `store` says otherwise.
        store: Where the sessions are kept: a folder, a URL (`sqlite:DIR`, `memory:`, or the scheme of an installed
            store), a `Store`, or an open log, which stays open. Without `store` and `data` they are kept in memory.
        agents: Python functions or objects by member id. They play these members, whatever the team file says.
        clock: The clock of a test.
        max_tasks: How many tasks of plans run at once, in all sessions together.
        folders: Where the programs of a team run, by the team's name; otherwise in the folder of its file.
        trees: Where members' trees lie; by default in the user's cache folder.
        tools: Functions that agents of the supervisor flow may call, besides those that the team file names.
        projects: Where a team comes from, by the team's name; otherwise its file, if it comes from one.
        acts: Whether members are played here, if machines share the store; `plays`: the pools that are, too.
        idle_s, max_processes: How long members' programs are kept between turns, and how many.

    Raises InvalidTeam with every problem of a team, ConfigError for a store that is not known, Unusable or Locked if
    the store cannot be opened. Nobody is asked for trust: who calls this knows the team that it opens.
    """
    root, files = trees or find_trees_folder(), _load_teams(teams)
    projects = {**_find_projects(teams, files), **(projects or {})}
    sockets, clock, sites = MemberSockets(), clock or SystemClock(), dict[str, Worksite]()
    pool = LinkPool(clock, idle_s=idle_s, max_processes=max_processes)
    base = replace(in_data_folder(None if data is None else Path(data)), sockets=sockets, pool=pool)
    find_environment = partial(_find_environment, base, [*_list_hidden(data, store), root], sites)
    folders = {**_find_folders(projects), **(folders or {})}
    environments = {file.name: find_environment(file, folders.get(file.name)) for file in files}
    async with _opened_log(store, data) as log, _held_folder(log, data), pool:
        _tidy_up(clock, log, base)
        toolbox = Toolbox(files, tools or {}, environments)
        roster = Roster(files, _find_players(files, agents or {}), clock, environments, toolbox)
        async with _task_group() as tasks:
            space = GitWorkspaces(root, sites, tasks.create_task, log)
            find = (roster.find, max_tasks, toolbox.find, partial(_release, pool, base.handouts))
            embedded = EmbeddedDispatch(tasks, *find, clock=clock, files=Files(log), workspaces=space)
            minds = Understanders(files, roster.find_understander)
            routed, jobs = _route(embedded, log, clock, tasks, partial(roster.find_pool, plays))
            load, dispatch = partial(_load, roster, minds, find_environment), traced(routed, roster.describe)
            app = build(tasks, files, log, clock, dispatch, minds.find, space, projects, load, jobs, base.conversations)
            async with _closing(app, sockets, dispatch):
                await app.join(acts=acts)
                yield app


@asynccontextmanager
async def _held_folder(log: Log, data: str | Path | None) -> AsyncIterator[None]:
    """Keep other processes from this node's own folder: a log that is shared does not. Raises Locked."""
    if data is None or cluster_of(log) is None:
        yield
        return
    make_private(Path(data))
    lock = FileLock(Path(data) / "node")
    try:
        yield
    finally:
        lock.release()


def _tidy_up(clock: Clock, log: Log, environment: RunEnvironment) -> None:
    """Set the clock, and end and remove what a process left that died: nobody else can have the log, or this folder."""
    _set_clock(clock, log)
    environment.book.end_leftovers()
    environment.handouts.clear()


def _route(
    here: Dispatch, log: Log, clock: Clock, tasks: asyncio.TaskGroup, find_pool: FindPool
) -> tuple[Dispatch, Jobs]:
    """A dispatch that gives turns to workers on other machines too, by the jobs of all nodes or of this process."""
    cluster = cluster_of(log)
    jobs = cluster.jobs if cluster else LocalJobs(clock)
    return RoutedDispatch(here, JobDispatch(jobs, tasks.create_task), find_pool), jobs


def _set_clock(clock: Clock, log: Log) -> None:
    """Have the time of the store if it is shared: the clocks of machines differ."""
    cluster = cluster_of(log)
    if cluster and isinstance(clock, SystemClock):
        clock.offset = lambda: cluster.offset_s


def _release(pool: LinkPool, handouts: Handouts, session_id: str) -> None:
    """End what is kept for a session between its turns."""
    pool.end_session(session_id)
    handouts.forget(session_id)


@asynccontextmanager
async def _closing(app: App, sockets: MemberSockets, dispatch: Dispatch) -> AsyncIterator[None]:
    """Stop what an app does when its block ends."""
    try:
        yield
    finally:
        await app.sessions.close()
        await sockets.close()
        end_spans(dispatch)


@asynccontextmanager
async def _task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks that raises what its body raises as it is: asyncio would wrap it."""
    failure: BaseException | None = None
    async with asyncio.TaskGroup() as tasks:
        try:
            yield tasks
        except BaseException as error:  # raised below, outside of the group
            failure = error
    if failure:
        raise failure


def run_sync(
    team: TeamTarget | TeamFile,
    text: str,
    *,
    to: str | Sequence[str] = (),
    by: str | None = None,
    agents: Mapping[str, AgentFunction | Agent] | None = None,
    data: str | Path | None = None,
) -> str:
    """Say one thing to a team in a new session and return what it answers, as `Session.ask` does.

    The arguments are those of `moot.open` and `Session.ask`. Without `data` nothing is kept.

    Raises:
        TypeError: an event loop is running; use `await session.ask(…)` there.
    """
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise TypeError("moot.run_sync cannot be called from a running event loop; use `await session.ask(…)` there")

    async def ask() -> str:
        async with open_app(team, agents=agents, data=data) as app:
            session = await app.session()
            return await session.ask(text, to=to, by=by)

    return asyncio.run(ask())


def build(
    tasks: asyncio.TaskGroup,
    teams: Sequence[TeamFile],
    log: Log,
    clock: Clock,
    dispatch: Dispatch,
    find_understander: Callable[[str], Understander],
    workspaces: GitWorkspaces | None = None,
    projects: Mapping[str, Project] | None = None,
    load: Callable[[TeamFile, Path], None] | None = None,
    jobs: Jobs | None = None,
    conversations: Conversations | None = None,
) -> App:
    """Wire an app from its parts: the only place that does.

    Its work runs in `tasks`. `find_understander` is given the name of a team; `load` takes in a team later; `jobs` are
    those for workers on other machines; `conversations` are those of members with their programs. The caller closes
    the sessions and then the log.
    """
    sessions = Sessions(log, clock, dispatch, tasks, find_understander, workspaces, jobs)
    return App(list(teams), log, sessions, projects, load, workspaces, conversations)


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


def _load(
    roster: Roster,
    understanders: Understanders,
    find_environment: Callable[[TeamFile, Path], RunEnvironment],
    file: TeamFile,
    folder: Path,
) -> None:
    """Make the agents of a team that is added to an open app."""
    roster.load(file, find_environment(file, folder))
    understanders.load(file)


def _find_folders(projects: Mapping[str, Project]) -> dict[str, Path]:
    return {name: Path(project.folder) for name, project in projects.items() if project.folder}


def _find_environment(
    run_environment: RunEnvironment,
    hidden: list[Path],
    worksites: dict[str, Worksite],
    file: TeamFile,
    folder: Path | None,
) -> RunEnvironment:
    """Where and how the programs of a team run. The repository of a team with trees is added to `worksites`.

    Raises ConfigError if a team cannot have its sandbox or its trees.
    """
    if run_environment.sockets and starts_programs(file):
        hidden = [*hidden, run_environment.sockets.root]
    environment = replace(run_environment, folder=folder, sandbox=_make_sandbox(file, folder, hidden))
    found = find_worksite(file, environment)
    if found:
        worksites[file.name], environment = found
    return environment


def _make_sandbox(team: TeamFile, folder: Path | None, hidden: list[Path]) -> Sandbox:
    """The sandbox of a team that starts programs. Raises ConfigError if it insists on one and there is none."""
    if not starts_programs(team):
        return Sandbox()
    sandbox = make_sandbox(team.sandbox, hidden, folder)
    if team.sandbox == "auto" and sandbox.bubblewrap is None:
        _, problem = find_bubblewrap()
        logger.warning("the programs of %s run without a sandbox and can read your tokens: %s", team.name, problem)
    if sandbox.bubblewrap:
        _make_own_places()
    return sandbox


def _make_own_places() -> None:
    """Make the user's own folders and settings. Nothing can cover what is not there, and a program could put it there:
    a command in settings that it wrote would run outside of the sandbox."""
    with suppress(OSError):
        for folder in (find_data_folder(), find_config_folder()):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = find_settings_file()
        if not settings.is_relative_to(find_config_folder()):
            settings.touch(mode=0o600)  # a file without settings is as good as none


def _load_teams(teams: Sequence[TeamTarget | TeamFile]) -> list[TeamFile]:
    if not teams:
        raise ConfigError("no team to open; name a team file or a built-in team, or build one with moot.team")
    return [team if isinstance(team, TeamFile) else load_team(team) for team in teams]


def _find_players(teams: Sequence[TeamFile], agents: Mapping[str, AgentFunction | Agent]) -> dict[str, Agent]:
    """The agents by member id. Raises ConfigError for an id that no AI has, TypeError for what cannot play one."""
    known = [spec.id for team in teams for spec in team.members if spec.kind is Kind.AI]
    for member in agents:
        if member not in known:
            hint = suggest(member, known, "AI members")
            raise ConfigError(f"agents= names {member!r}, which is not an AI member of these teams; {hint}")
    return {member: as_agent(member, player) for member, player in agents.items()}


def _find_projects(targets: Sequence[TeamTarget | TeamFile], files: Sequence[TeamFile]) -> dict[str, Project]:
    """Team name to its file, for teams that come from one."""
    given = zip(targets, files, strict=True)
    return {
        file.name: Project(str(Path(target).absolute()), str(Path(target).absolute().parent))
        for target, file in given
        if isinstance(target, str | os.PathLike) and Path(target).is_file()
    }
