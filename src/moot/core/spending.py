"""What was spent, and whether it reaches a budget."""

from msgspec import Struct

from moot.core.settings import Budget
from moot.core.usage import Usage


class Spent(Struct, frozen=True, kw_only=True, gc=False):
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
    """Which limit of the budget is reached, as text; empty when none is."""
    if budget.max_turns and spent.turns >= budget.max_turns:
        return f"{spent.turns}/{budget.max_turns} turns"
    if budget.max_tokens and spent.tokens >= budget.max_tokens:
        return f"{spent.tokens}/{budget.max_tokens} tokens"
    if budget.max_cost_usd and spent.cost_usd >= budget.max_cost_usd:
        return f"{spent.cost_usd:.2f}/{budget.max_cost_usd:.2f} USD"
    return ""
