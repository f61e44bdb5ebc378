"""The log in PostgreSQL: durable when `append` returns, shared by any number of nodes."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Self

from moot.core import limits
from moot.core.codec import Event, Head
from moot.core.errors import Diverged, LogError, NotFound, Unusable
from moot.core.search_words import Term
from moot.runtime.cluster import ClusterListener, ClusterStatus, Hold, News, Sample, Stake, Standing
from moot.runtime.ports import CommandKey, Listing, Place, Project, Receipt, Snapshot, Summary
from moot.runtime.stores.conflicts import check_append
from moot.runtime.stores.postgres import statements, tables
from moot.runtime.stores.postgres.documents import PgDocuments
from moot.runtime.stores.postgres.holding import held
from moot.runtime.stores.postgres.links import Address, Pool
from moot.runtime.stores.postgres.nodes import FENCE, TAKEN_OVER, Node, Pace
from moot.runtime.stores.postgres.pg_jobs import PgJobs
from moot.runtime.stores.postgres.pieces import Pieces
from moot.runtime.stores.postgres.reader import Reader
from moot.runtime.stores.postgres.search import search
from moot.runtime.stores.postgres.status import read_status
from moot.runtime.stores.postgres.wakes import Teller
from moot.runtime.stores.postgres.writer import CONFLICTS, Append, Statement, Writer
from moot.runtime.stores.tails import Tails

logger = logging.getLogger(__name__)

READERS = 2
HOLDERS = 2
POLL_S = 2.0  # a wake-up that was lost is made up for after this


class PgLog:
    """Implements the Log port; created by `open`. `cluster` is this process's place among the nodes."""

    def __init__(self, address: Address, direct: Address, name: str, pace: Pace, *, needs_standby: bool) -> None:
        sender = secrets.token_hex(6)
        self.address = address
        self._needs_standby = needs_standby
        self._pool = Pool(address, READERS, FENCE * pace.lease_s)
        self._holders = Pool(address, HOLDERS, FENCE * pace.lease_s)
        self._writer = Writer(address, lambda: self.node.id, lambda: self.node.place)
        self._reader = Reader(self._pool, lambda: self.node.id)
        # before this process has joined it does not know who listens
        self._teller = Teller(address, sender, lambda: self.node.id is None or self.node.others > 0)
        self.node = Node(direct, name, sender, pace, self._on_wake, self._cut)
        self._tails = Tails()
        self._listener: ClusterListener | None = None
        self._polling: asyncio.Task[None] | None = None
        self._is_closed = False
        self.locked_count = 0  # decisions under the lock of a session
        self.diverged_count = 0  # sessions whose end was lost by a failover
        self.documents = PgDocuments(self._pool, lambda name: self._teller.tell("d", (name, 0)))
        self.pieces = Pieces(
            lambda piece: self._teller.tell("s", piece), lambda session_id: self._teller.tell("i", (session_id, 0))
        )
        self.jobs = PgJobs(
            self._pool,
            pace.worker_lease_s,
            lambda: self.node.id,
            lambda: self.node.is_lost,
            lambda: self._teller.tell("j", ("", 0)),
        )
        self.cluster = PgCluster(self)

    @classmethod
    async def open(
        cls,
        address: Address,
        direct: Address,
        name: str = "",
        pace: Pace | None = None,
        *,
        needs_standby: bool = False,
    ) -> Self:
        """Connect. Raises Unusable if there are no tables of this version, or the server may lose what it confirms."""
        log = cls(address, direct, name, pace or Pace(), needs_standby=needs_standby)
        try:
            await log.node.listen()
            await log.check_standbys()
        except BaseException:
            await log.close()
            raise
        log._polling = asyncio.create_task(log._keep_polling(), name="moot-pg-poll")
        return log

    @classmethod
    async def open_for_reading(cls, address: Address) -> Self:
        """Connect to read. Nothing is listened to and durability is not asked for, so that a standby will do."""
        log = cls(address, address, "", Pace(), needs_standby=False)
        try:
            async with log._pool.taken() as link, link.connected() as connection:
                await tables.check(connection, address)
        except BaseException:
            await log.close()
            raise
        return log

    async def check_standbys(self) -> None:
        """Raise Unusable if a standby must confirm commits and none does. Raises LogError if nobody can tell."""
        [row] = await self._pool.fetch(statements.COUNT_STANDBYS)
        if self._needs_standby and not row["count"]:
            raise Unusable(
                f"{self.address.shown} has no synchronous standby, or its user may not see it (GRANT pg_monitor), and "
                "MOOT_DURABILITY is replicated: set synchronous_standby_names, or MOOT_DURABILITY=local if the storage "
                "replicates itself"
            )

    @property
    def commit_count(self) -> int:
        return self._writer.commit_count

    @property
    def in_doubt_count(self) -> int:
        """How many statements were sent again because their connection had broken."""
        return self._writer.in_doubt_count

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        await self.append_as(session_id, expected, events, command, summary, None)

    async def append_as(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        command: CommandKey | None,
        summary: Summary | None,
        stake: Stake | None,
    ) -> Standing:
        self._check_open()
        check_append(expected, events, summary)
        change = Append(
            session_id=session_id, expected=expected, events=events, command=command, summary=summary, stake=stake
        )
        return await self._writer.submit(change, lambda: self.publish(change))

    def publish(self, append: Append) -> None:
        """Tell those who follow the session about events that are in the log now, here and on other nodes."""
        self._tails.push(append.session_id, append.events)
        self._teller.tell_head(append.session_id, append.events[-1].seq)
        stake = append.stake
        if append.due and not (stake and ((stake.claims and not stake.binds) or stake.epoch is not None)):
            self._teller.tell("o", (append.session_id, append.events[-1].seq))

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        self._check_open()
        return await self._reader.read(session_id, after, limit)

    async def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        self._check_open()
        tail = self._tails.add(session_id, 0)  # before the look at the head, so that no append is missed
        is_found = False
        try:
            tail.advance((await self._reader.head(session_id)).seq)
            self.pieces.want([session_id])
            is_found = True
            while not tail.is_ended:
                if after >= tail.head_seq:
                    await tail.wait()
                    continue
                batch = tail.take(after) or await self._read_on(session_id, after)
                if batch:
                    after = batch[-1].seq
                    yield batch
                else:
                    tail.head_seq = after  # a server that lost its last commits has less than it told
        except LogError as error:
            if not (tail.is_ended or (is_found and isinstance(error, NotFound))):
                raise  # else it was removed, or the log closed, while it was read
        finally:
            self._tails.remove(session_id, tail)

    async def _read_on(self, session_id: str, after: int) -> list[Event]:
        """Read as soon as the server can be reached: a follower outlives an outage."""
        while True:
            try:
                return await self._reader.read(session_id, after, 1_000)
            except NotFound:
                raise
            except LogError:
                if self._is_closed:
                    return []
                await asyncio.sleep(0.5)

    async def head(self, session_id: str) -> Head:
        self._check_open()
        return await self._reader.head(session_id)

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        self._check_open()
        return await self._reader.find_command(session_id, command_id)

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        self._check_open()
        return await self._reader.sessions(removed=removed)

    async def list_page(self, limit: int, *, before: str | None = None, removed: bool = False) -> list[Listing]:
        self._check_open()
        return await self._reader.list_page(limit, before, removed=removed)

    async def remove(self, session_id: str, at: str) -> None:
        await self._change(session_id, statements.REMOVE, at, then=lambda: self._gone(session_id))

    async def restore(self, session_id: str) -> None:
        missing = f"no session {session_id} in the trash"
        then = lambda: self._teller.tell("o", (session_id, 0))  # noqa: E731 - as in its neighbours
        await self._change(session_id, statements.RESTORE, then=then, missing=missing)

    async def delete(self, session_id: str) -> None:
        await self._change(session_id, statements.DELETE, then=lambda: self._gone(session_id))
        await self.sweep()

    async def set_project(self, session_id: str, project: Project) -> None:
        await self._change(session_id, statements.SET_PROJECT, project.file, project.folder)

    async def search(
        self, terms: Sequence[Term], *, session_id: str | None = None, limit: int = limits.FOUND
    ) -> list[Place]:
        self._check_open()
        return await search(self._pool, terms, session_id, limit) if terms else []

    async def put_file(self, session_id: str, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        await self._change(session_id, statements.PUT_FILE, sha256, data)
        return sha256

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        self._check_open()
        rows = await self._pool.fetch(statements.GET_FILE, session_id, sha256)
        data: bytes | None = rows[0]["data"] if rows else None
        return data if data is not None and hashlib.sha256(data).hexdigest() == sha256 else None

    async def list_files(self, session_id: str) -> dict[str, int]:
        self._check_open()
        rows = await self._pool.fetch(statements.LIST_FILES, session_id)
        if not rows:
            raise NotFound(f"no session {session_id}")
        return {row["sha256"]: row["size"] for row in rows if row["sha256"] is not None}

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        values = (snapshot.version, snapshot.head.seq, snapshot.head.hash, snapshot.state)
        await self._change(session_id, statements.SAVE_SNAPSHOT, *values)

    async def load_snapshot(self, session_id: str) -> Snapshot | None:
        self._check_open()
        return await self._reader.load_snapshot(session_id)

    async def sweep(self) -> int:
        """Delete rows of sessions that were deleted. Returns how many."""
        swept = 0
        while True:
            [row] = await self._pool.fetch(statements.SWEEP)
            swept += int(row["rows"])
            if not row["sessions"]:
                return swept

    async def close(self) -> None:
        """End all followers, write what is queued, and close the connections."""
        if self._is_closed:
            return
        self._is_closed = True
        self._tails.end_all()
        self.pieces.close()
        if self._polling:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
        await self._writer.close()
        await self._teller.close()
        await self.node.close()
        await self._holders.close()
        await self._pool.close()

    async def _change(
        self,
        session_id: str,
        text: str,
        *values: object,
        then: Callable[[], None] = lambda: None,
        missing: str | None = None,
    ) -> None:
        self._check_open()
        await self._writer.submit(Statement(session_id, text, values, missing or f"no session {session_id}"), then)

    def _gone(self, session_id: str) -> None:
        self._tails.end(session_id)
        self._teller.tell("x", (session_id, 0))

    def _check_open(self) -> None:
        if self._is_closed:
            raise LogError(f"{self.address.shown} is closed")

    def _cut(self) -> None:
        self._writer.cut()
        self._holders.cut()
        self._pool.cut()
        self._teller.cut()

    def _on_wake(self, kind: str, items: list[list[str | int]]) -> None:
        if kind == "d":
            self.documents.changed.set()
        elif kind == "j":
            self.jobs.hear()
        for item in items:
            session_id = str(item[0])
            if kind == "h":
                self._hear(session_id, int(item[1]))
            elif kind == "x":
                self._forget(session_id)
            elif kind == "i":
                self.pieces.hear_wanted(session_id)
            elif kind == "s" and self._listener and len(item) == 4:
                self._listener.show(session_id, str(item[1]), str(item[2]), str(item[3]))

    def _hear(self, session_id: str, seq: int) -> None:
        self._tails.advance(session_id, seq)
        if self._listener:
            self._listener.hear(session_id, seq)

    def _forget(self, session_id: str) -> None:
        self._tails.end(session_id)
        if self._listener:
            self._listener.forget(session_id)

    async def _keep_polling(self) -> None:
        """Poll, in case a wake-up was lost, and reconnect the connection that listens."""
        while not self._is_closed:
            await asyncio.sleep(min(POLL_S, 2 * self.node.pace.beat_s))
            try:
                await self.node.listen()
                if self.node.others:
                    self.node.ping(lambda: self._teller.tell("p", ("", 0)))
                followed = {*self._tails.list_followed(), *(self._listener.list_followed() if self._listener else ())}
                self.pieces.want(self._tails.list_followed())
                if followed:
                    self._take_in(await self._pool.fetch(statements.HEADS, list(followed)))
            except LogError as error:
                logger.info("%s", error)

    def _take_in(self, rows: list[Any]) -> None:
        for row in rows:
            if row["is_gone"]:
                self._forget(row["id"])
            else:
                self._hear(row["id"], row["seq"])


class PgCluster:
    """Implements the Cluster port on a PgLog."""

    def __init__(self, log: PgLog) -> None:
        self._log = log
        self.documents = log.documents
        self.jobs = log.jobs

    @property
    def offset_s(self) -> float:
        return self.node.offset_s

    @property
    def log_version(self) -> int:
        return self.node.log_version

    async def check_ready(self) -> None:
        if self.node.is_lost or not self.node.is_listening:
            raise LogError("this server is cut off from the others")
        await self._log.check_standbys()

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        self._log.pieces.show(session_id, event, turn_id, text)

    async def read_status(self) -> ClusterStatus:
        async with self._log._pool.taken() as link, link.connected() as connection:
            return await read_status(connection)

    def measure(self) -> list[Sample]:
        node, log, writer = self.node, self._log, self._log._writer
        counts = {
            "fenced_total": node.counts["fenced"],
            "rejoined_total": node.counts["rejoined"],
            "store_commits_total": log.commit_count,
            "store_commit_seconds_total": writer.commit_s,
            "store_appends_total": writer.append_count,
            "store_locked_decisions_total": log.locked_count,
            "log_diverged_total": log.diverged_count,
            "store_in_doubt_total": log.in_doubt_count,
            "pieces_dropped_total": log.pieces.dropped,
            "lease_left_seconds": max(node.lease_left_s, 0.0),
            "clock_offset_seconds": node.offset_s,
            "wake_lag_seconds": node.wake_lag_s,
            "owned_sessions": node.owned,
            "followed_sessions": len(log._tails.list_followed()),
        }
        takeovers = [Sample("takeovers_total", node.counts[why], {"why": why}) for why in TAKEN_OVER]
        conflicts = [Sample("store_conflicts_total", writer.conflicts[kind], {"kind": kind}) for kind in CONFLICTS]
        return [*(Sample(name, value) for name, value in counts.items()), *takeovers, *conflicts]

    @property
    def node(self) -> Node:
        return self._log.node

    async def join(
        self, listener: ClusterListener, teams: Callable[[], Collection[str]], version: str = "", place: str = ""
    ) -> None:
        self._log._listener = listener
        await self.node.join(listener, teams, version, place)

    async def leave(self) -> None:
        await self.node.leave(lambda: self._log._teller.tell("o", ("", 0)))
        self._log._listener = None

    async def claim(self) -> None:
        await self.node.claim()

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
        return await self._log.append_as(session_id, expected, events, command, summary, stake)

    async def catch_up(self, session_id: str, after: Head) -> News:
        self._log._check_open()
        if self.node.is_lost:
            raise LogError(f"this server is cut off from {self._log.address.shown}; try again, or on another one")
        try:
            return await self._log._reader.catch_up(session_id, after)
        except Diverged:
            self._log.diverged_count += 1
            raise

    def locked(self, session_id: str, after: Head) -> AbstractAsyncContextManager[Hold]:
        self._log.locked_count += 1
        return _published(self._log, session_id, after)

    async def settle(self, session_id: str, head: Head, epoch: int) -> None:
        values = (head.seq, epoch, self.node.id)
        await self._log._pool.fetch(statements.SETTLE, session_id, *values)


class _published:  # noqa: N801 - a context manager reads like a function
    """`held`, and the followers told afterwards."""

    def __init__(self, log: PgLog, session_id: str, after: Head) -> None:
        self._log = log
        self._manager = held(log._holders, log._writer, session_id, after, lambda: (log.node.id, log.node.place))
        self._hold: Any = None

    async def __aenter__(self) -> Hold:
        self._log._check_open()
        self._hold = await self._manager.__aenter__()
        hold: Hold = self._hold
        return hold

    async def __aexit__(self, *raised: Any) -> bool | None:
        result = await self._manager.__aexit__(*raised)
        if raised[0] is None and self._hold.appended is not None:
            self._log.publish(self._hold.appended)
        return result
