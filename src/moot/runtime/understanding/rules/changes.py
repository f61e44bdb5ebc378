"""Whether a message replaces what the goal is made of (a major change) or only a detail (a minor one)."""

from collections.abc import Iterator, Sequence

from moot.runtime.understanding.rules.clauses import ORDERS, Act, Clause
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.tokens import tokens_of
from moot.runtime.understanding.rules.topics import DELIVERABLES, find_rivals

# Share of the replaced tokens that must belong to the goal. Pairs of Chinese characters straddle words: 0.1 less.
_GOAL_SHARE = 0.6
_SUCCESSORS = (*ORDERS, Act.FACT, Act.RESTART)


def replaces_goal(clauses: Sequence[Clause], context: Context) -> bool:
    """True for "not a landing page but a shop", false for "not loops but parametrize"."""
    if any(clause.act in _SUCCESSORS and clause.has("widened") for clause in clauses):
        return True
    has_turn = any(clause.has("turn") for clause in clauses)
    for index, clause in enumerate(clauses):
        if clause.act in (Act.QUERY, Act.EXPLAIN, Act.STATUS, Act.ACK) or clause.has("naming"):
            continue
        others = (*clauses[:index], *clauses[index + 1 :])
        has_successor = has_turn and any(other.act in _SUCCESSORS for other in others)
        if has_turn and find_rivals(tokens_of(clause.text), context.goal):
            return True
        if any(_replaces(old, new, clause, context, has_successor) for old, new in _find_replacements(clause)):
            return True
        if any(old & DELIVERABLES for old, _ in _find_replacements(clause)) and names_other_deliverable(
            others, context
        ):
            return True
    return False


def names_other_deliverable(clauses: Sequence[Clause], context: Context) -> bool:
    """As in "no article any more, just ten tweets": a kind of result that was not mentioned yet."""
    named = frozenset[str]().union(*(tokens_of(clause.text) for clause in clauses))
    return bool(named & DELIVERABLES - context.work)


def _replaces(old: frozenset[str], new: frozenset[str], clause: Clause, context: Context, has_successor: bool) -> bool:
    gives_up_goal = _is_goal(old, context.core)
    if gives_up_goal and (new - context.goal or has_successor):
        return True
    if old and not gives_up_goal:
        return False
    return bool(find_rivals(new, context.goal)) or _is_other_deliverable(clause, new, context)


def _find_replacements(clause: Clause) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield (old tokens, new tokens) for each phrase of [replaced] that matches; either may be empty."""
    for match in clause.lexicon["replaced"].matches(clause.text):
        named = {name.partition("_")[0]: value or "" for name, value in match.groupdict().items()}
        yield tokens_of(named.get("old", "")), tokens_of(named.get("new", ""))


def _is_other_deliverable(clause: Clause, new: frozenset[str], context: Context) -> bool:
    """As in "make it a podcast": a deliverable that was not mentioned yet, where the goal names another."""
    if clause.has("additive") or not context.goal & DELIVERABLES:
        return False
    return bool(new & DELIVERABLES - context.work) and len(new) <= 6 and not new & context.goal


def _is_goal(old: frozenset[str], core: frozenset[str]) -> bool:
    share = len(old & core) / len(old) if old else 0.0
    return share >= (_GOAL_SHARE if all(token.isascii() for token in old) else _GOAL_SHARE - 0.1)
