"""What turns cost, as agents report it, and whether the sum reaches a budget."""

from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from moot.core.session.settings import Budget


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


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
    )


class Spent(Struct, frozen=True, kw_only=True, gc=False):
    """The sum of what turns cost."""

    turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


NOTHING = Spent()


def add(spent: Spent, usage: Usage, turns: int = 0) -> Spent:
    return Spent(
        turns=spent.turns + turns,
        tokens=spent.tokens + usage.input_tokens + usage.output_tokens,
        cost_usd=spent.cost_usd + usage.cost_usd,
    )


def subtract(spent: Spent, before: Spent) -> Spent:
    return Spent(
        turns=spent.turns - before.turns,
        tokens=spent.tokens - before.tokens,
        cost_usd=spent.cost_usd - before.cost_usd,
    )


def find_limit(budget: Budget, spent: Spent) -> str:
    """Return the limit of the budget that is reached, as text; empty if none is."""
    if budget.max_turns and spent.turns >= budget.max_turns:
        return f"{spent.turns}/{budget.max_turns} turns"
    if budget.max_tokens and spent.tokens >= budget.max_tokens:
        return f"{spent.tokens}/{budget.max_tokens} tokens"
    if budget.max_cost_usd and spent.cost_usd >= budget.max_cost_usd:
        return f"{spent.cost_usd:.2f}/{budget.max_cost_usd:.2f} USD"
    return ""
