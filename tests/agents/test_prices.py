"""What a turn costs, where the agent counts tokens and the team file names its model."""

import pytest

from moot.agents.prices import add_cost, has_price
from moot.core.session.usage import NO_USAGE, Usage
from tests.runtime.apps import run

pytest.importorskip("genai_prices")


@run
async def test_the_price_list_gives_the_cost() -> None:
    """Cached input is cheaper; what the agent reported itself stands; an unknown model costs nothing known."""
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    plain = await add_cost(usage, "gpt-5")
    cached = await add_cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000, cached_tokens=1_000_000), "gpt-5")
    assert plain.cost_usd > cached.cost_usd > 0
    assert (await add_cost(Usage(input_tokens=1, cost_usd=0.5), "gpt-5")).cost_usd == 0.5
    assert await add_cost(usage, "no-such-model") == usage
    assert await add_cost(usage, None) == usage
    assert await add_cost(NO_USAGE, "gpt-5") == NO_USAGE


def test_a_price_is_known_or_not() -> None:
    """By the model's own name, with or without its provider."""
    assert [has_price(name) for name in ("gpt-5", "openai:gpt-5", "no-such-model", None)] == [True, True, False, False]
