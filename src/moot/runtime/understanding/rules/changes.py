"""Whether an order replaces what the goal is made of (a major change) or only a detail (a minor one)."""

import re
from collections.abc import Iterator, Sequence

from moot.runtime.understanding.rules.acts import Act
from moot.runtime.understanding.rules.clauses import Clause
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.tokens import tokens_of
from moot.runtime.understanding.rules.topics import DELIVERABLES, find_rivals

ORDERS = (Act.ORDER, Act.WISH, Act.SUGGEST)
# Words that announce a replacement. Without one of them, what is given up is only left out.
_TURN = re.compile(
    r"\b(?:instead|any ?more|rather|changed? (?:my mind|of plans?)|not just|only|we need|should be|switch|decided)\b"
    r"|改|换|直接|而是|转|不只|不光|不仅|[做写变]成|做个|重新"
)
# A new name changes no part of the work.
_NAMING = re.compile(r"\b(?:re)?name\b|\bcall (?:it|this|that|the)\b|\b(?:title|label)\b|命名|改名|名字|叫")
# Share of the replaced tokens that must belong to the goal. Pairs of Chinese characters straddle words: 0.1 less.
_GOAL_SHARE = 0.6


def replaces_goal(clauses: Sequence[Clause], context: Context) -> bool:
    """True for "not a landing page but a shop", false for "not loops but parametrize"."""
    has_turn = any(_TURN.search(clause.text) for clause in clauses)
    return any(
        _replaces_in_clause(clauses, index, context, has_turn=has_turn)
        for index, clause in enumerate(clauses)
        if clause.act not in (Act.QUERY, Act.EXPLAIN, Act.STATUS, Act.ACK) and not _NAMING.search(clause.text)
    ) or any(clause.act in (*ORDERS, Act.FACT) and clause.lexicon.widened.search(clause.text) for clause in clauses)


def _replaces_in_clause(clauses: Sequence[Clause], index: int, context: Context, *, has_turn: bool) -> bool:
    clause = clauses[index]
    if has_turn and find_rivals(tokens_of(clause.text), context.goal):
        return True
    others = (*clauses[:index], *clauses[index + 1 :])
    has_successor = has_turn and any(other.act in (*ORDERS, Act.FACT, Act.RESTART) for other in others)
    for old, new in _find_replacements(clause):
        is_goal = _is_goal(old, context.core)
        if is_goal and (new - context.goal or has_successor):
            return True
        if old & DELIVERABLES and _name_other_deliverable(others, context):
            return True
        if (is_goal or not old) and (find_rivals(new, context.goal) or _is_other_deliverable(clause, new, context)):
            return True
    return False


def _find_replacements(clause: Clause) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield (old tokens, new tokens) for each pattern of the language that matches; either may be empty."""
    for pattern in clause.lexicon.replaced:
        match = pattern.search(clause.text)
        if match:
            groups = match.groupdict()
            yield tokens_of(groups.get("old") or ""), tokens_of(groups.get("new") or "")


def _is_other_deliverable(clause: Clause, new: frozenset[str], context: Context) -> bool:
    """As in "make it a podcast": a deliverable that was not mentioned yet, where the goal names another."""
    if clause.lexicon.additive.search(clause.text) or not context.goal & DELIVERABLES:
        return False
    return bool(new & DELIVERABLES - context.work) and len(new) <= 6 and not new & context.goal


def _name_other_deliverable(others: Sequence[Clause], context: Context) -> bool:
    """As in "no article any more, just ten tweets": both what is dropped and what is wanted are deliverables."""
    named = frozenset[str]().union(*(tokens_of(clause.text) for clause in others))
    return bool(named & DELIVERABLES - context.work)


def _is_goal(old: frozenset[str], core: frozenset[str]) -> bool:
    share = len(old & core) / len(old) if old else 0.0
    return share >= (_GOAL_SHARE if all(token.isascii() for token in old) else _GOAL_SHARE - 0.1)
