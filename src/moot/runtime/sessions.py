"""Creates, opens, recovers and evicts the sessions of a log."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection
from weakref import WeakValueDictionary

from msgspec.structs import replace

from moot.core import limits
from moot.core.codec import Head, stamp
from moot.core.decide import create
from moot.core.errors import LogError, Refused
from moot.core.instants import later
from moot.core.outstanding import outstanding
from moot.core.session.commands import CreateSession
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.session.workspace_commands import TellMissed
from moot.runtime.cluster import FOLLOWING, SOLE, Stake, Standing, cluster_of
from moot.runtime.engine import Engine, FindUnderstander
from moot.runtime.foreman import Foreman
from moot.runtime.ports import Clock, CommandKey, Dispatch, Listing, Log, Summary, Workspaces
from moot.runtime.snapshots import load_state
from moot.runtime.streams import Streams
from moot.runtime.summaries import summarise
from moot.runtime.worker_jobs import Jobs, LocalJobs

logger = logging.getLogger(__name__)

OPEN_SESSIONS = 256  # idle ones beyond this are evicted, the least recently used first


class Sessions:
    """The open engines. Do not keep an engine: call `open` each time, because idle ones are evicted."""

    def __init__(
        self,
        log: Log,
        clock: Clock,
        dispatch: Dispatch,
        tasks: asyncio.TaskGroup,
        find_understander: FindUnderstander,
        workspaces: Workspaces | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        self._workspaces = workspaces
        self._find_understander = find_understander
        self._log = log
        self._cluster = cluster_of(log)
        self._teams: Callable[[], Collection[str]] = tuple  # that this node acts for
        self._missed: set[tuple[str, int]] = set()  # sessions and epochs whose people were told that they wait
        self._clock = clock
        self.dispatch = dispatch
        self.spawn = tasks.create_task
        self.streams = Streams(self._cluster.show if self._cluster else None)
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self.foreman = Foreman(jobs or LocalJobs(clock), self.open, self.streams, self.spawn)
        self._is_closed = False
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # while somebody opens it

    async def create(self, team: Team, title: str = "", session_id: str | None = None) -> Engine:
        """Log a new session and open it. Raises Conflict if `session_id` exists."""
        session_id = session_id or f"s_{secrets.token_hex(8)}"
        decided = create(CreateSession(team=team, title=title, session_id=session_id))
        events = stamp(team, session_id, Head(), decided.facts, self._clock.now())
        summary, standing = summarise(decided.state), SOLE
        if self._cluster:
            stake = Stake(due=bool(outstanding(decided.state)), claims=self._may_claim(team.name))
            standing = await self._cluster.append(session_id, Head(), events, summary=summary, stake=stake)
        else:
            await self._log.append(session_id, Head(), events, summary=summary)
        # Somebody who asked for the same session may have found it in the log and opened it during the append.
        engine = self._engines.get(session_id) or self._admit(session_id, decided.state, events[-1].head, standing)
        engine.act()
        return engine

    async def open(self, session_id: str) -> Engine:
        """Return the engine of a session; load it and start what is outstanding if it is not open.

        Raises:
            NotFound: there is no such session.
            Corrupt: its log is damaged.
        """
        engine = self._engines.get(session_id)
        if engine is None:
            async with self._lock(session_id):
                engine = self._engines.get(session_id) or await self._load(session_id)
        if session_id in self._engines:  # it may have been evicted or closed meanwhile
            self._engines.move_to_end(session_id)
        return engine

    async def recover(self, teams: Collection[str]) -> int:
        """Open the sessions of these teams that have something outstanding; return how many they are.

        Called after a start and after a session came back from the trash. A session that cannot be read is logged as
        an error and stays closed; the others are opened. Nodes that share a log claim what nobody acts for instead.
        """
        if self._cluster:
            await self._cluster.claim()
            return 0
        recovered = 0
        for listing in await self._log.sessions():
            try:
                summary = await self._read_summary(listing)
                if summary.busy and summary.team in teams:
                    await self.open(listing.session_id)
                    recovered += 1
            except LogError as error:
                logger.error("session %s stays closed: %s", listing.session_id, error)  # noqa: TRY400 - one line is enough
        return recovered

    async def _read_summary(self, listing: Listing) -> Summary:
        """The summary of a listing, made from the session's events if the stored one is damaged."""
        if not listing.is_summary_damaged:
            return listing.summary
        logger.warning("session %s: its summary is damaged; its events are read instead", listing.session_id)
        state, _ = await load_state(self._log, listing.session_id)
        return summarise(state)

    def list_open(self) -> list[tuple[str, State]]:
        """The sessions that are open in this process, with their states."""
        return [(session_id, engine.state) for session_id, engine in self._engines.items()]

    def list_running(self) -> list[tuple[str, State]]:
        """The open sessions in which work is under way that needs no human, with their states."""
        return [(session_id, state) for session_id, state in self.list_open() if not state.is_settled]

    async def listings(self) -> list[Listing]:
        """List the sessions. Open ones are summarised from their state: stored summaries lag behind while AIs talk."""
        return [self._update(listing) for listing in await self._log.sessions()]

    async def list_page(self, limit: int, *, before: str | None = None) -> list[Listing]:
        """List a page of sessions by their place, as `Log.list_page`, summarised as `listings` does."""
        return [self._update(listing) for listing in await self._log.list_page(limit, before=before)]

    def _update(self, listing: Listing) -> Listing:
        engine = self._engines.get(listing.session_id)
        return replace(listing, summary=summarise(engine.state)) if engine else listing

    async def remove(self, session_id: str) -> None:
        """Stop a session and move it to the trash; empty the trash of what is too old. Raises NotFound."""
        self._park(session_id)
        await self._log.remove(session_id, self._clock.now())
        await self.empty_trash()

    async def delete(self, session_id: str) -> None:
        """Stop a session and delete it for good, whether or not it is in the trash. Raises NotFound."""
        self._park(session_id)
        await self._log.delete(session_id)

    async def empty_trash(self) -> None:
        """Delete what has been in the trash for longer than `limits.TRASH_S`."""
        oldest = later(self._clock.now(), -limits.TRASH_S)
        for listing in await self._log.sessions(removed=True):
            if listing.removed_at and listing.removed_at < oldest:
                await self._log.delete(listing.session_id)

    async def join(self, teams: Callable[[], Collection[str]], version: str) -> None:
        """Become one of the nodes that share the log, if there are any, and act for sessions of these teams."""
        self._teams = teams
        if self._cluster:
            place = await asyncio.to_thread(self._workspaces.keep_place) if self._workspaces else ""
            await self._cluster.join(self, teams, version, place)

    def _may_claim(self, team: str) -> bool:
        return team in self._teams()

    def hear(self, session_id: str, seq: int) -> None:
        """Another node appended: if the session is open here, take it in."""
        engine = self._engines.get(session_id)
        if engine:
            engine.hear(seq)

    def forget(self, session_id: str) -> None:
        """Close a session that another node removed."""
        self._park(session_id)

    def take_over(self, session_id: str) -> None:
        """This node is the owner of a session in which work is due: open it, or see that it acts."""
        engine = self._engines.get(session_id)
        if not self._is_closed and (engine is None or not engine.is_acting):
            self.spawn(self._take_over(session_id))

    async def _take_over(self, session_id: str) -> None:
        try:
            await (await self.open(session_id)).catch_up()
        except LogError as error:
            logger.error("session %s stays closed: %s", session_id, error)  # noqa: TRY400 - one line is enough

    def miss(self, session_id: str, place: str, epoch: int) -> None:
        """Tell the people of a session, once, that it waits for the machine that has its trees."""
        if (session_id, epoch) not in self._missed and not self._is_closed:
            self._missed.add((session_id, epoch))
            self.spawn(self._tell_missed(session_id, place, epoch))

    async def _tell_missed(self, session_id: str, place: str, epoch: int) -> None:
        key = CommandKey(f"missed/{place}/{epoch}", "")  # whichever node is first
        try:
            await (await self.open(session_id)).submit(TellMissed(place=place), key)
        except (LogError, Refused) as error:
            logger.warning("session %s waits for %s, which is gone: %s", session_id, place, error)

    def let_go(self) -> None:
        """Stop acting for any session: this node could not renew its lease, so that others may begin to."""
        self.foreman.send_away()
        for engine in list(self._engines.values()):
            engine.let_go()

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Show what a member on another node writes."""
        self.streams.tell(session_id, event, turn_id, text)

    def list_followed(self) -> Collection[str]:
        """The sessions that are open here."""
        return list(self._engines)

    def _park(self, session_id: str) -> None:
        engine = self._engines.pop(session_id, None)
        if engine:
            engine.park()

    async def close(self) -> None:
        """Park all engines and save snapshots, so that they open fast. What is due is handed to other nodes."""
        self._is_closed = True
        self.foreman.close()
        for opening in list(self._opening.values()):
            async with opening:
                pass  # wait for a session that is being opened: it is parked too
        engines = list(self._engines.values())
        self._engines.clear()
        for engine in engines:
            engine.park()
        for engine in engines:
            await engine.save_snapshot()
        if self._cluster:
            await self._cluster.leave()

    def _lock(self, session_id: str) -> asyncio.Lock:
        """The lock of those who open this session; others do not wait for it."""
        lock = self._opening.get(session_id)
        if lock is None:
            lock = self._opening[session_id] = asyncio.Lock()
        return lock

    async def _load(self, session_id: str) -> Engine:
        state, head = await load_state(self._log, session_id)
        if self._cluster:
            engine = self._admit(session_id, state, head, FOLLOWING)
            await engine.catch_up()  # and find out who acts for it
        else:
            engine = self._admit(session_id, state, head, SOLE)
            await engine.recover()
        return engine

    def _admit(self, session_id: str, state: State, head: Head, standing: Standing) -> Engine:
        engine = Engine(
            session_id,
            state,
            head,
            log=self._log,
            clock=self._clock,
            dispatch=self.dispatch,
            spawn=self.spawn,
            find_understander=self._find_understander,
            streams=self.streams,
            workspaces=self._workspaces,
            standing=standing,
            may_claim=self._may_claim,
            has_trees_here=self._workspaces.knows if self._workspaces else lambda _: False,
        )
        self._engines[session_id] = engine
        if len(self._engines) > OPEN_SESSIONS:
            self._evict(keep=session_id)
        return engine

    def _evict(self, keep: str) -> None:
        for session_id, engine in self._engines.items():
            if engine.is_idle and session_id != keep:
                del self._engines[session_id]
                self.spawn(engine.save_snapshot())
                return
