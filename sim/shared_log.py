"""A log that several nodes share, on virtual time: the twin of the one in PostgreSQL, with faults between it and them.

It keeps the rules of owners and epochs in a few plain lines, so that runs of the simulator can hold engines, journals
and take-overs to them. How the statements and connections of PostgreSQL keep them is for other tests.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, Diverged, Fenced, LogError, NotFound
from moot.core.evolve import evolve
from moot.core.facts import LOG_VERSION
from moot.core.outstanding import outstanding
from moot.core.session.state import State
from moot.runtime.cluster import PAGE_EVENTS, ClusterListener, Hold, News, Stake, Standing
from moot.runtime.ports import CommandKey, Receipt, Snapshot, Summary
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.postgres.nodes import FENCE, Pace, Suspicion
from sim.disk import run_now
from sim.faults import Faults
from sim.loop import SimLoop, Timeline

PACE = Pace()
POLL_S = 2.0
PATIENCE_S = 5.0  # of a node that cannot reach the store
HOLD_S = 2.0  # that a session is locked at most
LATENCIES_S = (0.0, 0.001, 0.001, 0.01)


def fold(events: Sequence[Event]) -> State:
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    assert state is not None
    return state


class HeadRow(Struct):
    """What the store knows of a session besides its events."""

    team: str
    owner: int | None = None
    epoch: int = 0
    due: bool = False
    holder: object | None = None  # who has locked it
    held_until: float = 0.0


class NodeRow(Struct):
    """A node as the others see it."""

    lease_until: float
    beats: int = 0
    is_alive: bool = True  # its connection stands, and with it its lock


class SharedStore:
    """The one truth: what is in here is durable."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.log = MemoryLog()
        self.heads: dict[str, HeadRow] = {}
        self.nodes: dict[int, NodeRow] = {}
        self.links: list[NodeLog] = []
        self.violations: list[str] = []
        self._last_node = 0

    @property
    def now_s(self) -> float:
        return self._timeline.now_s

    def session_ids(self) -> list[str]:
        return list(self.heads)

    def events_of(self, session_id: str) -> list[Event]:
        return self.log._sessions[session_id].events

    def enter(self) -> int:
        self._last_node += 1
        self.nodes[self._last_node] = NodeRow(self.now_s + PACE.lease_s)
        return self._last_node

    def is_locked(self, session_id: str) -> bool:
        row = self.heads.get(session_id)
        return row is not None and row.holder is not None and self.now_s < row.held_until

    def append(
        self,
        node: int | None,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        command: CommandKey | None,
        summary: Summary | None,
        stake: Stake,
    ) -> Standing:
        """Append, and let the node become the owner if it may. Raises Conflict, Fenced."""
        row = self.heads.get(session_id) or HeadRow(summary.team if summary else "")
        if not self.may_append(row, node, stake):
            raise Fenced(f"session {session_id} has epoch {row.epoch} by now")
        run_now(self.log.append(session_id, expected, events, command=command, summary=summary))
        if stake.epoch is not None and (row.owner, row.epoch) != (node, stake.epoch):
            self.violations.append(f"{session_id}: node {node} wrote under epoch {stake.epoch} in epoch {row.epoch}")
        self.heads[session_id] = row
        if stake.claims and stake.due and node is not None and (row.owner is None or not row.due):
            row.epoch += row.owner != node
            row.owner = node
        row.due = stake.due
        return self.stand(session_id, node)

    def may_append(self, row: HeadRow, node: int | None, stake: Stake) -> bool:
        return stake.epoch is None or (row.owner, row.epoch) == (node, stake.epoch)

    def stand(self, session_id: str, node: int | None) -> Standing:
        row = self.heads[session_id]
        return Standing(node is not None and row.owner == node, row.epoch)

    def read_news(self, session_id: str, after: Head, node: int | None) -> News:
        session = self.log._sessions.get(session_id)
        if session is None:
            raise NotFound(f"no session {session_id}")
        if after.seq and (len(session.events) < after.seq or session.events[after.seq - 1].head != after):
            raise Diverged(f"session {session_id} has another event {after.seq}")
        return News(session.events[after.seq : after.seq + PAGE_EVENTS], self.stand(session_id, node))

    def claim(self, node: int, teams: Collection[str], dead: Collection[int]) -> int:
        """Give a node what is due and belongs to nobody who lives. Returns how many sessions that are."""
        claimed = 0
        for session_id, row in self.heads.items():
            is_free = row.owner is None or row.owner in dead or row.owner not in self.nodes
            if self.is_claimable(row) and row.team in teams and is_free:
                row.owner, row.epoch = node, row.epoch + 1
                claimed += 1
                if not outstanding(fold(self.events_of(session_id))):
                    self.violations.append(f"{session_id} was taken over, and nothing is due in it")
        return claimed

    def list_due(self, node: int) -> list[str]:
        """List what is due and the node's own."""
        return [session_id for session_id, row in self.heads.items() if row.owner == node and row.due]

    def is_claimable(self, row: HeadRow) -> bool:
        return row.due

    def leave(self, node: int) -> None:
        for row in self.heads.values():
            if row.owner == node and row.due:
                row.owner, row.epoch = None, row.epoch + 1
        self.nodes.pop(node, None)


class NodeLog(MemoryLog):
    """Implements the Log port for one life of a node. `is_cut`: nothing passes between it and the store.

    `suspend` stops the process of the node for a while.
    """

    def __init__(self, store: SharedStore, loop: SimLoop, faults: Faults, suspend: Callable[[], None]) -> None:
        super().__init__()
        self._sessions = store.log._sessions
        self.store = store
        self.loop = loop
        self.faults = faults
        self.is_cut = False
        self.suspend = suspend
        self.cluster = SimCluster(self)
        store.links.append(self)

    async def travel(self, patience_s: float = PATIENCE_S) -> None:
        """Be on the way to the store, or back. Raises LogError if nothing passes for too long."""
        since = self.loop.time()
        await asyncio.sleep(self.faults.chance.choice(LATENCIES_S))
        while self.is_cut:
            if self.loop.time() - since > patience_s:
                raise LogError("the store cannot be reached")
            await asyncio.sleep(0.1)

    async def read(self, session_id: str, after: int = 0, limit: int = PAGE_EVENTS) -> list[Event]:
        await self.travel()
        return await super().read(session_id, after, limit)

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        await self.travel()
        return await super().find_command(session_id, command_id)

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        await self.travel()
        return await super().load_snapshot(session_id)

    async def close(self) -> None:
        self._closed = True


class SimHold:
    """Implements the Hold port."""

    def __init__(self, log: NodeLog, session_id: str, head: Head, news: News, node: int | None) -> None:
        self.news = news
        self._log = log
        self._session_id = session_id
        self._head = news.events[-1].head if news.events else head
        self._node = node

    async def append(
        self, events: Sequence[Event], *, command: CommandKey | None, summary: Summary | None, stake: Stake
    ) -> Standing:
        log, row = self._log, self._log.store.heads[self._session_id]
        await log.travel()
        if row.holder is not self or log.store.now_s >= row.held_until:
            raise Conflict(f"session {self._session_id} was unlocked; decide again")
        standing = log.store.append(self._node, self._session_id, self._head, events, command, summary, stake)
        log.cluster.tell(self._session_id, events[-1].seq, stake)
        await log.travel(float("inf"))
        return standing


class SimCluster:
    """Implements the Cluster port: a node's lease, its watchdog, its claims, and news of what others wrote."""

    documents: Any = None
    jobs: Any = None
    offset_s = 0.0
    log_version = LOG_VERSION

    def __init__(self, log: NodeLog) -> None:
        self._log = log
        self._store = log.store
        self._listener: ClusterListener | None = None
        self._teams: Callable[[], Collection[str]] = tuple
        self.id: int | None = None
        self._renewed_at = 0.0
        self._suspicion = Suspicion(PACE.suspect_s)
        self._dead: set[int] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_leaving = False

    # acting

    async def join(
        self,
        listener: ClusterListener,
        teams: Callable[[], Collection[str]],
        version: str = "",  # noqa: ARG002 - for operators
        place: str = "",  # noqa: ARG002 - there are no trees here
    ) -> None:
        self._listener, self._teams = listener, teams
        await self._beat()
        self._tasks = [asyncio.create_task(loop()) for loop in (self._keep_beating, self._watch, self._poll)]
        await self.claim()

    async def leave(self) -> None:
        self._is_leaving = True
        for task in self._tasks:
            task.cancel()
        me, self.id = self.id, None
        if me is not None:
            await self._log.travel()
            self._store.leave(me)
            self._wake_others(lambda other: other.claim_soon())

    async def claim(self) -> None:
        me, listener = self.id, self._listener
        if me is None or listener is None:
            return
        await self._log.travel()
        for _ in range(self._store.claim(me, self._teams(), self._dead)):
            self._log.faults.count("session taken over")
        mine = self._store.list_due(me)
        await self._log.travel()
        if self.id == me:
            for session_id in mine:
                listener.take_over(session_id)

    def claim_soon(self) -> None:
        if not self._is_leaving:
            self._tasks.append(asyncio.create_task(self._claim_quietly()))

    async def _claim_quietly(self) -> None:
        try:
            await self.claim()
        except LogError:
            return

    async def _beat(self) -> None:
        began, me = self._log.loop.time(), self.id
        await self._log.travel()
        if me is None:
            me = self._store.enter()
            self.id, self._renewed_at = me, began
        row = self._store.nodes[me]
        row.beats, row.lease_until = row.beats + 1, self._store.now_s + PACE.lease_s
        others = [
            (node, each.beats, not each.is_alive or each.lease_until < self._store.now_s)
            for node, each in self._store.nodes.items()
            if node != me
        ]
        await self._log.travel()
        if self.id == me:
            self._renewed_at = began
            self._dead = self._suspicion.look(self._log.loop.time(), others, PACE.beat_s)

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(PACE.beat_s)
            try:
                await self._beat()
                await self.claim()
            except LogError:
                continue

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PACE.lease_s / 20)
            if self.id is not None and self._log.loop.time() - self._renewed_at > FENCE * PACE.lease_s:
                self.id = None
                self._log.faults.count("lease lost")
                cast("ClusterListener", self._listener).let_go()

    # writing and reading

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
        stake: Stake,
    ) -> Standing:
        await self._log.travel()
        await self._wait_for(session_id)
        if stake.epoch is not None and self._log.faults.strikes("node suspended while it writes"):
            self._log.suspend()
            await asyncio.sleep(0)
        try:
            standing = self._store.append(self.id, session_id, expected, events, command, summary, stake)
        except Fenced:
            self._log.faults.count("owner fenced")
            raise
        self.tell(session_id, events[-1].seq, stake)
        if self._log.faults.strikes("answer of an append lost"):
            raise LogError("whether it was written is not known")
        await self._log.travel(float("inf"))
        return standing

    async def catch_up(self, session_id: str, after: Head) -> News:
        if self.id is None and self._listener is not None:
            raise LogError("this server is cut off from the store")
        await self._log.travel()
        news = self._store.read_news(session_id, after, self.id)
        await self._log.travel()
        return news

    def locked(self, session_id: str, after: Head) -> AbstractAsyncContextManager[Hold]:
        return self._lock(session_id, after)

    @asynccontextmanager
    async def _lock(self, session_id: str, after: Head) -> AsyncIterator[Hold]:
        store, me = self._store, self.id
        await self._log.travel()
        await self._wait_for(session_id)
        hold = SimHold(self._log, session_id, after, store.read_news(session_id, after, me), me)
        row = store.heads[session_id]
        row.holder, row.held_until = hold, store.now_s + HOLD_S
        self._log.faults.count("decided under the lock")
        try:
            await self._log.travel()
            yield hold
        finally:
            if row.holder is hold:
                row.holder = None

    async def _wait_for(self, session_id: str) -> None:
        while self._store.is_locked(session_id):  # noqa: ASYNC110 - as a server with a row
            await asyncio.sleep(0.01)

    async def settle(self, session_id: str, head: Head, epoch: int) -> None:
        await self._log.travel()
        row = self._store.heads[session_id]
        if (row.owner, row.epoch) == (self.id, epoch) and self._store.events_of(session_id)[-1].head == head:
            row.due = False

    # news

    def tell(self, session_id: str, seq: int, stake: Stake) -> None:
        self._wake_others(lambda other: other.hear(session_id, seq))
        if stake.due and not stake.claims and stake.epoch is None:
            self._wake_others(lambda other: other.claim_soon())

    def _wake_others(self, wake: Callable[["SimCluster"], None]) -> None:
        """Wake the other nodes, some late and some never."""
        faults = self._log.faults
        for other in self._store.links:
            if other is self._log or faults.strikes("wake-up lost"):
                continue
            delay_s = faults.chance.choice([0.5, 5.0]) if faults.strikes("wake-up delayed") else 0.001
            other.loop.call_later(delay_s, wake, other.cluster)

    def hear(self, session_id: str, seq: int) -> None:
        if self._listener is not None and not self._is_leaving:
            self._listener.hear(session_id, seq)

    async def _poll(self) -> None:
        """Make up for wake-ups that were lost."""
        while True:
            await asyncio.sleep(POLL_S)
            try:
                await self._log.travel()
            except LogError:
                continue
            for session_id in cast("ClusterListener", self._listener).list_followed():
                if session_id in self._store.heads:
                    self.hear(session_id, len(self._store.events_of(session_id)))

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Carry nothing: pieces may be dropped."""

    async def check_ready(self) -> None:
        """Be ready."""

    async def read_status(self) -> Any:
        raise LogError("nobody asks")

    def measure(self) -> list[Any]:
        return []
