"""What a turn cost by the price list of the library for models, for agents that count tokens and name their model.

The list comes with the extra `llm`. Without it, or for a model that it does not know, there is no cost.
"""

import asyncio
import importlib.util
from functools import cache

from msgspec.structs import replace

from moot.core.session.usage import NO_USAGE, Usage

LIBRARY = "genai_prices"


def has_price(model: str | None) -> bool:
    """Whether the list knows what this model costs. It takes a moment to load."""
    return bool(model) and _find_cost(str(model), Usage(input_tokens=1, output_tokens=1)) is not None


async def add_cost(usage: Usage, model: str | None) -> Usage:
    """Return the usage with its cost, unless the agent reported one or nobody knows the price."""
    if not model or usage.cost_usd or usage == NO_USAGE:
        return usage
    cost_usd = await asyncio.to_thread(_find_cost, model, usage)
    return usage if cost_usd is None else replace(usage, cost_usd=cost_usd)


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec(LIBRARY) is not None


def _find_cost(model: str, usage: Usage) -> float | None:
    if not _is_installed():
        return None
    import genai_prices

    provider, _, name = model.rpartition(":")
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=usage.cached_tokens
    )
    try:
        return float(genai_prices.calc_price(counted, model_ref=name, provider_id=provider or None).total_price)
    except (LookupError, ValueError):
        return None
