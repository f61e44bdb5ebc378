"""Whether a message replaces what the goal is made of (a major change) or only a detail (a minor one)."""

from collections.abc import Iterator, Sequence

from moot.runtime.understanding.rules.clauses import ORDERS, Act, Clause, any_has, any_is
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
    has_turn = any_has(clauses, "turn")
    return any(
        not _replaces_nothing(clause)
        and _clause_replaces_goal(clause, (*clauses[:index], *clauses[index + 1 :]), context, has_turn)
        for index, clause in enumerate(clauses)
    )


def _replaces_nothing(clause: Clause) -> bool:
    is_pause = clause.act in (Act.PAUSE, Act.ASIDE) and clause.names_goal  # "forget the app for a minute"
    return clause.act in (Act.QUERY, Act.EXPLAIN, Act.STATUS, Act.ACK) or is_pause or clause.has("naming")


def _clause_replaces_goal(clause: Clause, others: Sequence[Clause], context: Context, has_turn: bool) -> bool:
    if has_turn and not clause.has("additive") and find_rivals(tokens_of(clause.text), context.goal):
        return True
    if _gives_up_goal(clause, context) and _names_more(others, context):
        return True
    replacements = tuple(_find_replacements(clause))
    has_successor = has_turn and any_is(others, *_SUCCESSORS)
    if any(_replaces(old, new, clause, context, has_successor, has_turn) for old, new in replacements):
        return True
    drops_deliverable = any(old & DELIVERABLES for old, _ in replacements)
    return drops_deliverable and names_other_deliverable(others, context)


def names_other_deliverable(clauses: Sequence[Clause], context: Context) -> bool:
    """As in "no article any more, just ten tweets": a kind of result that was not mentioned yet."""
    named = frozenset[str]().union(*(tokens_of(clause.text) for clause in clauses))
    return bool(named & DELIVERABLES - context.work)


def _replaces(
    old: frozenset[str], new: frozenset[str], clause: Clause, context: Context, has_successor: bool, has_turn: bool
) -> bool:
    gives_up_goal = _is_goal(old, context.core) or bool(old and old <= context.goal and has_successor)
    if gives_up_goal and (new - context.goal or has_successor):
        return True
    if old and not gives_up_goal:
        return False
    return bool(find_rivals(new, context.goal)) or _is_other_deliverable(clause, new, context, has_turn)


def _find_replacements(clause: Clause) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield (old tokens, new tokens) for each phrase of [replaced] that matches; either may be empty."""
    for text in dict.fromkeys((clause.text, clause.core)):
        for match in clause.lexicon["replaced"].matches(text):
            named = {name.partition("_")[0]: value or "" for name, value in match.groupdict().items()}
            yield tokens_of(named.get("old", "")), tokens_of(named.get("new", ""))


def _gives_up_goal(clause: Clause, context: Context) -> bool:
    """As in "Flutter is out"."""
    matches = (match for text in (clause.text, clause.core) for match in clause.lexicon["given up"].matches(text))
    named = (value for match in matches for name, value in match.groupdict().items() if name.startswith("old"))
    return any(value and _is_goal(tokens_of(value), context.core) for value in named)


def _names_more(clauses: Sequence[Clause], context: Context) -> bool:
    """Whether other clauses want or state something that the work does not have yet."""
    return any(clause.act in _SUCCESSORS and tokens_of(clause.text) - context.work for clause in clauses)


def _is_other_deliverable(clause: Clause, new: frozenset[str], context: Context, has_turn: bool) -> bool:
    """As in "make it a podcast": a kind that was not mentioned yet, where the goal names another or it takes a turn."""
    is_turned = context.goal & DELIVERABLES or clause.has("successor") or has_turn
    if clause.has("additive") or not is_turned:
        return False
    return bool(new & DELIVERABLES - context.work) and len(new) <= 6 and not new & context.goal


def _is_goal(old: frozenset[str], core: frozenset[str]) -> bool:
    if all(token.isdecimal() for token in old):
        return False  # "65 people, not 60"
    share = len(old & core) / len(old) if old else 0.0
    return share >= (_GOAL_SHARE if all(token.isascii() for token in old) else _GOAL_SHARE - 0.1)
