"""The statements of the log. An append is one of them: one round trip, one commit.

`take` is when a node becomes the owner by its append: it wants to, work is due, nobody acts for the session now, and
its trees are on no other machine.
"""

COUNT_STANDBYS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"

_TAKE = "(i.claims AND i.due AND (h.owner IS NULL OR NOT h.due) AND (h.place IS NULL OR h.place = $21::text))"

# What an append is; behind it `me`, then the place of this node.
_COLUMNS = {
    "id": "text",
    "expected": "bigint",
    "was": "bytea",
    "seq": "bigint",
    "hash": "bytea",
    "at": "text",
    "tag": "bigint",
    "hashes": "bytea",
    "data": "bytea",
    "command": "text",
    "digest": "text",
    "summary": "bytea",
    "due": "boolean",
    "epoch": "bigint",
    "claims": "boolean",
    "team": "text",
    "job": "bigint",
    "attempt": "int",
    "binds": "boolean",
}
# One append comes as values. Several come as arrays, each of which the server first unfolds into a store of its own:
# for a single append that would be half of the work.
_ONE = ", ".join(f"${n}::{kind} AS {name}" for n, (name, kind) in enumerate(_COLUMNS.items(), 1))
_ARRAYS = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(_COLUMNS.values(), 1))
_INPUT = f"input AS (SELECT {_ONE})"
_INPUTS = f"input AS (SELECT * FROM unnest({_ARRAYS}) i({', '.join(_COLUMNS)}))"

# Rows that somebody else has locked are left out, so that no session holds up the others and there is no deadlock. Each
# part hands on what the next one needs: joining them with the input again would compare each append with each other.
_APPEND = f"""
 free AS (SELECT i.*, h.session FROM input i JOIN moot.sessions s ON s.id = i.id JOIN moot.heads h ON h.session = s.key
   ORDER BY h.session FOR NO KEY UPDATE OF h SKIP LOCKED),
 moved AS (UPDATE moot.heads h SET seq = i.seq, hash = i.hash, at = i.at, touched = nextval('moot.touches'),
     due = coalesce(i.due, h.due),
     owner = CASE WHEN {_TAKE} THEN $20::bigint ELSE h.owner END,
     epoch = CASE WHEN {_TAKE} AND h.owner IS DISTINCT FROM $20::bigint THEN h.epoch + 1 ELSE h.epoch END,
     place = coalesce(h.place, CASE WHEN i.binds AND i.epoch IS NOT NULL THEN $21::text END)
   FROM free i
   WHERE h.session = i.session AND h.seq = i.expected AND h.hash = i.was AND NOT h.removed
     AND (i.epoch IS NULL OR (h.epoch = i.epoch AND h.owner = $20::bigint))
     AND (i.job IS NULL OR EXISTS (SELECT 1 FROM moot.jobs j
       WHERE j.id = i.job AND j.attempt = i.attempt AND j.worker IS NOT NULL))
     AND (i.command IS NULL
       OR NOT EXISTS (SELECT 1 FROM moot.commands c WHERE c.session = i.session AND c.id = i.command))
   RETURNING h.session, h.owner, h.epoch, h.due, i.id, i.expected, i.seq, i.at, i.tag, i.hashes, i.data, i.command,
     i.digest, i.summary),
 stored AS (INSERT INTO moot.appends (session, seq, at, epoch, tag, hashes, data)
   SELECT session, expected + 1, at, epoch, tag, hashes, data FROM moved),
 noted AS (INSERT INTO moot.commands (session, id, digest, seq)
   SELECT session, command, digest, seq FROM moved WHERE command IS NOT NULL),
 told AS (UPDATE moot.sessions s SET summary = m.summary, listed = nextval('moot.touches')
   FROM moved m WHERE s.key = m.session AND m.summary IS NOT NULL)
SELECT id, owner, epoch, due FROM moved
"""
APPEND = f"WITH {_INPUT}, {_APPEND}"
APPENDS = f"WITH {_INPUTS}, {_APPEND}"

_CREATE = """
 made AS (INSERT INTO moot.sessions (id, team, created_at, summary, listed)
   SELECT id, team, at, summary, nextval('moot.touches') FROM input ON CONFLICT (id) DO NOTHING RETURNING key, id),
 headed AS (INSERT INTO moot.heads (session, seq, hash, at, touched, due, owner, epoch)
   SELECT m.key, i.seq, i.hash, i.at, nextval('moot.touches'), coalesce(i.due, false),
     CASE WHEN i.claims AND i.due THEN $20::bigint END, CASE WHEN i.claims AND i.due THEN 1 ELSE 0 END
   FROM input i JOIN made m USING (id) RETURNING session, owner, epoch, due),
 stored AS (INSERT INTO moot.appends (session, seq, at, epoch, tag, hashes, data)
   SELECT m.key, 1, i.at, h.epoch, i.tag, i.hashes, i.data
   FROM input i JOIN made m USING (id) JOIN headed h ON h.session = m.key),
 noted AS (INSERT INTO moot.commands (session, id, digest, seq)
   SELECT m.key, i.command, i.digest, i.seq FROM input i JOIN made m USING (id) WHERE i.command IS NOT NULL)
SELECT m.id, h.owner, h.epoch, h.due FROM made m JOIN headed h ON h.session = m.key
"""
CREATE = f"WITH {_INPUT}, {_CREATE}"
CREATES = f"WITH {_INPUTS}, {_CREATE}"

# Why an append did not move its head, or that it did: then the row behind the expected head has its tag.
EXPLAIN = """
SELECT i.id, s.key, s.removed_at IS NOT NULL AS removed, h.seq, h.hash, h.owner, h.epoch, h.due, a.tag,
  i.command IS NOT NULL
    AND EXISTS (SELECT 1 FROM moot.commands c WHERE c.session = s.key AND c.id = i.command) AS taken,
  i.job IS NULL OR EXISTS (SELECT 1 FROM moot.jobs j
    WHERE j.id = i.job AND j.attempt = i.attempt AND j.worker IS NOT NULL) AS is_held
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::int[]) i(id, expected, command, job, attempt)
LEFT JOIN moot.sessions s ON s.id = i.id LEFT JOIN moot.heads h ON h.session = s.key
LEFT JOIN moot.appends a ON a.session = s.key AND a.seq = i.expected + 1
"""

IS_HELD = "SELECT 1 FROM moot.jobs WHERE id = $1 AND attempt = $2 AND worker IS NOT NULL"

LOCK = (
    "SELECT h.session FROM moot.heads h JOIN moot.sessions s ON s.key = h.session"
    " WHERE s.id = $1 AND NOT h.removed FOR NO KEY UPDATE OF h"
)


def _stored(key: str) -> str:
    """Select at most $3 rows of a session, from the one that holds $2 on, because the chain continues from its hash.

    The first ones may be archived: a segment is one row with many events. What begins behind the next $3 events is
    left out then.
    """
    return f"""
  SELECT seq, to_seq, hashes, data FROM (
    (SELECT from_seq AS seq, to_seq, NULL::bytea AS hashes, bytes AS data FROM moot.segments
     WHERE session = {key} AND to_seq >= $2 AND from_seq <= $2 + $3)
    UNION ALL
    (SELECT seq, NULL, hashes, data FROM moot.appends WHERE session = {key} AND seq >= coalesce(
       (SELECT max(seq) FROM moot.appends WHERE session = {key} AND seq <= $2), 0)
     AND NOT EXISTS (SELECT 1 FROM moot.segments WHERE session = {key} AND from_seq > $2 + $3)
     ORDER BY seq LIMIT $3)) stored
  ORDER BY seq LIMIT $3
"""


ROWS = _stored("$1::bigint")
# No row: there is no such session.
READ = f"""
SELECT a.seq, a.to_seq, a.hashes, a.data FROM moot.sessions s LEFT JOIN LATERAL ({_stored("s.key")}) a ON true
WHERE s.id = $1 AND s.removed_at IS NULL ORDER BY a.seq
"""

# The same, with who acts for the session, in one snapshot: an epoch must be learnt with the events.
CATCH_UP = f"""
SELECT h.owner, h.epoch, h.due, a.seq, a.to_seq, a.hashes, a.data
FROM moot.sessions s JOIN moot.heads h ON h.session = s.key LEFT JOIN LATERAL ({_stored("s.key")}) a ON true
WHERE s.id = $1 AND s.removed_at IS NULL ORDER BY a.seq
"""

HEAD = (
    "SELECT h.seq, h.hash FROM moot.sessions s JOIN moot.heads h ON h.session = s.key"
    " WHERE s.id = $1 AND s.removed_at IS NULL"
)
FIND_COMMAND = (
    "SELECT c.digest, c.seq FROM moot.sessions s JOIN moot.commands c ON c.session = s.key"
    " WHERE s.id = $1 AND c.id = $2"
)
_PLACE = """((coalesce(s.removed_at, h.at) || ' ' || s.id) COLLATE "C")"""  # as `Listing.place`
_LISTINGS = (
    "SELECT s.id, s.created_at, s.summary, s.removed_at, h.at, h.seq, h.hash, s.project_file, s.project_folder"
    " FROM moot.sessions s JOIN moot.heads h ON h.session = s.key"
    " WHERE (s.removed_at IS NOT NULL) = $1"
)
LIST = f"{_LISTINGS} ORDER BY s.listed DESC"
# An index on the place would be changed by every append, and end the updates of heads within their page.
PAGE = f"{_LISTINGS} AND ($2::text IS NULL OR {_PLACE} < $2) ORDER BY {_PLACE} DESC LIMIT $3"
LOAD_SNAPSHOT = (
    "SELECT p.seq, p.hash, p.version, p.state FROM moot.sessions s JOIN moot.snapshots p ON p.session = s.key"
    " WHERE s.id = $1 ORDER BY (p.version = $2) DESC, p.saved DESC LIMIT 1"
)
SAVE_SNAPSHOT = (
    "INSERT INTO moot.snapshots (session, version, seq, hash, state, saved)"
    " SELECT key, $2, $3, $4, $5, nextval('moot.touches') FROM moot.sessions WHERE id = $1 AND removed_at IS NULL"
    " ON CONFLICT (session, version) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, state = excluded.state,"
    " saved = excluded.saved RETURNING session"
)
# Sessions with events that search has not seen.
UNSEARCHED = (
    "SELECT s.key, s.summary, h.seq AS head, coalesce(x.seq, 0) AS after"
    " FROM moot.heads h JOIN moot.sessions s ON s.key = h.session"
    " LEFT JOIN moot.searched x ON x.session = s.key WHERE h.seq > coalesce(x.seq, 0) LIMIT 100"
)
# Only while the session is there: one that is deleted meanwhile leaves nothing behind.
ADD_SAID = """
WITH still AS (SELECT key FROM moot.sessions WHERE key = $1 FOR KEY SHARE),
 added AS (INSERT INTO moot.said (session, seq, part, at, words)
   SELECT $1, i.seq, i.part, i.at, i.words::tsvector
   FROM still, unnest($3::bigint[], $4::int[], $5::text[], $6::text[]) i(seq, part, at, words) ON CONFLICT DO NOTHING)
INSERT INTO moot.searched (session, seq) SELECT $1, $2 FROM still
ON CONFLICT (session) DO UPDATE SET seq = greatest(moot.searched.seq, excluded.seq)
"""
SEARCH = (
    "SELECT DISTINCT s.id, w.seq, w.at FROM moot.said w JOIN moot.sessions s ON s.key = w.session"
    " WHERE w.words @@ $1::tsquery AND s.removed_at IS NULL AND s.id = coalesce($2::text, s.id)"
    " ORDER BY w.at DESC, w.seq DESC LIMIT $3"
)
PUT_FILE = (
    "INSERT INTO moot.files (session, sha256, data)"
    " SELECT key, $2, $3 FROM moot.sessions WHERE id = $1 AND removed_at IS NULL"
    " ON CONFLICT (session, sha256) DO UPDATE SET data = excluded.data RETURNING session"
)
GET_FILE = "SELECT f.data FROM moot.sessions s JOIN moot.files f ON f.session = s.key WHERE s.id = $1 AND f.sha256 = $2"
LIST_FILES = (
    "SELECT f.sha256, length(f.data) AS size FROM moot.sessions s LEFT JOIN moot.files f ON f.session = s.key"
    " WHERE s.id = $1 AND s.removed_at IS NULL"
)
SET_PROJECT = (
    "UPDATE moot.sessions SET project_file = $2, project_folder = $3 WHERE id = $1 AND removed_at IS NULL RETURNING key"
)

# A new epoch, so that whoever acts for the session is refused.
REMOVE = """
WITH gone AS (UPDATE moot.sessions SET removed_at = $2 WHERE id = $1 AND removed_at IS NULL RETURNING key),
 idle AS (DELETE FROM moot.jobs j USING gone WHERE j.session = gone.key)
UPDATE moot.heads h SET removed = true, owner = NULL, epoch = epoch + 1 FROM gone WHERE h.session = gone.key
RETURNING h.session
"""
RESTORE = """
WITH back AS (UPDATE moot.sessions SET removed_at = NULL WHERE id = $1 AND removed_at IS NOT NULL RETURNING key)
UPDATE moot.heads h SET removed = false FROM back WHERE h.session = back.key RETURNING h.session
"""
DELETE = """
WITH gone AS (DELETE FROM moot.sessions WHERE id = $1 RETURNING key),
 headless AS (DELETE FROM moot.heads h USING gone WHERE h.session = gone.key),
 idle AS (DELETE FROM moot.jobs j USING gone WHERE j.session = gone.key),
 unplayed AS (DELETE FROM moot.played p USING gone WHERE p.session = gone.key),
 bare AS (DELETE FROM moot.snapshots p USING gone WHERE p.session = gone.key),
 unsaid AS (DELETE FROM moot.said w USING gone WHERE w.session = gone.key),
 unsearched AS (DELETE FROM moot.searched x USING gone WHERE x.session = gone.key),
 fileless AS (DELETE FROM moot.files f USING gone WHERE f.session = gone.key)
INSERT INTO moot.doomed SELECT key FROM gone RETURNING session
"""
SWEEP = """
WITH picked AS (SELECT session FROM moot.doomed LIMIT 1 FOR UPDATE SKIP LOCKED),
 rows AS (SELECT a.session, a.seq FROM moot.appends a JOIN picked USING (session) LIMIT 10000),
 swept AS (DELETE FROM moot.appends a USING rows WHERE a.session = rows.session AND a.seq = rows.seq RETURNING 1),
 unknown AS (DELETE FROM moot.commands c USING picked WHERE c.session = picked.session),
 unkept AS (DELETE FROM moot.segments g USING picked WHERE g.session = picked.session),
 done AS (DELETE FROM moot.doomed d USING picked
   WHERE d.session = picked.session AND (SELECT count(*) FROM rows) < 10000)
SELECT (SELECT count(*) FROM picked) AS sessions, (SELECT count(*) FROM swept) AS rows
"""

HEADS = """
SELECT i.id, h.seq, h.epoch, s.key IS NULL OR s.removed_at IS NOT NULL AS is_gone
FROM unnest($1::text[]) i(id) LEFT JOIN moot.sessions s ON s.id = i.id LEFT JOIN moot.heads h ON h.session = s.key
"""
SETTLE = """
UPDATE moot.heads h SET due = false FROM moot.sessions s
WHERE s.id = $1 AND h.session = s.key AND h.due AND h.seq = $2 AND h.epoch = $3 AND h.owner = $4
"""
