"""Creates, opens, recovers and evicts the sessions of a log."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Collection

from msgspec.structs import replace

from moot.core import limits
from moot.core.codec import Head, stamp
from moot.core.decide import create
from moot.core.errors import LogError
from moot.core.instants import later
from moot.core.session.commands import CreateSession
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.runtime.engine import Engine, FindUnderstander
from moot.runtime.ports import Clock, Dispatch, Listing, Log, Summary
from moot.runtime.snapshots import load_state
from moot.runtime.streams import Streams
from moot.runtime.summaries import summarise

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
        """Log a new session and open it. Raises Conflict if `session_id` exists."""
        session_id = session_id or f"s_{secrets.token_hex(8)}"
        decided = create(CreateSession(team=team, title=title))
        events = stamp(team, session_id, Head(), decided.facts, self._clock.now())
        await self._log.append(session_id, 0, events, summary=summarise(decided.state))
        # Somebody who asked for the same session may have found it in the log and opened it during the append.
        return self._engines.get(session_id) or self._admit(session_id, decided.state, events[-1].head)

    async def open(self, session_id: str) -> Engine:
        """Return the engine of a session; load it and start what is outstanding if it is not open.

        Raises:
            NotFound: there is no such session.
            Corrupt: its log is damaged.
        """
        engine = self._engines.get(session_id)
        if engine is None:
            async with self._opening:
                engine = self._engines.get(session_id) or await self._load(session_id)
        if session_id in self._engines:  # it may have been evicted or closed meanwhile
            self._engines.move_to_end(session_id)
        return engine

    async def recover(self, teams: Collection[str]) -> int:
        """Open the sessions of these teams that have something outstanding; return how many they are.

        Called after a start and after a session came back from the trash. A session that cannot be read is logged as
        an error and stays closed; the others are opened.
        """
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

    async def listings(self) -> list[Listing]:
        """List the sessions. Open ones are summarised anew, because stored summaries lag behind while AIs talk."""
        return [self._update(listing) for listing in await self._log.sessions()]

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

    def _park(self, session_id: str) -> None:
        engine = self._engines.pop(session_id, None)
        if engine:
            engine.park()

    async def close(self) -> None:
        """Park all engines and save snapshots, so that they open fast."""
        async with self._opening:  # wait for a session that is being opened: it is parked too
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
