"""What an operator wants to know about a database that nodes share."""

from typing import TYPE_CHECKING

from moot.runtime.cluster import ClusterStatus, NodeStatus, PoolStatus, WorkerStatus
from moot.runtime.stores.postgres import tables
from moot.runtime.stores.postgres.statements import COUNT_STANDBYS

if TYPE_CHECKING:
    import asyncpg

_COUNTS = f"""
SELECT current_setting('server_version') AS server, m.lineage::text AS lineage,
  (SELECT count(*) FROM moot.sessions WHERE removed_at IS NULL) AS sessions,
  (SELECT count(*) FROM moot.sessions WHERE removed_at IS NOT NULL) AS removed,
  (SELECT count(*) FROM moot.doomed) AS doomed,
  (SELECT count(*) FROM moot.heads WHERE due AND NOT removed) AS due,
  (SELECT count(*) FROM moot.heads h WHERE due AND NOT removed AND NOT EXISTS
    (SELECT 1 FROM moot.nodes n WHERE n.id = h.owner AND n.lease_until > clock_timestamp())) AS unowned_due,
  (SELECT count(*) FROM pg_inherits WHERE inhparent = 'moot.appends'::regclass) AS partitions,
  ({COUNT_STANDBYS}) AS sync_standbys,
  pg_notification_queue_usage()::float8 AS notify_queue_usage,
  coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()), 0)::float8 AS oldest_transaction_s
FROM moot.meta m
"""
_NODES = """
SELECT n.id, n.name, n.version, n.log_version, n.teams,
  extract(epoch FROM n.lease_until - clock_timestamp())::float8 AS lease_left_s,
  (SELECT count(*) FROM moot.heads h WHERE h.owner = n.id AND h.due AND NOT h.removed) AS owned
FROM moot.nodes n ORDER BY n.name, n.id
"""
_WORKERS = """
SELECT w.name, w.pools, w.host, extract(epoch FROM w.lease_until - clock_timestamp())::float8 AS lease_left_s,
  (SELECT count(*) FROM moot.jobs j WHERE j.worker = w.id) AS jobs
FROM moot.workers w WHERE w.lease_until > clock_timestamp() ORDER BY w.name, w.id
"""
_POOLS = """
SELECT name, sum(workers)::int AS workers, sum(waiting)::int AS waiting, sum(under_way)::int AS under_way FROM (
  SELECT unnest(pools) AS name, 1 AS workers, 0 AS waiting, 0 AS under_way FROM moot.workers
    WHERE lease_until > clock_timestamp()
  UNION ALL SELECT pool, 0, (worker IS NULL)::int, (worker IS NOT NULL)::int FROM moot.jobs) each
GROUP BY name ORDER BY name
"""


async def read_status(connection: "asyncpg.Connection") -> ClusterStatus:
    """Query the state of the store. Raises errors of the driver."""
    row = await connection.fetchrow(_COUNTS)
    nodes = [NodeStatus(**dict(node)) for node in await connection.fetch(_NODES)]
    workers = [WorkerStatus(**dict(worker)) for worker in await connection.fetch(_WORKERS)]
    pools = [PoolStatus(**dict(pool)) for pool in await connection.fetch(_POOLS)]
    version = await tables.find_version(connection)
    return ClusterStatus(**dict(row), version=version, nodes=nodes, workers=workers, pools=pools)
