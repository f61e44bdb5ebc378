"""A session that is decided about under the lock of its row, so that a busy owner cannot starve others.

The server ends the transaction of a node that is stopped meanwhile, so that nobody holds a session for long.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, Fenced, LogError, NotFound
from moot.runtime.cluster import PAGE_EVENTS, News, Stake, Standing
from moot.runtime.ports import CommandKey, Summary
from moot.runtime.stores.postgres import statements
from moot.runtime.stores.postgres.links import IDLE_IN_TRANSACTION_MS, Address, BrokenLink, Pool, translate
from moot.runtime.stores.postgres.reader import read_news
from moot.runtime.stores.postgres.writer import LOCK_WAIT_MS, Append, Writer
from moot.runtime.worker_jobs import JobRef

if TYPE_CHECKING:
    import asyncpg


class PgHold:
    """Implements the Hold port. The append is in the log when `commit` returns."""

    def __init__(
        self,
        session_id: str,
        head: Head,
        news: News,
        connection: "asyncpg.Connection",
        address: Address,
        node: tuple[int | None, str],
    ) -> None:
        self.session_id = session_id
        self.news = news
        self._head = news.events[-1].head if news.events else head
        self._connection = connection
        self._address = address
        self._node_id, self._place = node
        self.appended: Append | None = None

    async def append(
        self, events: Sequence[Event], *, command: CommandKey | None, summary: Summary | None, stake: Stake
    ) -> Standing:
        if self.appended is not None:
            raise LogError("a hold takes one append")
        append = Append(
            session_id=self.session_id,
            expected=self._head,
            events=events,
            command=command,
            summary=summary,
            stake=stake,
        )
        try:
            values = (*append.columns(), self._node_id, self._place)
            rows = await _translated(self._connection.fetch(statements.APPEND, *values), self._address)
        except BrokenLink as error:  # nothing was committed
            raise Conflict(f"session {self.session_id}: {error}; decide again") from error
        self.appended = append if rows else None
        if not rows and stake.job and not await self._is_held(stake.job):
            raise Fenced(f"session {self.session_id}: the job of this report was taken from its worker")
        if not rows:
            raise Conflict(f"session {self.session_id} does not take this append any more; look again")
        return Standing(self._node_id is not None and rows[0]["owner"] == self._node_id, rows[0]["epoch"])

    async def _is_held(self, ref: JobRef) -> bool:
        fetching = self._connection.fetch(statements.IS_HELD, ref.job, ref.attempt)
        return bool(await _translated(fetching, self._address))


@asynccontextmanager
async def held(
    pool: Pool, writer: Writer, session_id: str, after: Head, find_node: Callable[[], tuple[int | None, str]]
) -> AsyncIterator[PgHold]:
    """Lock a session, read its news, and commit what the block appended. Raises NotFound, Diverged, Conflict.

    `find_node` returns this node and the place of its trees as of now.
    """
    failure: BaseException | None = None
    async with pool.taken() as link:
        await pool.insist(link, "SELECT 1")  # after an outage the connection is made anew before anything is decided
        async with link.connected() as connection:
            node = find_node()
            await _begin(connection)
            if not await connection.fetch(statements.LOCK, session_id):
                link.cut()
                raise NotFound(f"no session {session_id}")
            rows = await connection.fetch(statements.CATCH_UP, session_id, after.seq, PAGE_EVENTS + 1)
            hold = PgHold(
                session_id, after, read_news(session_id, after, rows, node[0]), connection, link.address, node
            )
            try:
                yield hold
                await _translated(connection.execute("COMMIT"), link.address)
            except BaseException as error:  # raised below: an error of the block is none of the connection
                failure = error
                link.cut()  # and with it the transaction
    if isinstance(failure, BrokenLink) and hold.appended is not None:
        await writer.submit(hold.appended)  # in doubt: it is sent again, with its tag
    elif failure is not None:
        raise failure


async def _begin(connection: "asyncpg.Connection") -> None:
    await connection.execute("BEGIN")
    await connection.execute(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
    await connection.execute(f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MS}")


async def _translated(statement: Coroutine[Any, Any, Any], address: Address) -> Any:
    """Wait for a statement that writes. Who is cancelled stops waiting; the statement is not cancelled."""
    task = asyncio.ensure_future(statement)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to retrieve it
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise translate(error, address) from error
