"""Words to search by: how text is cut for an index, and how a query is matched.

A message is found if it has every term of the query. A word is found by its beginning, whatever its case and accents.
Scripts that put no spaces between words (Chinese, Japanese, Thai …) are cut into overlapping pairs of characters, so
that any two characters that stand together are found; a single one is found as the beginning of a pair. Every store
indexes the words that `cut` gives and so finds the same.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from moot.core import limits

# Han, kana with their marks, Bopomofo, Thai, Lao, Myanmar, Khmer, and the supplementary planes of Han.
_DENSE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+")
_MARKS = re.compile("[\u0300-\u036f]")
_CONTEXT_CHARS = 60
_WORD_CHARS = 100  # of a longer word the rest is not looked at


class Term(Struct, frozen=True):
    """A word of a query. `tokens` stand one behind the other in what is found; the last is the beginning of a token if
    `is_prefix`."""

    text: str
    tokens: tuple[str, ...]
    is_prefix: bool


class Snippet(Struct, frozen=True):
    """The part of a text in which words were found. `marks` are their places in `text`, from [start to end)."""

    text: str
    marks: tuple[tuple[int, int], ...]


def fold(text: str) -> str:
    """Make letters that people take for the same equal: case, accents, width."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def cut(text: str) -> list[str]:
    """Return the tokens of a text, in order, for an index."""
    tokens: list[str] = []
    for run in _RUN.findall(fold(text[: limits.INDEXED_CHARS])):
        if _is_dense(run):
            tokens += [first + second for first, second in pairwise(run)]
            tokens.append(run[-1])  # so that every character begins a token
        else:
            tokens.append(run[:_WORD_CHARS])
    return tokens


def read_query(text: str) -> tuple[Term, ...]:
    """Return the terms of what somebody is looking for; none if it has no letter or digit."""
    terms: list[Term] = []
    for run in _RUN.findall(fold(text[: limits.QUERY_CHARS])):
        if _is_dense(run) and len(run) > 1:
            terms.append(Term(run, tuple(first + second for first, second in pairwise(run)), is_prefix=False))
        else:
            terms.append(Term(run[:_WORD_CHARS], (run[:_WORD_CHARS],), is_prefix=True))
    return tuple(dict.fromkeys(terms))[: limits.QUERY_TERMS]


def matches(terms: Sequence[Term], tokens: Sequence[str]) -> bool:
    """Whether a text with these tokens has every term."""
    return all(_has(term, tokens) for term in terms)


def _has(term: Term, tokens: Sequence[str]) -> bool:
    if term.is_prefix:
        return any(token.startswith(term.text) for token in tokens)
    wanted, size = list(term.tokens), len(term.tokens)
    return any(list(tokens[at : at + size]) == wanted for at, token in enumerate(tokens) if token == wanted[0])


def show_found(text: str, terms: Sequence[Term]) -> Snippet:
    """Return where the terms are in a text, with some of the text around the first of them, on one line."""
    line = " ".join(text.split())
    folded, places = _fold_with_places(line)
    found = sorted({place for term in terms for place in _find(term, folded)})
    first = places[found[0][0]] if found else 0
    start = max(first - _CONTEXT_CHARS, 0)
    end = min(first + 2 * _CONTEXT_CHARS, len(line))
    head, tail = "…" if start else "", "…" if end < len(line) else ""
    shift = start - len(head)
    marks = [(places[begin] - shift, places[stop - 1] + 1 - shift) for begin, stop in found if places[stop - 1] < end]
    return Snippet(f"{head}{line[start:end]}{tail}", tuple(mark for mark in marks if mark[0] >= len(head)))


def _find(term: Term, folded: str) -> list[tuple[int, int]]:
    start = r"(?<![^\W_])" if term.is_prefix and not _is_dense(term.text) else ""
    return [match.span() for match in re.finditer(start + re.escape(term.text), folded)]


def _fold_with_places(text: str) -> tuple[str, list[int]]:
    """Fold a text, and tell for each letter of the result which one it comes from."""
    parts, places = [], []
    for at, letter in enumerate(text):
        part = fold(letter)
        parts.append(part)
        places += [at] * len(part)
    return "".join(parts), places


def _is_dense(run: str) -> bool:
    return re.match(f"[{_DENSE}]", run) is not None
