"""The settings of the supervisor flow that the log stores. `moot.config` checks their bounds.

None of them names a program or a function: what runs an agent or its tools stays in the team file.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Text = Annotated[str, Meta(min_length=1)]
Key = Annotated[str, Meta(min_length=1, description="a key of the shared state; a.b reaches into it")]
Share = Annotated[float, Meta(ge=0, le=100)]  # above 1 it is a percentage

Expected = Literal["present", "non_blank", "non_empty"] | bool


class Condition(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What must hold for a key of the shared state."""

    key: Key
    expected: Annotated[
        Expected,
        Meta(
            description="present: not null; non_blank: a text with something to see; non_empty: a list, mapping or "
            "text that is not empty; true, false: exactly that"
        ),
    ] = field(name="is", default="present")


class EndReview(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the state says that the review approved, and whether the quality must be approved too."""

    approved: Annotated[Key, Meta(description="if there was a review, this key must be true")]
    quality: Annotated[bool, Meta(description="and so must the quality be")] = False


class EndRule(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """When the work may end: all of `requires`, and the review, if there was one, approved."""

    requires: Annotated[tuple[Condition, ...], Meta(description="all of them must hold")] = ()
    review: EndReview | None = None


class ToolLoop(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The tools an agent calls between its turns: the node that runs them and when the loop ends."""

    node: Annotated[Text, Meta(description="the name of the node that runs them")]
    max_rounds: Annotated[
        int, Meta(description="the call that reaches it goes back to the supervisor; 0 = only max_steps bounds it")
    ] = 0
    done_when: Annotated[Key | None, Meta(description="once this key is true, calls are ignored")] = None


class SupervisedAgent(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an agent is for, may write and needs first (any one is enough), and who acts instead if that is missing."""

    purpose: Annotated[str, Meta(description="told to the supervisor and to the agent")] = ""
    member: Annotated[Text | None, Meta(description="id of who plays it; default: the member with its role or id")] = (
        None
    )
    writes: Annotated[tuple[Text, ...], Meta(description="the keys that it may write; two agents may share one")] = ()
    requires_any: Annotated[
        tuple[Condition, ...], Meta(description="if none of them holds, fallback acts instead, once")
    ] = ()
    fallback: Annotated[Text | None, Meta(description="an agent; default: the supervisor decides again")] = None
    pause_after: Annotated[bool, Meta(description="people check its output")] = False
    ends: Annotated[bool, Meta(description="the work ends after it if the review approved")] = False
    tools: ToolLoop | None = None


class Quality(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Scores of the state and their thresholds. `fallback` pairs axis and agent: the first axis below counts."""

    key: Annotated[Key, Meta(description="of the scores: {scores: {axis: 0-1}, overall}; values above 1 are percents")]
    axes: Annotated[tuple[Text, ...], Meta(description="that must have a score; default: those of fallback")] = ()
    threshold: Annotated[float, Meta(description="a score below it is too low")] = 0.6
    thresholds: Annotated[dict[str, Share], Meta(description="of single axes")] = {}
    fallback: Annotated[
        tuple[tuple[Text, Text], ...],
        Meta(description="axis and agent: the first axis that is too low hints at its agent"),
    ] = ()

    @property
    def required_axes(self) -> tuple[str, ...]:
        return self.axes or tuple(dict.fromkeys(axis for axis, _ in self.fallback))


class Coverage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Holds when each entry of the list `items` has an entry in `by`: a list as long, or a mapping by the items' id."""

    items: Annotated[Key, Meta(description="a list")]
    by: Annotated[Key, Meta(description="a list as long, or a mapping by the ids of the items")]


class Example(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A situation and the decision that would be good in it."""

    situation: Annotated[Text, Meta(description="in words")]
    decision: Annotated[dict[str, Any], Meta(description="the JSON that the supervisor should say")]


class SupervisorSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who leads, whom it may choose, what they share, and when the work ends."""

    member: Annotated[str, Meta(min_length=1, description="id or role of the one who leads")] = "supervisor"
    max_iterations: Annotated[int, Meta(description="reviews that did not approve")] = 3
    max_steps: Annotated[int, Meta(description="turns of any AI")] = 100
    max_clarification_rounds: Annotated[int, Meta(description="questions that agents may put to people")] = 3
    turn_timeout_s: Annotated[float, Meta(description="of one turn")] = 1800.0
    tools: ToolLoop = ToolLoop(node="supervisor_tools")
    end: EndRule = EndRule()
    agents: Annotated[
        dict[str, SupervisedAgent], Meta(description="by the name that the supervisor says in next_agent")
    ] = {}
    pause_after: Annotated[tuple[Text, ...], Meta(description="agents whose output people check")] = ()
    quality: Quality | None = None
    inputs: Annotated[tuple[Text, ...], Meta(description="keys of the state that people give")] = ()
    state: Annotated[dict[str, Any], Meta(description="keys of the state and what they start with")] = {}
    shapes: Annotated[
        dict[str, Any],
        Meta(
            description="keys of the state and an example of each: told to those who write the key, and checked; the "
            "name of an optional field ends in ?; default: what end, quality and requires_any ask for"
        ),
    ] = {}
    order: Annotated[
        tuple[Text, ...], Meta(description="the usual order of the agents, as advice; default: that of agents")
    ] = ()
    complete_when: Annotated[dict[str, Coverage], Meta(description="keys that become true by themselves")] = {}
    prompt: Annotated[str, Meta(description="replaces the built-in template of the supervisor's prompt")] = ""
    few_shot: Annotated[tuple[Example, ...], Meta(description="for the prompt; default: made from the team")] = ()

    @property
    def usual_order(self) -> tuple[str, ...]:
        return self.order or tuple(self.agents)

    def pauses_after(self, agent: str) -> bool:
        return agent in self.pause_after or (agent in self.agents and self.agents[agent].pause_after)


SUPERVISOR = "supervisor"  # the node, whatever the id of the member that leads
END = "END"
ROUTE = "route"  # where a decision is turned into the next node
RESERVED = (SUPERVISOR, END, ROUTE)

# Written by Moot: agents may read them, and the first two may start with a value of the team file.
ENGINE_KEYS = (
    "iterationCount",
    "maxIterations",
    "clarificationRounds",
    "agentClarificationKeys",
    "threadId",
    "creativeId",
    "messages",
)
