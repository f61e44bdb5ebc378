"""The settings of the plan flow: the section `plan` of a team file."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


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
