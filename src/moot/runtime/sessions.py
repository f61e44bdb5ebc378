"""The sessions of a log: made, opened, recovered after a crash, and evicted when nobody needs them in memory."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Collection

from msgspec.structs import replace

from moot.core import limits
from moot.core.codec import Head, stamp
from moot.core.commands import CreateSession
from moot.core.decide import create
from moot.core.errors import LogError
from moot.core.instants import later
from moot.core.state import State
from moot.core.team import Team
from moot.runtime.engine import Engine, FindUnderstander
from moot.runtime.journal import summarise
from moot.runtime.ports import Clock, Dispatch, Listing, Log
from moot.runtime.snapshots import load_state
from moot.runtime.streams import Streams

logger = logging.getLogger(__name__)

OPEN_SESSIONS = 256  # idle ones beyond this are evicted, the least recently used first


class Sessions:
    """Engines by session id. Ask for an engine each time it is needed: an idle one may be evicted in between."""

    def __init__(
        self,
        log: Log,
        clock: Clock,
        dispatch: Dispatch,
        tasks: asyncio.TaskGroup,
        find_understander: FindUnderstander,
    ) -> None:
        self._find_understander = find_understander
        self._log = log
        self._clock = clock
        self._dispatch = dispatch
        self.spawn = tasks.create_task
        self.streams = Streams()
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._opening = asyncio.Lock()

    async def create(self, team: Team, title: str = "", session_id: str | None = None) -> Engine:
        session_id = session_id or f"s_{secrets.token_hex(8)}"
        decided = create(CreateSession(team=team, title=title))
        events = stamp(team, session_id, Head(), decided.facts, self._clock.now())
        await self._log.append(session_id, 0, events, summary=summarise(decided.state))
        return self._admit(session_id, decided.state, events[-1].head)

    async def open(self, session_id: str) -> Engine:
        """The session's engine, with everything outstanding under way. Raises NotFound, Corrupt."""
        engine = self._engines.get(session_id)
        if engine is None:
            async with self._opening:
                engine = self._engines.get(session_id) or await self._load(session_id)
        if session_id in self._engines:  # else it was evicted or closed just now
            self._engines.move_to_end(session_id)
        return engine

    async def recover(self, teams: Collection[str]) -> int:
        """After a start: open what was busy when the last process ended. A damaged session does not hurt the others.

        The same for what comes back from the trash.
        """
        recovered = 0
        for listing in await self._log.sessions():
            if not listing.summary.busy or listing.summary.team not in teams:
                continue
            try:
                await self.open(listing.session_id)
                recovered += 1
            except LogError as error:
                logger.error("session %s stays closed: %s", listing.session_id, error)  # noqa: TRY400 - one line is enough
        return recovered

    async def listings(self) -> list[Listing]:
        """The log's, with what is being said this moment: a summary is written when the floor changes hands."""
        return [self._update(listing) for listing in await self._log.sessions()]

    def _update(self, listing: Listing) -> Listing:
        engine = self._engines.get(listing.session_id)
        return replace(listing, summary=summarise(engine.state)) if engine else listing

    async def remove(self, session_id: str) -> None:
        """To the trash, whatever it was doing; what was there for 30 days is deleted. Raises NotFound."""
        self._park(session_id)
        await self._log.remove(session_id, self._clock.now())
        await self.empty_trash()

    async def delete(self, session_id: str) -> None:
        """For good, from the trash or not. Raises NotFound."""
        self._park(session_id)
        await self._log.delete(session_id)

    async def empty_trash(self) -> None:
        oldest = later(self._clock.now(), -limits.TRASH_S)
        for listing in await self._log.sessions(removed=True):
            if listing.removed_at and listing.removed_at < oldest:
                await self._log.delete(listing.session_id)

    def _park(self, session_id: str) -> None:
        engine = self._engines.pop(session_id, None)
        if engine:
            engine.park()

    async def close(self) -> None:
        """Park what runs and save what a quick start needs."""
        async with self._opening:  # one that is being opened is parked too
            engines = list(self._engines.values())
            self._engines.clear()
        for engine in engines:
            engine.park()
        for engine in engines:
            await engine.save_snapshot()

    async def _load(self, session_id: str) -> Engine:
        state, head = await load_state(self._log, session_id)
        engine = self._admit(session_id, state, head)
        await engine.recover()
        return engine

    def _admit(self, session_id: str, state: State, head: Head) -> Engine:
        engine = Engine(
            session_id,
            state,
            head,
            log=self._log,
            clock=self._clock,
            dispatch=self._dispatch,
            spawn=self.spawn,
            find_understander=self._find_understander,
            streams=self.streams,
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
