"""The settings of a team that every flow has. The log stores them.

They have no bounds, because stored settings must always decode. Those of one flow are in its package.

The descriptions appear in the schema of the team file and in its reference.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

WorkspaceType = Literal["worktree", "shared", "none"]
MergeStyle = Literal["squash", "merge"]
Period = Literal["session", "day", "week"]
BudgetScope = Literal["session", "team"]
UnderstandingType = Literal["explicit", "rules", "llm", "agent"]


class RouteThresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    certain: Annotated[float, Meta(description="a confidence below this is asked about")] = 0.6
    minor_change: Annotated[
        float, Meta(description="a small change, which nobody confirms, must be surer than this")
    ] = 0.7
    cancel: Annotated[
        float, Meta(description="a request to stop all work, which cannot be undone, is asked about below this")
    ] = 0.8


class WorkspaceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where members work, as far as the log must know. The commands stay in the team file."""

    type: WorkspaceType = "shared"
    merge: MergeStyle = "squash"
    checks: int = 0  # how many commands must succeed before work counts as done


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """0 = off. At a limit the session pauses and asks; going on grants the same amount again."""

    max_tokens: Annotated[int, Meta(description="input and output tokens together, as agents report them. 0 = off")] = 0
    max_cost_usd: Annotated[float, Meta(description="as agents report it. 0 = off")] = 0.0
    max_turns: Annotated[int, Meta(description="AI turns. 0 = off")] = 0
    per: Annotated[
        Period, Meta(description="when it begins anew; days and weeks, from Monday on, are those of UTC")
    ] = "session"
    scope: Annotated[
        BudgetScope, Meta(description="what counts: this session, or all sessions of teams of this name together")
    ] = "session"


NO_BUDGET = Budget()  # `omit_defaults` compares by identity: use this object for the default
