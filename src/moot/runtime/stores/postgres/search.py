"""Search in PostgreSQL. The index is brought up to date when somebody searches, by whichever node that is.

Words are cut by Moot and stored as they are: the parser of PostgreSQL knows no Chinese, and drops what the locale of
the database does not take for letters.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from moot.core.search_words import Term
from moot.runtime.ports import Place
from moot.runtime.stores.postgres import statements
from moot.runtime.stores.postgres.links import Pool
from moot.runtime.stores.postgres.reader import read_rows
from moot.runtime.stores.rows import read_head, read_summary
from moot.runtime.stores.said import Said, read_said

_PART_TOKENS = 10_000  # positions behind the 16,383rd are all the same to PostgreSQL
_OVERLAP = 50
_ROWS = 1_000  # at a time


async def search(pool: Pool, terms: Sequence[Term], session_id: str | None, limit: int) -> list[Place]:
    """Find what was said. Raises LogError if the server cannot be reached."""
    while sessions := await pool.fetch(statements.UNSEARCHED):
        for session in sessions:
            flow = read_summary(session["summary"])[0].flow
            await _take_in(pool, session["key"], flow, session["after"], session["head"])
    rows = await pool.fetch(statements.SEARCH, write_query(terms), session_id, limit)
    return [Place(row["id"], row["seq"]) for row in rows]


async def _take_in(pool: Pool, key: int, flow: str, after: int, head: int) -> None:
    """Index the next events of a session. Events that are missing, though its head tells of them, are passed over."""
    rows = read_rows(await pool.fetch(statements.ROWS, key, after, _ROWS))
    seq = read_head(rows[-1][0], rows[-1][1]).seq if rows else head
    seq = seq if seq > after else head
    said = [said for first, _, data in rows for said in read_said(flow, first, data, after)]
    parts = [part for each in said for part in _list_parts(each)]
    columns: list[list[Any]] = [list(column) for column in zip(*parts, strict=True)] if parts else [[], [], [], []]
    await pool.fetch(statements.ADD_SAID, key, seq, *columns)


def _list_parts(said: Said) -> Iterator[tuple[int, int, str, str]]:
    for part, start in enumerate(range(0, max(len(said.tokens), 1), _PART_TOKENS)):
        tokens = said.tokens[start : start + _PART_TOKENS + _OVERLAP]
        yield said.seq, part, said.at, " ".join(f"'{token}':{place}" for place, token in enumerate(tokens, start=1))


def write_query(terms: Sequence[Term]) -> str:
    """Write a tsquery. Tokens are letters and digits only, so that quotes hold them."""
    return " & ".join(
        f"'{term.text}':*" if term.is_prefix else "(" + " <-> ".join(f"'{token}'" for token in term.tokens) + ")"
        for term in terms
    )
