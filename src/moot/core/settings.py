"""What a team may set, as the log remembers it. No bounds here: what was logged once must always decode."""

from typing import Literal

from msgspec import Struct

UnderstandingType = Literal["explicit", "rules", "llm"]


class RouteThresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Below `certain` the person is asked; a minor change, which nobody confirms, must be above `minor_change`."""

    certain: float = 0.6
    minor_change: float = 0.7


class ChatSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_hops: int = 50  # AI turns since a human last spoke; 0 = off
    history: int = 20  # messages that an AI is given
    turn_timeout_s: float = 1800.0


class Retry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Retries after a first run that failed (plan: recovery)."""

    max_attempts: int = 3
    base_delay_s: float = 1.0
    cap_s: float = 60.0


class PlanSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How plans are confirmed, run and retried."""

    confirm: Literal["always", "never"] = "always"
    confirm_timeout_s: float = 300.0
    max_parallel: int = 4
    dispatch_timeout_s: float = 30.0
    turn_timeout_s: float = 1800.0
    retry: Retry = Retry()
    max_rework: int = 2


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """0 = off. At a limit the session pauses and asks; going on grants the same amount again."""

    max_tokens: int = 0
    max_cost_usd: float = 0.0
    max_turns: int = 0


NO_BUDGET = Budget()  # the one object that is left out where defaults are
