"""What turns cost, as agents report it, and whether the sum reaches a budget."""

from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from moot.core.session.settings import Budget


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a turn cost. Cached tokens are a part of the input, tokens of thinking a part of the output."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cached_tokens: int = 0
    thinking_tokens: int = 0


NO_USAGE = Usage()  # `omit_defaults` compares by identity: use this object for the default


def safe_usage(usage: Usage) -> Usage:
    """Replace a cost that JSON cannot hold (NaN, infinity) by 0, because a log with it could not be decoded."""
    if usage == NO_USAGE:
        return NO_USAGE
    return usage if isfinite(usage.cost_usd) else replace(usage, cost_usd=0.0)


def add_usage(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=one.cost_usd + other.cost_usd,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        thinking_tokens=one.thinking_tokens + other.thinking_tokens,
    )


class Spent(Struct, frozen=True, kw_only=True, gc=False):
    """The sum of what turns cost. `tokens` are all of them; the others are parts of it."""

    turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    output_tokens: int = 0
    cached_tokens: int = 0
    thinking_tokens: int = 0


NOTHING = Spent()


def add(spent: Spent, usage: Usage, turns: int = 0) -> Spent:
    if usage is NO_USAGE:
        return replace(spent, turns=spent.turns + turns)
    return Spent(
        turns=spent.turns + turns,
        tokens=spent.tokens + usage.input_tokens + usage.output_tokens,
        cost_usd=spent.cost_usd + usage.cost_usd,
        output_tokens=spent.output_tokens + usage.output_tokens,
        cached_tokens=spent.cached_tokens + usage.cached_tokens,
        thinking_tokens=spent.thinking_tokens + usage.thinking_tokens,
    )


def subtract(spent: Spent, before: Spent) -> Spent:
    return Spent(
        turns=spent.turns - before.turns,
        tokens=spent.tokens - before.tokens,
        cost_usd=spent.cost_usd - before.cost_usd,
        output_tokens=spent.output_tokens - before.output_tokens,
        cached_tokens=spent.cached_tokens - before.cached_tokens,
        thinking_tokens=spent.thinking_tokens - before.thinking_tokens,
    )


def add_spent(one: Spent, other: Spent) -> Spent:
    return subtract(one, subtract(NOTHING, other))


def find_limit(budget: Budget, spent: Spent) -> str:
    """Return the limit of the budget that is reached, as text; empty if none is."""
    if budget.max_turns and spent.turns >= budget.max_turns:
        return f"{spent.turns}/{budget.max_turns} turns"
    if budget.max_tokens and spent.tokens >= budget.max_tokens:
        return f"{spent.tokens}/{budget.max_tokens} tokens"
    if budget.max_cost_usd and spent.cost_usd >= budget.max_cost_usd:
        digits = 2 if budget.max_cost_usd >= 0.1 else 4
        return f"{spent.cost_usd:.{digits}f}/{budget.max_cost_usd:.{digits}f} USD"
    return ""
