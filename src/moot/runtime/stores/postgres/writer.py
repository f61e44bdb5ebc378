"""Writes to the log: all of a node's writes go through one queue, appends that wait go together in one statement.

A statement whose connection broke before the answer is sent again until there is an answer: it takes effect once,
because each append has a random tag that is stored with it. The queue has a task of its own, so that nobody who waits
for an append can cancel it.
"""

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, Fenced, LogError, NotFound
from moot.runtime.cluster import FOLLOWING, Stake, Standing
from moot.runtime.ports import CommandKey, Summary
from moot.runtime.stores.conflicts import explain_conflict
from moot.runtime.stores.postgres import statements, tables
from moot.runtime.stores.postgres.links import RETRY_S, Address, BrokenLink, Link
from moot.runtime.stores.rows import pack
from moot.runtime.worker_jobs import JobRef

logger = logging.getLogger(__name__)

BATCH = 256
LOCK_WAIT_MS = 5_000  # for a session that another node decides about
# Why appends were refused: their head has another seq, or another hash; the epoch or the job of what was reported is
# over; the command was logged before; others kept the row locked; the session is in the trash.
CONFLICTS = ("seq", "hash", "fenced", "command", "locked", "removed")


class Append(Struct, frozen=True, kw_only=True):
    """An append with its tag, which tells it from every other one."""

    session_id: str
    expected: Head
    events: Sequence[Event]
    command: CommandKey | None = None
    summary: Summary | None = None
    stake: Stake | None = None
    tag: int = msgspec.field(default_factory=lambda: secrets.randbits(63))

    @property
    def due(self) -> bool | None:
        """Whether work is due after it; None: as before."""
        if self.stake is not None:
            return self.stake.due
        return None if self.summary is None else self.summary.busy

    @property
    def job(self) -> JobRef | None:
        """The claim under which a worker reports it."""
        return self.stake.job if self.stake else None

    def columns(self) -> tuple[object, ...]:
        """The values of the statement, in its order."""
        last, (hashes, data) = self.events[-1], pack(self.events)
        summary = self.summary and msgspec.json.encode(self.summary)
        return (
            self.session_id,
            self.expected.seq,
            bytes.fromhex(self.expected.hash) if _is_hash(self.expected.hash) else b"",
            last.seq,
            bytes.fromhex(last.hash),
            last.timestamp,
            self.tag,
            hashes,
            data,
            self.command and self.command.command_id,
            self.command and self.command.digest,
            summary,
            self.due,
            self.stake and self.stake.epoch,
            bool(self.stake and self.stake.claims),
            self.summary.team if self.summary else "",
            self.job and self.job.job,
            self.job and self.job.attempt,
            bool(self.stake and self.stake.binds),
        )


class Statement(Struct, frozen=True):
    """Any other change of one session: it returns a row if it was made."""

    session_id: str
    text: str
    values: tuple[object, ...]
    missing: str  # what NotFound says if it was not made


Change = Append | Statement


class _Job:
    __slots__ = ("change", "future", "then")

    def __init__(self, change: Change, then: Callable[[], None]) -> None:
        self.change = change
        self.then = then
        self.future: asyncio.Future[Standing] = asyncio.get_running_loop().create_future()

    def settle(self, outcome: Standing | Exception) -> None:
        if not isinstance(outcome, Exception):
            self.then()
        if self.future.done():
            return  # who waited was cancelled
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
            self.future.exception()  # nobody may be left to retrieve it
        else:
            self.future.set_result(outcome)


class Writer:
    """The queue, and the connections that it writes with.

    Args:
        node_id: this node as of now; None: none that may own a session.
        place: of the trees on this machine.
    """

    def __init__(self, address: Address, node_id: Callable[[], int | None], place: Callable[[], str]) -> None:
        self._node_id = node_id
        self._place = place
        self.link = Link(address, checks_durability=True, plans_once=True)
        self._slow_link = Link(address, plans_once=True)
        self._address = address
        self._waiting: deque[_Job] = deque()
        self._slow: deque[_Job] = deque()  # appends to sessions whose row another node has locked
        self._slow_ids: set[str] = set()
        self._wake = asyncio.Event()
        self._slow_wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closed = False
        self.commit_count = 0
        self.commit_s = 0.0  # how long all of them took
        self.append_count = 0  # which went with them
        self.conflicts = dict.fromkeys(CONFLICTS, 0)
        self.in_doubt_count = 0

    def submit(self, change: Change, then: Callable[[], None] = lambda: None) -> "asyncio.Future[Standing]":
        """Queue a change; the future is done when it is durable. `then` runs even if nobody waits any more."""
        if not self._tasks:
            run = ((self._run, "moot-pg-writer"), (self._run_slow, "moot-pg-slow-writer"))
            self._tasks = [asyncio.create_task(each(), name=name) for each, name in run]
        job = _Job(change, then)
        self._waiting.append(job)
        self._idle.clear()
        self._wake.set()
        return job.future

    async def close(self, patience_s: float = 5.0) -> None:
        """Write what is queued, then close. What cannot be written by then fails."""
        try:
            await asyncio.wait_for(self._idle.wait(), patience_s)
        except TimeoutError:
            logger.warning("%s does not answer; what is queued may be lost", self._address.shown)
        self._is_closed = True
        self.link.cut()
        self._slow_link.cut()
        self._wake.set()
        self._slow_wake.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.link.close()
        await self._slow_link.close()

    def cut(self) -> None:
        """Drop the connections: what was sent is in doubt and is sent again."""
        self.link.cut()
        self._slow_link.cut()

    async def _run(self) -> None:
        while not self._is_closed or self._waiting:
            if not self._waiting:
                self._rest()
                self._wake.clear()
                await self._wake.wait()
                continue
            batch = self._take()
            if batch:
                await self._commit(self.link, batch)
        self._rest()

    def _rest(self) -> None:
        if not self._waiting and not self._slow:
            self._idle.set()

    def _take(self) -> list[_Job]:
        """The next jobs that go together: creations, appends, or one statement; one per session."""
        batch: list[_Job] = []
        kind: str | None = None
        taken: set[str] = set()
        while self._waiting and len(batch) < BATCH:
            job = self._waiting[0]
            session_id = job.change.session_id
            if session_id in self._slow_ids:
                self._slow.append(self._waiting.popleft())  # behind the one that waits for the row
                continue
            if session_id in taken or (kind or _kind(job.change)) != _kind(job.change):
                break
            kind = _kind(job.change)
            taken.add(session_id)
            batch.append(self._waiting.popleft())
            if kind == "statement":
                break
        return batch

    async def _commit(self, link: Link, jobs: list[_Job]) -> None:
        """Write jobs of one kind and settle them. One that cannot be stored does not fail the others."""
        try:
            await self._write(link, jobs)
        except LogError as error:
            if len(jobs) == 1:
                jobs[0].settle(error)
                return
            for job in jobs:
                await self._commit(link, [job])
        except Exception as error:  # a fault of this program: the queue must go on
            logger.exception("a write failed")
            for job in jobs:
                job.settle(LogError(f"it could not be written ({error!r})"))

    async def _write(self, link: Link, jobs: list[_Job]) -> None:
        first = jobs[0].change
        if isinstance(first, Statement):
            before = self.in_doubt_count
            rows = await self._insist(link, first.text, first.session_id, *first.values)
            self.commit_count += 1
            is_done = rows or self.in_doubt_count != before  # nothing is left to change if an earlier attempt did it
            jobs[0].settle(FOLLOWING if is_done else NotFound(first.missing))
            return
        appends = [job.change for job in jobs if isinstance(job.change, Append)]
        text, values = self._compose(appends)
        began = time.monotonic()
        rows = await self._insist(link, text, *values)
        self.commit_s += time.monotonic() - began
        self.commit_count += 1
        self.append_count += len(rows)
        moved = {row["id"]: self._standing(row) for row in rows}
        for job in jobs:
            if job.change.session_id in moved:
                job.settle(moved[job.change.session_id])
        missed = [job for job in jobs if job.change.session_id not in moved]
        if missed:
            await self._explain(link, missed)

    def _compose(self, appends: list[Append]) -> tuple[str, tuple[object, ...]]:
        """The statement of appends, or of creations, with its values."""
        is_creation, is_one = not appends[0].expected.seq, len(appends) == 1
        rows = [append.columns() for append in appends]
        columns = rows[0] if is_one else [list(column) for column in zip(*rows, strict=True)]
        if is_creation:  # a new session has no trees
            return statements.CREATE if is_one else statements.CREATES, (*columns, self._node_id())
        return statements.APPEND if is_one else statements.APPENDS, (*columns, self._node_id(), self._place())

    async def _insist(self, link: Link, text: str, *values: object) -> list[Any]:
        """Run a statement, on one connection after the other, until there is an answer."""
        tries = 0
        while True:
            try:
                return await link.fetch(text, *values)
            except BrokenLink as error:
                if self._is_closed:
                    raise LogError(f"{error}; the log is closed, whether it was logged is not known") from error
                if tries == 0:
                    logger.warning("%s; sending again", error)
                self.in_doubt_count += 1
                await asyncio.sleep(RETRY_S[min(tries, len(RETRY_S) - 1)])
                tries += 1
            except LogError as error:
                if "no partition" not in str(error) or tries:
                    raise
                tries += 1
                async with link.connected() as connection:
                    await tables.add_partitions(connection)

    def _standing(self, row: Any) -> Standing:
        me = self._node_id()
        return Standing(me is not None and row["owner"] == me, row["epoch"])

    async def _explain(self, link: Link, jobs: list[_Job]) -> None:
        """Settle the jobs that moved nothing, or wait for the rows that others have locked."""
        appends = [job.change for job in jobs if isinstance(job.change, Append)]
        rows = await self._insist(
            link,
            statements.EXPLAIN,
            [append.session_id for append in appends],
            [append.expected.seq for append in appends],
            [append.command and append.command.command_id for append in appends],
            [append.job and append.job.job for append in appends],
            [append.job and append.job.attempt for append in appends],
        )
        found = {row["id"]: row for row in rows}
        for job, append in zip(jobs, appends, strict=True):
            outcome = self._judge(append, found[append.session_id])
            if outcome is not None:
                job.settle(outcome)
            elif link is self._slow_link:
                job.settle(self._refuse("locked", append, "is being written by others; try again"))
            else:
                self._slow_ids.add(append.session_id)
                self._slow.append(job)
                self._slow_wake.set()

    def _judge(self, append: Append, row: Any) -> Standing | Exception | None:
        """What became of an append that moved nothing; None if its row was locked."""
        session_id, epoch = append.session_id, append.stake and append.stake.epoch
        if row["key"] is not None and row["tag"] == append.tag:
            return self._standing(row)  # an earlier attempt took effect
        if row["key"] is None:
            return NotFound(f"no session {session_id}") if append.expected.seq else None
        if row["removed"]:
            if append.expected.seq:
                return NotFound(f"no session {session_id}")
            return self._refuse("removed", append, "is in the trash; restore it, or delete it for good")
        if epoch is not None and (row["epoch"] != epoch or row["owner"] != self._node_id()):
            return self._refuse("fenced", append, f"is in the hands of another node since epoch {row['epoch']}")
        if not row["is_held"]:
            return self._refuse("fenced", append, "has given the job of this report to another worker")
        head = Head(row["seq"], row["hash"].hex())
        if head != append.expected:
            self.conflicts["hash" if head.seq == append.expected.seq else "seq"] += 1
            return Conflict(explain_conflict(session_id, head, append.expected))
        if row["taken"] and append.command:
            return self._refuse("command", append, f"has taken command {append.command.command_id} before; look it up")
        return None

    def _refuse(self, kind: str, append: Append, why: str) -> Conflict:
        self.conflicts[kind] += 1
        return (Fenced if kind == "fenced" else Conflict)(f"session {append.session_id} {why}")

    async def _run_slow(self) -> None:
        """Append to sessions that others have locked, one after the other, each when its row is free."""
        while not self._is_closed or self._slow:
            if not self._slow:
                self._slow_wake.clear()
                await self._slow_wake.wait()
                continue
            job = self._slow[0]
            if isinstance(job.change, Append) and job.change.expected.seq:
                await self._wait_for_row(job.change.session_id)
            await self._commit(self._slow_link, [job])
            self._slow.popleft()
            self._slow_ids = {each.change.session_id for each in self._slow}
            self._rest()

    async def _wait_for_row(self, session_id: str) -> None:
        try:
            async with self._slow_link.connected() as connection, connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
                await connection.fetch(statements.LOCK, session_id)
        except LogError as error:
            logger.info("session %s: %s", session_id, error)  # the append will say what is the matter


def _kind(change: Change) -> str:
    if isinstance(change, Statement):
        return "statement"
    return "append" if change.expected.seq else "creation"


def _is_hash(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)
