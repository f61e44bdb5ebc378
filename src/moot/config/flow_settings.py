"""Settings of the supervisor flow (surfaces: team file); those of the other flows belong to the core."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from moot.config.quantities import AtLeastOne, Count, Score, Text


class Condition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must hold for a key of the shared state; `a.b` reaches into it."""

    key: Text
    expected: Literal["present", "non_blank", "non_empty"] | bool = field(name="is", default="present")


class EndReview(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the state says that the review approved, and whether the quality must be approved too."""

    approved: Text
    quality: bool = False


class EndRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the supervisor may end."""

    requires: tuple[Condition, ...] = ()
    review: EndReview | None = None


class ToolLoop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tools an agent calls between its turns: the node that runs them and when the loop ends."""

    node: Text
    max_rounds: AtLeastOne = 10
    done_when: Text | None = None


class SupervisedAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent may write, what it needs first (any one is enough), and who acts instead."""

    purpose: str = ""
    writes: tuple[Text, ...] = ()
    requires_any: tuple[Condition, ...] = ()
    fallback: Text | None = None
    pause_after: bool = False
    ends: bool = False
    tools: ToolLoop | None = None


class Quality(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores of the state and their thresholds; `fallback` pairs axis and agent, the first one below counts."""

    key: Text
    threshold: Score = 0.6
    thresholds: dict[str, Score] = {}
    fallback: tuple[tuple[Text, Text], ...] = ()


class SupervisorSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who leads, whom it may choose, and when the work ends."""

    member: Text = "supervisor"
    max_iterations: AtLeastOne = 3
    max_steps: AtLeastOne = 100
    max_clarification_rounds: Count = 3
    end: EndRule = EndRule()
    agents: dict[str, SupervisedAgent] = {}
    quality: Quality | None = None
    inputs: Annotated[tuple[Text, ...], Meta(description="keys of the state that people give")] = ()
    state: Annotated[dict[str, Any], Meta(description="the state's keys and what they start with")] = {}
