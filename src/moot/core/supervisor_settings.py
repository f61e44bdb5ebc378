"""What a team may set for the supervisor flow, as the log remembers it. Bounds are the team file's business.

Nothing here names a program or a function: what runs an agent or its tools stays in the team file.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Text = Annotated[str, Meta(min_length=1)]
Key = Annotated[str, Meta(min_length=1, description="a key of the shared state; a.b reaches into it")]
Share = Annotated[float, Meta(ge=0, le=100)]  # above 1 it is a percentage

Expected = Literal["present", "non_blank", "non_empty"] | bool


class Condition(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What must hold for a key of the shared state.

    present: not null; non_blank: text to see; non_empty: a list, mapping or text with something in it; true, false:
    exactly that.
    """

    key: Key
    expected: Expected = field(name="is", default="present")


class EndReview(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the state says that the review approved, and whether the quality must be approved too."""

    approved: Key
    quality: bool = False


class EndRule(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """When the work may end: all of `requires`, and the review, if there was one, approved."""

    requires: tuple[Condition, ...] = ()
    review: EndReview | None = None


class ToolLoop(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The tools an agent calls between its turns: the node that runs them and when the loop ends."""

    node: Text
    max_rounds: int = 0  # the call that reaches it goes back to the supervisor instead; 0 = only max_steps bounds it
    done_when: Key | None = None  # once this key is true, calls are ignored


class SupervisedAgent(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an agent is for, may write and needs first (any one is enough), and who acts instead if that is missing."""

    purpose: str = ""
    member: Annotated[Text | None, Meta(description="id of who plays it; default: the member with its role or id")] = (
        None
    )
    writes: tuple[Text, ...] = ()
    requires_any: tuple[Condition, ...] = ()
    fallback: Text | None = None
    pause_after: bool = False
    ends: bool = False  # the work ends after it when the review approved
    tools: ToolLoop | None = None


class Quality(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Scores of the state and their thresholds. `fallback` pairs axis and agent: the first axis below counts."""

    key: Key
    axes: Annotated[tuple[Text, ...], Meta(description="that must have a score; default: those of fallback")] = ()
    threshold: float = 0.6
    thresholds: dict[str, Share] = {}
    fallback: tuple[tuple[Text, Text], ...] = ()

    @property
    def required_axes(self) -> tuple[str, ...]:
        return self.axes or tuple(dict.fromkeys(axis for axis, _ in self.fallback))


class Coverage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Holds when each entry of the list `items` has an entry in `by`: a list as long, or a mapping by the items' id."""

    items: Key
    by: Key


class Example(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A situation and the decision that would be good in it."""

    situation: Text
    decision: dict[str, Any]


class SupervisorSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who leads, whom it may choose, what they share, and when the work ends."""

    member: Annotated[str, Meta(min_length=1, description="id or role of the one who leads")] = "supervisor"
    max_iterations: int = 3  # reviews that did not approve
    max_steps: int = 100  # turns of any AI
    max_clarification_rounds: int = 3  # questions to people
    turn_timeout_s: float = 1800.0
    tools: ToolLoop = ToolLoop(node="supervisor_tools")
    end: EndRule = EndRule()
    agents: dict[str, SupervisedAgent] = {}
    pause_after: Annotated[tuple[Text, ...], Meta(description="agents whose output people check")] = ()
    quality: Quality | None = None
    inputs: Annotated[tuple[Text, ...], Meta(description="keys of the state that people give")] = ()
    state: Annotated[dict[str, Any], Meta(description="keys of the state and what they start with")] = {}
    complete_when: Annotated[dict[str, Coverage], Meta(description="keys that become true by themselves")] = {}
    prompt: Annotated[str, Meta(description="replaces the built-in template of the supervisor's prompt")] = ""
    few_shot: tuple[Example, ...] = ()

    def pauses_after(self, agent: str) -> bool:
        return agent in self.pause_after or (agent in self.agents and self.agents[agent].pause_after)


SUPERVISOR = "supervisor"  # the node, whatever the id of the member that leads
END = "END"
ROUTE = "route"  # where a decision becomes the next node
RESERVED = (SUPERVISOR, END, ROUTE)

# Written by Moot: agents may read them, and the first two may start with a value of the team file.
ENGINE_KEYS = (
    "iterationCount",
    "maxIterations",
    "clarificationRounds",
    "agentClarificationKeys",
    "threadId",
    "messages",
)
