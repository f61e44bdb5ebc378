"""Agent type `acp`: a member played by an agent that speaks the Agent Client Protocol over stdio."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from moot.agents.acp.acp_link import AcpLink, is_id
from moot.agents.agent_type import AgentType, Seat
from moot.agents.context import NO_PROMPTS
from moot.agents.environment import pick_environment
from moot.agents.live.link import Setup
from moot.agents.live.live_member import LiveMember, LiveProtocol, LiveSeat
from moot.agents.permits import Permissions, Permit
from moot.agents.process import Bounds
from moot.agents.run_environment import RunEnvironment
from moot.agents.starts import list_tools, name_servers
from moot.config.agent_specs import (
    AllowRules,
    EnvAllowList,
    Extra,
    Folder,
    Lifetime,
    McpServer,
    MoreArguments,
    check_servers,
)
from moot.config.problem import Problem
from moot.config.quantities import Command, Text
from moot.config.trust import Start
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Clock

BOUNDED = {"CLAUDE_CODE_MAX_RETRIES": "2"}  # claude-agent-acp tries a wrong key for minutes and says nothing of it


class AcpAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="acp"):
    """Any agent that speaks the Agent Client Protocol over stdio."""

    command: Annotated[Command, Meta(description="the program, as a list")]
    permissions: Annotated[Permissions, Meta(description="what it may do; ask: people say yes or no each time")] = "ask"
    allow: AllowRules = ()
    model: Annotated[Text | None, Meta(description="by its id in the agent; default: its own")] = None
    effort: Annotated[Text | None, Meta(description="by its id in the agent, such as high; default: its own")] = None
    mode: Annotated[Text | None, Meta(description="by its id in the agent, such as plan; default: its own")] = None
    args: MoreArguments = ()
    mcp: Annotated[tuple[McpServer, ...], Meta(description="servers of tools that it is given")] = ()
    lifetime: Lifetime = "session"
    cwd: Folder = None
    env: EnvAllowList = ()

    extra: ClassVar[Extra] = Extra("acp", "acp")

    def starts(self, member: str) -> Iterator[Start]:
        yield Start(member=member, argv=(*self.command, *self.args), folder=self.cwd or "", names=self.env)
        yield from list_tools(member, (), self.mcp)

    def name_model(self) -> tuple[str, str]:
        return "", self.model or ""

    @property
    def may_edit(self) -> bool:
        return self.permissions != "read"

    def make(self, seat: Seat) -> "AcpMember":
        return AcpMember(self, seat.instructions, seat.run_environment, prompts=seat.prompts, clock=seat.clock)

    @classmethod
    def check(cls, entry: Mapping[str, object]) -> Iterator[Problem]:
        yield from check_servers(entry)


def make_protocol(command: tuple[str, ...]) -> LiveProtocol:
    """Return how the agent of this command is talked to."""
    name = Path(command[0]).name
    return LiveProtocol(argv=lambda setup, _: (*command, *setup.args), link=partial(AcpLink, name=name), is_id=is_id)


class AcpMember(LiveMember):
    """Plays turns. `permit` answers permission requests; without it the level does, or people are asked."""

    def __init__(
        self,
        spec: AcpAgent,
        instructions: str,
        run_environment: RunEnvironment,
        permit: Permit | None = None,
        bounds: Bounds | None = None,
        prompts: Mapping[str, str] = NO_PROMPTS,
        clock: Clock | None = None,
    ) -> None:
        names = (*spec.env, *(name for server in spec.mcp for name in (*server.env, *filter(None, [server.key]))))
        setup = Setup(
            permissions=spec.permissions,
            model=spec.model,
            effort=spec.effort,
            mode=spec.mode,
            args=spec.args,
            allow=spec.allow,
            servers=name_servers(spec.mcp),
        )
        seat = LiveSeat(
            name=Path(spec.command[0]).name,
            setup=setup,
            environment=pick_environment(names, fixed=BOUNDED),
            run_environment=run_environment,
            program=spec.command,
            clock=clock or SystemClock(),
            cwd=spec.cwd,
            instructions=instructions,
            prompts=prompts,
            bounds=bounds or Bounds(),
            is_kept=spec.lifetime == "session",
        )
        super().__init__(make_protocol(spec.command), seat, permit)
