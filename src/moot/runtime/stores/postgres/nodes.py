"""A node's membership: its lease, who else lives, and what it takes over.

A node beats once a second on a connection of its own, where it also listens. It is dead to another node when that one
has seen no beat for a while by its own clock, and the lock of the node is free or its lease has run out: so a server
that was away, or whose clock jumps, kills nobody. A node that cannot renew its lease stops everything at three quarters
of it, before others may take over. That watchdog is a task of its own, because a beat may hang.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from moot.core.errors import LogError, Unusable
from moot.core.facts import LOG_VERSION
from moot.runtime.clock import boottime
from moot.runtime.cluster import ClusterListener
from moot.runtime.stores.postgres import tables, wakes
from moot.runtime.stores.postgres.links import RETRY_S, Address, BrokenLink, check_durability, connect, translate
from moot.runtime.worker_jobs import LEASE_S

if TYPE_CHECKING:
    import asyncpg

logger = logging.getLogger(__name__)

LOCK_CLASS = 0x4D4F  # of the advisory locks by which a node shows that its process lives
TAKEN_OVER = ("unowned", "dead")  # what was claimed: what had been handed over; what a node that is gone acted for
FENCE = 0.75  # of the lease
PING_S = 2.0
FORGET_S = 60.0  # after its lease a dead node that owns nothing due is forgotten

_JOIN = (
    "INSERT INTO moot.nodes (name, version, teams, lease_until, place, log_version)"
    " VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 second', $5, $6) RETURNING id"
)
_BEAT = """
WITH mine AS (UPDATE moot.nodes SET beats = beats + 1, teams = $4,
   lease_until = clock_timestamp() + $2 * interval '1 second' WHERE id = $1 RETURNING id)
SELECT n.id, n.beats, n.lease_until < clock_timestamp() AS is_late, EXISTS (SELECT 1 FROM mine) AS am_known,
  NOT EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = $3 AND l.objid = n.id::int::oid
    AND l.objsubid = 2 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is_free,
  extract(epoch FROM clock_timestamp())::float8 AS now, n.log_version
FROM moot.nodes n
"""
_LOG_VERSION = "SELECT coalesce(min(log_version), $1::int) FROM moot.nodes"
# What is due and belongs to nobody who lives; and what is ours in the store, whether we know it or not.
_OWNERLESS = (
    "h.due AND NOT h.removed AND s.team = ANY($2) AND (h.owner IS NULL OR h.owner = ANY($3)"
    " OR NOT EXISTS (SELECT 1 FROM moot.nodes n WHERE n.id = h.owner))"
)
_CLAIM = f"""
WITH free AS (SELECT h.session, s.id, CASE WHEN h.owner IS NULL THEN 'unowned' ELSE 'dead' END AS why
   FROM moot.heads h JOIN moot.sessions s ON s.key = h.session
   WHERE {_OWNERLESS} AND (h.place IS NULL OR h.place = $4)
   LIMIT 100 FOR NO KEY UPDATE OF h SKIP LOCKED)
UPDATE moot.heads h SET owner = $1, epoch = h.epoch + 1 FROM free WHERE h.session = free.session
RETURNING free.id, free.why
"""
# Those among them whose trees are where no node lives.
_MISSED = f"""
SELECT s.id, h.place, h.epoch FROM moot.heads h JOIN moot.sessions s ON s.key = h.session
WHERE {_OWNERLESS} AND h.place <> $1 AND NOT EXISTS
  (SELECT 1 FROM moot.nodes n WHERE n.place = h.place AND n.id <> ALL($3)) LIMIT 100
"""
_MINE = (
    "SELECT s.id FROM moot.heads h JOIN moot.sessions s ON s.key = h.session"
    " WHERE h.owner = $1 AND h.due AND NOT h.removed"
)
_LEAVE = "UPDATE moot.heads SET owner = NULL, epoch = epoch + 1 WHERE owner = $1 AND due AND NOT removed"
_BURY = (
    "DELETE FROM moot.nodes n WHERE n.id = ANY($1) AND n.lease_until < clock_timestamp() - $2 * interval '1 second'"
    " AND NOT EXISTS (SELECT 1 FROM moot.heads h WHERE h.owner = n.id AND h.due AND NOT h.removed)"
)


class Pace(Struct, frozen=True, kw_only=True):
    """How often a node sends a heartbeat, when others suspect it, and how long its lease is and that of a worker."""

    beat_s: float = 1.0
    suspect_s: float = 2.0
    lease_s: float = 20.0
    worker_lease_s: float = LEASE_S


class Suspicion:
    """Which nodes are dead, from what beats have shown and when this node looked. No I/O."""

    def __init__(self, suspect_s: float) -> None:
        self._suspect_s = suspect_s
        self._seen: dict[int, tuple[int, float]] = {}  # node: beats, and how long this node saw them unchanged
        self._looked_at: float | None = None

    def look(self, now: float, nodes: Collection[tuple[int, int, bool]], period_s: float) -> set[int]:
        """Take in what a beat showed: node, beats, whether its lease is late or its lock free. Returns the dead.

        Time in which this node could not look does not count.
        """
        passed = 0.0 if self._looked_at is None else min(now - self._looked_at, 2 * period_s)
        self._looked_at = now
        dead: set[int] = set()
        seen: dict[int, tuple[int, float]] = {}
        for node, beats, is_suspicious in nodes:
            known = self._seen.get(node)
            unchanged_s = known[1] + passed if known and known[0] == beats else 0.0
            seen[node] = (beats, unchanged_s)
            if is_suspicious and unchanged_s >= self._suspect_s:
                dead.add(node)
        self._seen = seen
        return dead


class Node:
    """This process as a node. `id` is None while it may own nothing.

    Args:
        on_wake: called with kind and items of each wake-up of others.
        cut: drops the connections that writes are waiting on.
    """

    def __init__(
        self,
        address: Address,
        name: str,
        sender: str,
        pace: Pace,
        on_wake: Callable[[str, list[list[str | int]]], None],
        cut: Callable[[], None],
    ) -> None:
        self._address = address
        self.name = name
        self._sender = sender
        self.pace = pace
        self._on_wake = on_wake
        self._cut = cut
        self.id: int | None = None
        self.others = 0  # that live
        self.offset_s = 0.0  # of the server's clock to ours
        self._offsets: list[float] = []
        self.log_version = 0  # of what all nodes can read
        self.is_listening = False
        self._listener: ClusterListener | None = None
        self._teams: Callable[[], Collection[str]] = tuple
        self._version = ""
        self.place = ""
        self._missed: dict[tuple[str, int], float] = {}  # session and epoch: since when its trees' machine is gone
        self._connection: asyncpg.Connection | None = None
        self._using = asyncio.Lock()
        self._suspicion = Suspicion(pace.suspect_s)
        self._dead: set[int] = set()
        self._renewed_at = 0.0  # boottime at the start of the last beat that succeeded
        self._pinged: asyncio.Event | None = None
        self._is_leaving = False
        self._tasks: list[asyncio.Task[None]] = []
        self.counts = dict.fromkeys((*TAKEN_OVER, "fenced", "rejoined"), 0)
        self.owned = 0  # sessions with work that this node acts for
        self._wake_lag_s = 0.0
        self._pinged_at: float | None = None  # while a ping is on its way

    @property
    def is_lost(self) -> bool:
        """Whether this node failed to renew its lease and has not joined again."""
        return self.id is None and self._listener is not None and not self._is_leaving

    @property
    def lease_left_s(self) -> float:
        """Return for how many seconds this node may act without another heartbeat."""
        return self._renewed_at + self.pace.lease_s - boottime() if self.id is not None else 0.0

    @property
    def wake_lag_s(self) -> float:
        """Return how long the last wake-up to oneself took, or takes so far."""
        pending_s = 0.0 if self._pinged_at is None else time.monotonic() - self._pinged_at
        return max(self._wake_lag_s, pending_s)

    def ping(self, send: Callable[[], None]) -> None:
        """Send a wake-up to oneself. The time of one that was lost goes on with it."""
        if self._pinged_at is None:
            self._pinged_at = time.monotonic()
        send()

    async def listen(self) -> None:
        """Connect if necessary, and listen for wake-ups. Raises LogError."""
        await self._use(_do_nothing)

    async def join(
        self, listener: ClusterListener, teams: Callable[[], Collection[str]], version: str, place: str
    ) -> None:
        self._listener, self._teams, self._version, self.place = listener, teams, version, place
        await self._use(self._enter)
        await self._beat()
        loops = ((self._keep_beating, "moot-pg-beat"), (self._watch, "moot-pg-watchdog"))
        self._tasks += [asyncio.create_task(loop(), name=name) for loop, name in loops]
        await self.claim()

    async def leave(self, tell: Callable[[], None]) -> None:
        """Give up what is due; `tell` says so to the others."""
        self._is_leaving = True
        await self._stop()
        me, self.id = self.id, None
        if me is None:
            return

        async def give_up(connection: "asyncpg.Connection") -> None:
            async with connection.transaction():
                await connection.execute(_LEAVE, me)
                await connection.execute("DELETE FROM moot.nodes WHERE id = $1", me)

        try:
            await asyncio.wait_for(self._use(give_up), 5.0)
            tell()
        except (LogError, TimeoutError) as error:
            logger.warning("node %s could not hand over: %s; the others will find out", self.name, error)

    async def close(self) -> None:
        self._is_leaving = True
        await self._stop()
        self._drop()

    async def claim(self) -> None:
        """Take over what is due and belongs to nobody alive; tell the listener about all that is due and ours."""
        me, listener = self.id, self._listener
        if me is None or listener is None:
            return
        teams = list(self._teams())
        claimed: list[Any] = []
        if teams:
            values = (teams, list(self._dead))
            claimed = await self._use(lambda connection: connection.fetch(_CLAIM, me, *values, self.place))
            missed = await self._use(lambda connection: connection.fetch(_MISSED, self.place, *values))
            self._tell_missed(listener, [(row["id"], row["place"], row["epoch"]) for row in missed])
        for row in claimed:
            logger.info("node %s takes over session %s (%s)", self.name, row["id"], row["why"])
            self.counts[row["why"]] += 1
        if dead := sum(row["why"] == "dead" for row in claimed):
            logger.warning("node %s takes over %d sessions of a node that is gone", self.name, dead)
        mine = await self._use(lambda connection: connection.fetch(_MINE, me))
        self.owned = len(mine)
        if self.id == me:
            for row in mine:
                listener.take_over(row["id"])

    def _tell_missed(self, listener: ClusterListener, missed: list[tuple[str, str, int]]) -> None:
        """Tell of sessions that nobody can act for, once their machine is gone for longer than a restart takes."""
        now = boottime()
        self._missed = {(each, epoch): self._missed.get((each, epoch), now) for each, _, epoch in missed}
        for session_id, place, epoch in missed:
            if now - self._missed[session_id, epoch] >= self.pace.lease_s:
                listener.miss(session_id, place, epoch)

    async def _stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _use(self, call: Callable[["asyncpg.Connection"], Any]) -> Any:
        async with self._using:
            connection = await self._connect()
            # Some peers take what is sent and never answer. To cancel would be to send a CancelRequest.
            patience = asyncio.get_running_loop().call_later(self.pace.lease_s, self._drop)
            try:
                if not self.is_listening:
                    await self._begin_listening(connection)
                return await call(connection)
            except asyncio.CancelledError:
                self._drop()
                raise
            except Exception as error:
                translated = error if isinstance(error, LogError) else translate(error, self._address)
                is_unfit = connection.is_closed() or connection.is_in_transaction() or not self.is_listening
                if isinstance(translated, BrokenLink) or is_unfit:
                    self._drop()
                raise translated from error
            finally:
                patience.cancel()

    async def _connect(self) -> "asyncpg.Connection":
        """The connection, made anew if it broke."""
        connection = self._connection
        if connection is None or connection.is_closed():
            self.is_listening = False
            connection = self._connection = await connect(self._address)
        return connection

    async def _begin_listening(self, connection: "asyncpg.Connection") -> None:
        await check_durability(connection, self._address)
        await tables.check(connection, self._address)
        self.log_version = await connection.fetchval(_LOG_VERSION, LOG_VERSION)
        await connection.add_listener(wakes.CHANNEL, self._hear)
        await self._ping(connection)
        if self.id is not None:
            await connection.execute("SELECT pg_try_advisory_lock($1, $2)", LOCK_CLASS, self.id)
        self.is_listening = True

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self.is_listening = False
        if connection is not None:
            connection.terminate()

    async def _ping(self, connection: "asyncpg.Connection") -> None:
        """Check that notifications arrive: a pooler in transaction mode accepts LISTEN and delivers nothing."""
        self._pinged, self._pinged_at = asyncio.Event(), time.monotonic()
        [payload] = wakes.make_payloads(self._sender, "p", [("", 0)])
        await connection.execute("SELECT pg_notify($1, $2)", wakes.CHANNEL, payload)
        try:
            async with asyncio.timeout(PING_S):
                await self._pinged.wait()
        except TimeoutError:
            raise Unusable(
                f"{self._address.shown} does not deliver notifications: it is a pooler in transaction mode; "
                "set MOOT_STORE_DIRECT to the URL of the server itself"
            ) from None

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        wake = wakes.read_wake(str(payload))
        if wake is None:
            return
        sender, kind, items = wake
        if kind == "p":
            if sender == self._sender:
                self._hear_ping()
        elif sender != self._sender:
            if kind == "o":
                asyncio.get_running_loop().create_task(self._claim_quietly())
            self._on_wake(kind, items)

    def _hear_ping(self) -> None:
        if self._pinged_at is not None:
            self._wake_lag_s, self._pinged_at = time.monotonic() - self._pinged_at, None
        if self._pinged:
            self._pinged.set()

    async def _claim_quietly(self) -> None:
        try:
            await self.claim()
        except LogError as error:
            logger.info("node %s could not claim: %s", self.name, error)

    async def _enter(self, connection: "asyncpg.Connection") -> None:
        began = boottime()
        values = (self.name, self._version, list(self._teams()), self.pace.lease_s, self.place, LOG_VERSION)
        me: int = await connection.fetchval(_JOIN, *values)
        await connection.execute("SELECT pg_try_advisory_lock($1, $2)", LOCK_CLASS, me)
        self._renewed_at = began
        self.id = me

    async def _beat(self) -> None:
        """Renew the lease and see who else lives. A node that others have buried, or that was lost, joins anew."""
        began, me = boottime(), self.id
        if me is None:
            await self._use(self._enter)
            self.counts["rejoined"] += 1
            logger.warning("node %s is back as node %s", self.name, self.id)
            return
        values = (me, self.pace.lease_s, LOCK_CLASS, list(self._teams()))
        rows = await self._use(lambda connection: connection.fetch(_BEAT, *values))
        if self.id != me:
            return  # the watchdog was faster
        if not any(row["id"] == me and row["am_known"] for row in rows):
            self._lose("the others have given it up")
            return
        self._renewed_at = began
        self._note_offset(rows[0]["now"])
        self.log_version = min(row["log_version"] for row in rows)
        seen = [(row["id"], row["beats"], row["is_late"] or row["is_free"]) for row in rows if row["id"] != me]
        self._dead = self._suspicion.look(boottime(), seen, self.pace.beat_s)
        self.others = len(seen) - len(self._dead)
        if self._dead:
            await self._use(lambda connection: connection.execute(_BURY, list(self._dead), FORGET_S))

    def _note_offset(self, server_now: float) -> None:
        self._offsets = [*self._offsets[-4:], server_now - time.time()]
        self.offset_s = sorted(self._offsets)[len(self._offsets) // 2]

    async def _keep_beating(self) -> None:
        failures = 0
        while not self._is_leaving:
            pause_s = RETRY_S[min(failures, len(RETRY_S) - 1)] if failures else self.pace.beat_s
            await asyncio.sleep(min(pause_s, self.pace.beat_s))
            try:
                await self._beat()
                await self.claim()
                failures = 0
            except LogError as error:
                if not failures:
                    logger.warning("node %s: %s", self.name, error)
                failures += 1
            except Exception:
                logger.exception("node %s: a beat failed", self.name)
                failures += 1

    async def _watch(self) -> None:
        """Stop acting when the lease was not renewed in time, even while the heartbeat waits for the server."""
        while not self._is_leaving:
            fence_at = self._renewed_at + FENCE * self.pace.lease_s
            left_s = fence_at - boottime()
            if self.id is not None and left_s <= 0:
                self._lose("its lease could not be renewed")
            await asyncio.sleep(max(0.01, min(left_s if self.id is not None else 0.25, self.pace.lease_s / 20)))

    def _lose(self, why: str) -> None:
        self.id, self.owned = None, 0
        self.counts["fenced"] += 1
        logger.warning("node %s stops its agents: %s", self.name, why)
        if self._listener:
            self._listener.let_go()
        self._drop()  # what hangs, hangs no longer; whatever was sent is sent again
        self._cut()


async def _do_nothing(_connection: "asyncpg.Connection") -> None: ...
