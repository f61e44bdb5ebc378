"""The team file: everything a user says about a team, as types (surfaces: team file).

The core's `Team` is the part that the log remembers; who plays an AI member stays here.
"""

import os
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from moot.config.agent_specs import AgentSpec
from moot.config.prompts import Prompts
from moot.config.quantities import Count, FunctionPath, Name, Rank, Text
from moot.core import limits
from moot.core.settings import NO_BUDGET, Budget, ChatSettings, PlanSettings, RouteThresholds, UnderstandingType
from moot.core.supervisor_settings import SupervisorSettings
from moot.core.team import Flow, Kind, Language, Team, member


def find_locale_language() -> Language:
    """The first of these variables that is set speaks, as in POSIX."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


class Understanding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who understands what people say: markers only, built-in rules, or a model."""

    type: UnderstandingType
    model: Annotated[Text | None, Meta(description="provider:name, for type llm")] = None
    base_url: Annotated[Text | None, Meta(description="of an OpenAI-compatible server, for type llm")] = None
    thresholds: RouteThresholds = RouteThresholds()


class MemberSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A human, or an AI and what plays it."""

    id: Name
    kind: Kind
    name: Annotated[Name | None, Meta(description="default: id")] = None
    display_name: Annotated[Name | None, Meta(description="default: name")] = None
    order: Annotated[Rank | None, Meta(description="default: position")] = None
    role: str = ""
    concurrency: Annotated[Count, Meta(description="tasks at once, plan flow; 0 = plan.max_parallel")] = 0
    budget: Annotated[Budget, Meta(description="of this member alone")] = NO_BUDGET
    instructions: str = ""
    tools: Annotated[tuple[FunctionPath, ...], Meta(description="Python functions it may call, supervisor flow")] = ()
    agent: Annotated[AgentSpec | None, Meta(description="what plays an AI; humans have none")] = None


class TeamFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team of people and AIs, and how they work together."""

    moot: Annotated[Literal[1], Meta(description="version of this format")]
    name: Name
    flow: Flow = Flow.CHAT
    language: Annotated[Language, Meta(description="default: from the locale")] = field(
        default_factory=find_locale_language
    )
    understanding: Annotated[Understanding | None, Meta(description="default: explicit in chat, else rules")] = None
    members: Annotated[tuple[MemberSpec, ...], Meta(max_length=limits.MEMBERS)]
    chat: ChatSettings = ChatSettings()
    plan: PlanSettings = PlanSettings()
    supervisor: SupervisorSettings = SupervisorSettings()
    budget: Budget = Budget()
    prompts: Annotated[Prompts, Meta(description="instead of the built-in ones")] = Prompts()

    def team(self) -> Team:
        """What the log and the flows know of this team."""
        members = tuple(
            member(
                each.id,
                each.kind,
                name=each.name,
                display_name=each.display_name,
                order=each.order,
                role=each.role,
                concurrency=each.concurrency,
                budget=each.budget,
                position=position,
            )
            for position, each in enumerate(self.members)
        )
        return Team(
            name=self.name,
            flow=self.flow,
            language=self.language,
            members=members,
            understanding=self.understander().type,
            thresholds=self.understander().thresholds,
            chat=self.chat,
            plan=self.plan,
            supervisor=self.supervisor,
            budget=self.budget,
        )

    def member(self, member_id: str) -> MemberSpec:
        """What the file says of a member: its agent, its instructions. KeyError for nobody."""
        for each in self.members:
            if each.id == member_id:
                return each
        raise KeyError(member_id)

    def agents(self) -> dict[str, AgentSpec]:
        """Member id to agent, for every AI."""
        return {each.id: each.agent for each in self.members if each.agent is not None}

    def understander(self) -> Understanding:
        """The one asked for, or the flow's default (plan: understanding)."""
        return self.understanding or Understanding(type="explicit" if self.flow is Flow.CHAT else "rules")
