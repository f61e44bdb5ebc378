"""The team file: everything a user says about a team, as types (docs/team-file.md).

The core's `Team` is the part that the log remembers; who plays an AI member stays here.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from moot.config.agent_specs import AgentSpec, McpServer
from moot.config.prompts import Prompts
from moot.config.quantities import Count, Delay, FunctionPath, Name, Rank, Text
from moot.config.user_locale import find_locale_language
from moot.config.workspace import WorkspaceSpec
from moot.core import limits
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.flow_settings import DEFAULT_FLOW, SECTIONS
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.registry import FLOWS, FlowName
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings
from moot.core.session.settings import (
    NO_BUDGET,
    Budget,
    RouteThresholds,
    UnderstandingType,
    WorkspaceSettings,
)
from moot.core.session.team import Kind, Team, member
from moot.languages import Language

SandboxMode = Literal["auto", "off", "strict"]


class Understanding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who understands what people say."""

    type: Annotated[UnderstandingType, Meta(description="markers only, built-in rules, a model, or an agent")]
    model: Annotated[Text | None, Meta(description="provider:name, for type llm")] = None
    base_url: Annotated[Text | None, Meta(description="of an OpenAI-compatible server, for type llm")] = None
    member: Annotated[Name | None, Meta(description="the id of an AI member that understands, for type agent")] = None
    agent: Annotated[
        AgentSpec | None, Meta(description="an agent that only understands, for type agent without a member")
    ] = None
    timeout_s: Annotated[
        float,
        Meta(ge=1, le=25, description="how long a model or an agent may take before the rules answer"),
    ] = 20.0
    thresholds: RouteThresholds = RouteThresholds()


class MemberSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A human, or an AI and what plays it."""

    id: Annotated[Name, Meta(description="what the log calls it")]
    kind: Annotated[Kind, Meta(description="a human speaks by a screen or a program, an AI is played by its agent")]
    name: Annotated[Name | None, Meta(description="what markers call it; default: id")] = None
    display_name: Annotated[Name | None, Meta(description="what people see; default: name")] = None
    order: Annotated[
        Rank | None, Meta(description="the human with the lowest is the first one; default: position in the list")
    ] = None
    role: Annotated[
        str,
        Meta(
            description="plan flow: planner, executor, reviewer, aggregator, or a word that tasks ask for; "
            "supervisor flow: the agent that it plays"
        ),
    ] = ""
    concurrency: Annotated[Count, Meta(description="tasks at once, plan flow; 0 = plan.max_parallel")] = 0
    purpose: Annotated[str, Meta(description="what the member is for; planners are told")] = ""
    capabilities: Annotated[
        tuple[Text, ...], Meta(description="what it can do, in a few words each; planners are told")
    ] = ()
    fallback: Annotated[
        tuple[Name, ...], Meta(description="ids of AI members who act instead, in this order, at its usage limit")
    ] = ()
    budget: Annotated[Budget, Meta(description="of this member alone")] = NO_BUDGET
    instructions: Annotated[str, Meta(description="told to its agent")] = ""
    runs_on: Annotated[
        str,
        Meta(
            max_length=limits.NAME_CHARS, description="the pool of `moot worker`s that plays an AI; empty: the server"
        ),
    ] = ""
    tools: Annotated[tuple[FunctionPath, ...], Meta(description="Python functions it may call, supervisor flow")] = ()
    mcp: Annotated[tuple[McpServer, ...], Meta(description="servers whose tools it may call, supervisor flow")] = ()
    agent: Annotated[AgentSpec | None, Meta(description="what plays an AI; humans have none")] = None

    def may_edit(self, *, in_tree: bool) -> bool:
        """Whether the member may change files. Where nobody can tell, it may in a tree, which is recorded."""
        known = self.agent.may_edit if self.agent else None
        return self.kind is Kind.AI and (in_tree if known is None else known)


class TeamFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team of people and AIs, and how they work together."""

    moot: Annotated[Literal[1], Meta(description="version of this format")]
    name: Annotated[Name, Meta(description="of the team")]
    description: Annotated[str, Meta(max_length=500, description="what the team is for, for start screens")] = ""
    examples: Annotated[
        tuple[Text, ...], Meta(max_length=12, description="first messages to offer on start screens")
    ] = ()
    flow: Annotated[FlowName, Meta(description="how they work together")] = DEFAULT_FLOW
    language: Annotated[
        Language, Meta(description="of notices; default: from LC_ALL, LC_MESSAGES or LANG, else en")
    ] = field(default_factory=find_locale_language)
    understanding: Annotated[Understanding | None, Meta(description="default: explicit in chat, else rules")] = None
    members: Annotated[
        tuple[MemberSpec, ...], Meta(max_length=limits.MEMBERS, description="two at least, and one of them human")
    ]
    chat: Annotated[ChatSettings, Meta(description="settings of the chat flow")] = ChatSettings()
    plan: Annotated[PlanSettings, Meta(description="settings of the plan flow")] = PlanSettings()
    supervisor: Annotated[SupervisorSettings, Meta(description="settings of the supervisor flow")] = (
        SupervisorSettings()
    )
    budget: Annotated[Budget, Meta(description="limits of the whole session")] = Budget()
    sandbox: Annotated[
        SandboxMode,
        Meta(
            description="keeps programs from Moot's own files: where that is possible, never, or else refuse to start"
        ),
    ] = "auto"
    workspace: Annotated[
        WorkspaceSpec | None, Meta(description="where members work; default: all in the team file's folder")
    ] = None
    permission_timeout_s: Annotated[
        Delay, Meta(description="without an answer for so long, a permission is not given. 0 = it waits for ever")
    ] = 0.0
    prompts: Annotated[
        Prompts, Meta(description="instead of the built-in ones: a text, or a file (.md, .txt) beside the team file")
    ] = Prompts()

    def team(self) -> Team:
        """What the log and the flows know of this team."""
        workspace = self.workspace.settings() if self.workspace else WorkspaceSettings()
        has_trees = workspace.type == "worktree"
        members = tuple(
            member(
                spec.id,
                spec.kind,
                name=spec.name,
                display_name=spec.display_name,
                order=spec.order,
                role=spec.role,
                concurrency=spec.concurrency,
                budget=spec.budget,
                purpose=spec.purpose,
                capabilities=spec.capabilities,
                fallback=spec.fallback,
                edits=spec.may_edit(in_tree=has_trees),
                position=position,
            )
            for position, spec in enumerate(self.members)
        )
        return Team(
            name=self.name,
            flow=self.flow,
            language=self.language,
            members=members,
            understanding=self.understander().type,
            thresholds=self.understander().thresholds,
            budget=self.budget,
            permission_timeout_s=self.permission_timeout_s,
            workspace=workspace,
            **{section: getattr(self, section) for section in SECTIONS},
        )

    def member(self, member_id: str) -> MemberSpec:
        """Return what the file says about a member. Raises KeyError if there is no such member."""
        for spec in self.members:
            if spec.id == member_id:
                return spec
        raise KeyError(member_id)

    def agents(self) -> dict[str, AgentSpec]:
        """Member id to agent, for every AI."""
        return {spec.id: spec.agent for spec in self.members if spec.agent is not None}

    @property
    def is_scripted(self) -> bool:
        """Whether all AIs play a script: no model is asked."""
        return all(agent.is_scripted for agent in self.agents().values())

    def understander(self) -> Understanding:
        """Return who understands inputs: the team file's choice, else the flow's default."""
        return self.understanding or Understanding(type=FLOWS[self.flow].default_understanding)
