"""What a turn cost, as the agent reports it."""

from math import isfinite

from msgspec import Struct
from msgspec.structs import replace


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


NO_USAGE = Usage()  # the one object that is left out where defaults are


def safe_usage(usage: Usage) -> Usage:
    """JSON has no NaN: logged, it could not be read again."""
    if usage == NO_USAGE:
        return NO_USAGE
    return usage if isfinite(usage.cost_usd) else replace(usage, cost_usd=0.0)


def add_usage(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=one.cost_usd + other.cost_usd,
    )
