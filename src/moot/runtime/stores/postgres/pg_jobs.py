"""Jobs in PostgreSQL: who may work on what, with leases by the server's clock.

A statement may run twice. A claim whose answer was lost is renewed by nobody, so that it is offered again.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from moot.core.errors import LogError, NotFound
from moot.runtime.stores.postgres.links import Pool
from moot.runtime.worker_jobs import HEAD_START_S, Job, JobRef, JobStanding, WorkerCard

_SESSION = "(SELECT key FROM moot.sessions WHERE id = $1 AND removed_at IS NULL)"
_OFFER = f"""
INSERT INTO moot.jobs (session, turn, kind, pool, team, member, input)
SELECT {_SESSION}, $2, $3, $4, $5, $6, $7 WHERE {_SESSION} IS NOT NULL
ON CONFLICT (session, turn) DO UPDATE SET pool = moot.jobs.pool RETURNING id, attempt
"""
_WITHDRAW = f"DELETE FROM moot.jobs WHERE session = {_SESSION} AND turn = $2 RETURNING id"
_LOOK = """
SELECT j.id, j.attempt, j.worker IS NOT NULL AS is_claimed,
  coalesce(j.lease_until < clock_timestamp(), false) AS is_late,
  EXISTS (SELECT 1 FROM moot.workers w WHERE w.lease_until >= clock_timestamp() AND j.pool = ANY(w.pools)
    AND j.team = ANY(w.teams)) AS has_workers
FROM moot.jobs j WHERE j.id = ANY($1)
"""
# `offered_at` stays: a worker that lives and let a lease run out has no head start a second time.
_OFFER_AGAIN = (
    "UPDATE moot.jobs SET worker = NULL, lease_until = NULL"
    " WHERE id = $1 AND attempt = $2 AND worker IS NOT NULL AND lease_until < clock_timestamp() RETURNING id"
)
_LIVE = (
    "SELECT j.turn FROM moot.jobs j JOIN moot.sessions s ON s.key = j.session"
    " WHERE s.id = $1 AND j.worker IS NOT NULL AND j.lease_until >= clock_timestamp()"
)
_GREET = """
WITH present AS (INSERT INTO moot.workers (id, name, pools, teams, host, lease_until)
   VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 second')
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, pools = excluded.pools, teams = excluded.teams,
     host = excluded.host, lease_until = excluded.lease_until),
 held AS (SELECT * FROM unnest($7::bigint[], $8::int[]) h(id, attempt))
UPDATE moot.jobs j SET
  worker = CASE WHEN (j.id, j.attempt) IN (SELECT id, attempt FROM held) THEN j.worker END,
  offered_at = clock_timestamp(), lease_until = clock_timestamp() + $6 * interval '1 second'
WHERE j.worker = $1 RETURNING j.id, j.attempt, j.worker, j.kind, j.pool, j.team, j.member, j.turn, j.input,
  (SELECT s.id FROM moot.sessions s WHERE s.key = j.session) AS session_id
"""
# Who played the member of this session last has a head start: it may have its conversation, and its folder. A job whose
# lease has run out long ago is one that nobody looks after any more: whoever claims it finds out whether it is over.
_CLAIM = """
WITH free AS (SELECT j.id FROM moot.jobs j LEFT JOIN moot.played p ON p.session = j.session AND p.member = j.member
   WHERE (j.worker IS NULL OR j.lease_until < clock_timestamp() - $6 * interval '1 second')
     AND j.pool = ANY($2) AND j.team = ANY($3) AND (p.worker IS NULL OR p.worker = $1
     OR j.offered_at < clock_timestamp() - $5 * interval '1 second'
     OR NOT EXISTS (SELECT 1 FROM moot.workers w WHERE w.id = p.worker AND w.lease_until >= clock_timestamp()))
   ORDER BY j.id LIMIT $4 FOR UPDATE OF j SKIP LOCKED),
 claimed AS (UPDATE moot.jobs j SET worker = $1, attempt = j.attempt + 1,
     lease_until = clock_timestamp() + $6 * interval '1 second'
   FROM free WHERE j.id = free.id RETURNING j.*),
 noted AS (INSERT INTO moot.played (session, member, worker) SELECT DISTINCT session, member, $1 FROM claimed
   ON CONFLICT (session, member) DO UPDATE SET worker = excluded.worker)
SELECT c.id, c.attempt, c.worker, c.kind, c.pool, c.team, c.member, c.turn, c.input, s.id AS session_id
FROM claimed c JOIN moot.sessions s ON s.key = c.session ORDER BY c.id
"""
_RENEW = """
WITH present AS (UPDATE moot.workers SET lease_until = clock_timestamp() + $2 * interval '1 second' WHERE id = $1)
UPDATE moot.jobs SET lease_until = clock_timestamp() + $2 * interval '1 second'
WHERE worker = $1 AND (id, attempt) IN (SELECT * FROM unnest($3::bigint[], $4::int[])) RETURNING id, attempt
"""
_DISMISS = """
WITH gone AS (DELETE FROM moot.workers WHERE id = $1)
UPDATE moot.jobs SET worker = NULL, lease_until = NULL, offered_at = clock_timestamp() WHERE worker = $1 RETURNING id
"""


class PgJobs:
    """Implements the Jobs port.

    Args:
        node_id: this node as of now, to tell where a worker is connected.
        is_lost: whether this node has lost its lease, so that it could not attend to what its workers claim.
        tell: wakes the other nodes.
    """

    def __init__(
        self,
        pool: Pool,
        lease_s: float,
        node_id: Callable[[], int | None],
        is_lost: Callable[[], bool],
        tell: Callable[[], None],
    ) -> None:
        self.lease_s = lease_s
        self.listeners: set[Callable[[], None]] = set()
        self._pool = pool
        self._node_id = node_id
        self._is_lost = is_lost
        self._tell_others = tell

    def hear(self) -> None:
        """Take note that another node has changed jobs."""
        for listener in tuple(self.listeners):
            listener()

    async def offer(self, job: Job) -> JobRef:
        rows = await self._pool.fetch(
            _OFFER, job.session_id, job.turn_id, job.kind, job.pool, job.team, job.member, job.input
        )
        if not rows:
            raise NotFound(f"no session {job.session_id}")
        self._tell()
        return JobRef(rows[0]["id"], rows[0]["attempt"])

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        if await self._pool.fetch(_WITHDRAW, session_id, turn_id):
            self._tell()

    async def look(self, jobs: Collection[int]) -> dict[int, JobStanding]:
        rows = await self._pool.fetch(_LOOK, list(jobs))
        return {
            row["id"]: JobStanding(
                ref=JobRef(row["id"], row["attempt"]),
                is_claimed=row["is_claimed"],
                is_late=row["is_late"],
                has_workers=row["has_workers"],
            )
            for row in rows
        }

    async def offer_again(self, ref: JobRef) -> None:
        if await self._pool.fetch(_OFFER_AGAIN, ref.job, ref.attempt):
            self._tell()

    async def list_live(self, session_id: str) -> set[str]:
        return {row["turn"] for row in await self._pool.fetch(_LIVE, session_id)}

    async def greet(self, card: WorkerCard, held: Sequence[JobRef]) -> list[Job]:
        self._check_lease()
        who = (card.id, card.name, list(card.pools), list(card.teams), self._node_id(), self.lease_s)
        rows = await self._pool.fetch(_GREET, *who, [ref.job for ref in held], [ref.attempt for ref in held])
        self._tell()
        return [_read_job(row) for row in rows if row["worker"] is not None and row["session_id"] is not None]

    async def claim(self, card: WorkerCard, limit: int) -> list[Job]:
        self._check_lease()
        values = (card.id, list(card.pools), list(card.teams), limit, HEAD_START_S, self.lease_s)
        return [_read_job(row) for row in await self._pool.fetch(_CLAIM, *values)]

    async def renew(self, worker: str, held: Collection[JobRef]) -> set[JobRef]:
        refs = ([ref.job for ref in held], [ref.attempt for ref in held])
        rows = await self._pool.fetch(_RENEW, worker, self.lease_s, *refs)
        return {JobRef(row["id"], row["attempt"]) for row in rows}

    async def dismiss(self, worker: str) -> None:
        await self._pool.fetch(_DISMISS, worker)
        self._tell()

    def _check_lease(self) -> None:
        if self._is_lost():
            raise LogError("this server is cut off from the others; workers go to another one")

    def _tell(self) -> None:
        self.hear()
        self._tell_others()


def _read_job(row: Any) -> Job:
    return Job(
        session_id=row["session_id"],
        turn_id=row["turn"],
        kind=row["kind"],
        pool=row["pool"],
        team=row["team"],
        member=row["member"],
        input=row["input"],
        ref=JobRef(row["id"], row["attempt"]),
    )
