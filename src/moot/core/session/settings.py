"""The settings of a team that the log stores. They have no bounds, because stored settings must always decode.

The descriptions appear in the schema of the team file and in its reference.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Mentions = Literal["humans", "everyone", "off"]
UnderstandingType = Literal["explicit", "rules", "llm", "agent"]


class RouteThresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    certain: Annotated[float, Meta(description="a confidence below this is asked about")] = 0.6
    minor_change: Annotated[
        float, Meta(description="a small change, which nobody confirms, must be surer than this")
    ] = 0.7
    cancel: Annotated[
        float, Meta(description="a request to stop all work, which cannot be undone, is asked about below this")
    ] = 0.8


class ChatSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_hops: Annotated[
        int, Meta(description="AI turns since a human last spoke; then the session pauses. 0 = off")
    ] = 50
    history: Annotated[int, Meta(description="messages that an AI is given")] = 20
    turn_timeout_s: Annotated[float, Meta(description="of one turn")] = 1800.0
    default: Annotated[
        str, Meta(description="the member who is given what a human says to nobody, when the queue is empty")
    ] = ""
    mentions: Annotated[Mentions, Meta(description="in whose messages `@name` names who is next")] = "humans"


class Retry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Retries after a first run that failed."""

    max_attempts: Annotated[int, Meta(description="retries after the first failure")] = 3
    base_delay_s: Annotated[
        float, Meta(description="before the first retry; doubled for each one after it, with jitter")
    ] = 1.0
    cap_s: Annotated[float, Meta(description="no delay is longer")] = 60.0


class PlanSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How plans are confirmed, run and retried."""

    confirm: Annotated[Literal["always", "never"], Meta(description="never: plans run without being asked about")] = (
        "always"
    )
    confirm_timeout_s: Annotated[
        float, Meta(description="without an answer for so long, the plan is cancelled. 0 = it waits for ever")
    ] = 0.0
    max_parallel: Annotated[int, Meta(description="tasks at once")] = 4
    dispatch_timeout_s: Annotated[float, Meta(description="for a member to take a task")] = 30.0
    turn_timeout_s: Annotated[
        float, Meta(description="of a task, and of a planner's, reviewer's or aggregator's turn")
    ] = 1800.0
    retry: Retry = Retry()
    review: Annotated[
        bool, Meta(description="a reviewer sees each plan before people are asked, and may send it back twice")
    ] = False
    final_review: Annotated[
        bool, Meta(description="a reviewer sees the answer before it is given, and may send it back once")
    ] = False
    max_rework: Annotated[
        int, Meta(description="how often a reviewer may send a task back before people are asked")
    ] = 2


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """0 = off. At a limit the session pauses and asks; going on grants the same amount again."""

    max_tokens: Annotated[int, Meta(description="input and output tokens together, as agents report them. 0 = off")] = 0
    max_cost_usd: Annotated[float, Meta(description="as agents report it. 0 = off")] = 0.0
    max_turns: Annotated[int, Meta(description="AI turns. 0 = off")] = 0


NO_BUDGET = Budget()  # `omit_defaults` compares by identity: use this object for the default
