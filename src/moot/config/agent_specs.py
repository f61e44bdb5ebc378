"""What a team file says about the agent of an AI member: the base of every agent type, and what several of them share.

The types themselves are packages of `moot.agents`, or of others; `moot.extensions.AGENTS` lists them by the name that
a team file gives as `type`.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import StructConfig

from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.quantities import Command, EnvName, Text
from moot.config.trust import Start
from moot.core.errors import ConfigError
from moot.core.session.team import Path
from moot.extensions import AGENTS

# Content that a script plays back or a provider takes as it is; whoever receives it checks it.
Json = dict[str, Any]
Folder = Annotated[Text | None, Meta(description="where it starts, from the team file's folder; default: there")]
Lifetime = Annotated[
    Literal["session", "turn"],
    Meta(description="session: its program stays between turns; turn: one program for each turn"),
]
AllowRules = Annotated[
    tuple[Text, ...],
    Meta(description="what it may do without asking: names of tools, `Bash(git diff:*)`"),
]
MoreArguments = Annotated[tuple[Text, ...], Meta(description="further arguments of its command line")]
EnvAllowList = Annotated[tuple[EnvName, ...], Meta(description="names of environment variables it may see")]


class Extra(Struct, frozen=True):
    """An optional dependency of an agent type: `pip install 'moot[NAME]'` brings the module."""

    name: str
    module: str


class AgentSpec:
    """The settings of one agent, a mapping in the team file whose key `type` is the tag of the struct.

    An agent type is a frozen struct that inherits from `moot.agents.agent_type.AgentType`, which adds how a member is
    made of it. Defining one without `starts` raises TypeError: a type that forgets it could start programs that nobody
    was asked about.
    """

    __slots__ = ()
    __struct_config__: ClassVar[StructConfig]  # every agent type is a struct

    is_scripted: ClassVar[bool] = False  # it plays what the file says: no key, no program, no network
    extra: ClassVar[Extra | None] = None  # what must be installed besides
    traces_tools: ClassVar[bool] = False  # it makes spans of its tools itself

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_methods(cls, AgentSpec, "starts")

    @abstractmethod
    def starts(self, member: str) -> Iterable[Start]:
        """Everything that playing this member would run on this machine or send a key to, for the question of trust."""
        raise NotImplementedError

    def name_model(self) -> tuple[str, str]:
        """The provider, by its name in OpenTelemetry's GenAI conventions, and the model, as far as known."""
        return "", ""

    def name_tools(self) -> tuple[str, ...]:
        """The tools that it is given: functions, and servers by host or program, whose arguments may be secret."""
        servers: tuple[McpServer, ...] = getattr(self, "mcp", ())
        return (*getattr(self, "tools", ()), *(server.name for server in servers))

    @property
    def may_edit(self) -> bool | None:
        """Whether the member may change files; None if nobody can tell, as for foreign code."""
        return None

    @classmethod
    def check(cls, entry: Mapping[str, object]) -> Iterator[Problem]:  # noqa: ARG003 - for those who have rules
        """Report what the types of the fields cannot say. The data may be wrong in other ways too."""
        yield from ()

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        """Fields of text that take one of a few values which are known only at run time."""
        return {}


def check_methods(cls: type, base: type, *names: str) -> None:
    """Raise TypeError if a struct that inherits from `base` does not define these methods."""
    missing = [name for name in names if getattr(cls, name) is getattr(base, name)]
    if missing and issubclass(cls, Struct):
        raise TypeError(f"agent type {cls.__name__} must define {', '.join(missing)}")


def find_agent_type(name: str) -> type[AgentSpec] | None:
    """The agent type that team files call `name`; None if there is none. Raises ConfigError for a broken package."""
    entry = AGENTS.find(name)
    if entry is None:
        return None
    if not (isinstance(entry, type) and issubclass(entry, AgentSpec) and issubclass(entry, Struct)):
        raise ConfigError(f"the moot.agents entry {name!r} is {entry!r}; it must be a struct that is an AgentType")
    return entry


def list_agent_types() -> dict[str, type[AgentSpec]]:
    """Every agent type by its name."""
    return {name: agent_type for name in AGENTS.names() if (agent_type := find_agent_type(name))}


def decode_agent(expected: type, value: Any) -> AgentSpec:
    """Decode the `agent` of a member; the hook of `msgspec.convert` for checked data of a team file."""
    kind = find_agent_type(value["type"]) if expected is AgentSpec else None
    if kind is None:
        raise NotImplementedError(f"cannot decode {value!r} as {expected}")
    return msgspec.convert(value, kind)


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tools over the Model Context Protocol: a program (`command`, `env`) or an address (`url`, `key`)."""

    command: Annotated[Command | None, Meta(description="a program, as a list")] = None
    env: EnvAllowList = ()
    url: Annotated[Text | None, Meta(description="streamable HTTP")] = None
    key: Annotated[Text | None, Meta(description="name of the variable that holds the key for the address")] = None

    @property
    def name(self) -> str:
        """Its host or program."""
        return urlsplit(self.url).hostname or "" if self.url else PurePath((self.command or ("",))[0]).name


def check_servers(holder: Mapping[str, object]) -> Iterator[Problem]:
    """The rules for the MCP servers in the list `mcp` of a member or an agent."""
    servers = holder.get("mcp")
    for position, server in enumerate(servers if isinstance(servers, list) else []):
        if isinstance(server, dict):
            yield from _check_server(("mcp", position), server)


def _check_server(path: Path, server: dict[object, object]) -> Iterator[Problem]:
    is_program, is_address = server.get("command") is not None, server.get("url") is not None
    if is_program == is_address:
        yield Problem(path=path, text=Phrase("team.agent.mcp"))
    elif is_address and server.get("env"):
        yield Problem(path=(*path, "env"), text=Phrase("team.agent.mcp_env"))
    elif is_program and server.get("key"):
        yield Problem(path=(*path, "key"), text=Phrase("team.agent.mcp_key"))
