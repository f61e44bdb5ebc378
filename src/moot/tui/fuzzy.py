"""Finding entries by some of their letters: `mapy` finds `src/main.py`."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


def find_fuzzy(query: str, entries: Iterable[T], name: Callable[[T], str], most: int) -> list[T]:
    """Return the entries whose name has the letters of `query` in this order, the closest first, at most `most`."""
    if not query:
        return list(entries)[:most]
    pattern, plain = _pattern(query.lower()), query.lower()
    ranked = [
        (_rank(plain, lower, match), number, entry)
        for number, entry in enumerate(entries)
        if (match := pattern.search(lower := name(entry).lower()))
    ]
    ranked.sort(key=lambda each: each[:2])
    return [entry for _, _, entry in ranked[:most]]


@lru_cache(maxsize=64)
def _pattern(query: str) -> re.Pattern[str]:
    """Match the letters with as little as possible between them; each gap excludes the next letter: no backtracking."""
    gaps = [f"[^{re.escape(char)}]*{re.escape(char)}" for char in query[1:]]
    return re.compile(re.escape(query[0]) + "".join(gaps), re.DOTALL)


def _rank(query: str, name: str, match: re.Match[str]) -> tuple[int, int, int]:
    """Prefer the end of a path that begins with the query, then what contains it, then what is close together."""
    last = name.rpartition("/")[2]
    kind = 0 if last.startswith(query) else 1 if name.startswith(query) else 2 if query in name else 3
    return kind, match.end() - match.start(), len(name)
