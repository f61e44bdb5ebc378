"""Whether an order replaces what the goal is made of (major) or a detail (minor)."""

import re
from collections.abc import Iterator, Sequence

from moot.runtime.understanding.rules.acts import Act
from moot.runtime.understanding.rules.clauses import Clause
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.topics import DELIVERABLES, rivals_of
from moot.runtime.understanding.rules.words import pieces

ORDERS = (Act.ORDER, Act.WISH, Act.SUGGEST)
# What is given up makes room for something else: without one of these, a part is only left out.
_TURN = re.compile(
    r"\b(?:instead|any ?more|rather|changed? (?:my mind|of plans?)|not just|only|we need|should be|switch|decided)\b"
    r"|改|换|直接|而是|转|不只|不光|不仅|[做写变]成|做个|重新"
)
_NAMES = re.compile(
    r"\b(?:re)?name\b|\bcall (?:it|this|that|the)\b|\b(?:title|label)\b|命名|改名|名字|叫"
)  # no part of the work
_IS_GOAL = 0.6  # share of the replaced words that must be words of the goal; pairs of characters straddle words: less


def replaces_goal(clauses: Sequence[Clause], context: Context) -> bool:
    """True for "not a landing page but a shop", false for "not loops but parametrize"."""
    turns = any(_TURN.search(clause.text) for clause in clauses)
    for at, clause in enumerate(clauses):
        if clause.act in (Act.QUERY, Act.EXPLAIN, Act.STATUS, Act.ACK) or _NAMES.search(clause.text):
            continue
        if turns and rivals_of(pieces(clause.text), context.goal):
            return True
        others = (*clauses[:at], *clauses[at + 1 :])
        goes_on = turns and any(each.act in (*ORDERS, Act.FACT, Act.RESTART) for each in others)
        for old, new in _replacements(clause):
            is_goal = _is_goal(old, context.core)
            if is_goal and (new - context.goal or goes_on):
                return True
            if old & DELIVERABLES and _names_other_work(clauses, at, context):
                return True
            if (is_goal or not old) and (rivals_of(new, context.goal) or _is_other_work(clause, new, context)):
                return True
    return any(clause.language.widened.search(clause.text) and clause.act in (*ORDERS, Act.FACT) for clause in clauses)


def _replacements(clause: Clause) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for pattern in clause.language.replaced:
        found = pattern.search(clause.text)
        if found:
            parts = found.groupdict()
            yield pieces(parts.get("old") or ""), pieces(parts.get("new") or "")


def _is_other_work(clause: Clause, new: frozenset[str], context: Context) -> bool:
    """As in "make it a podcast": a kind of work that nobody spoke of, in place of one that the goal names."""
    if clause.language.additive.search(clause.text) or not context.goal & DELIVERABLES:
        return False
    return bool(new & DELIVERABLES - context.work) and len(new) <= 6 and not new & context.goal


def _names_other_work(clauses: Sequence[Clause], at: int, context: Context) -> bool:
    """As in "no article any more, just ten tweets": what is dropped and what is wanted are both kinds of work."""
    named = frozenset[str]().union(*(pieces(each.text) for i, each in enumerate(clauses) if i != at))
    return bool(named & DELIVERABLES - context.work)


def _is_goal(old: frozenset[str], core: frozenset[str]) -> bool:
    share = len(old & core) / len(old) if old else 0.0
    return share >= (_IS_GOAL if all(piece.isascii() for piece in old) else _IS_GOAL - 0.1)
